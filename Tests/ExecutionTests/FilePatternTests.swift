// Files by pattern, and the hash over them.

import Foundation
import Plans
import RunFiles
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) final class FilePatternTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "oprun-patterns-\(UUID().uuidString)").path

  init() throws {
    for file in [
      "a.txt", "b.txt", "c.md", ".hidden.txt", "sub/a.txt", "sub/deep/x.txt", "sub/deep/y.md",
      ".git/z.txt", "odd [1].txt",
    ] {
      let path = "\(folder)/\(file)"
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try file.write(toFile: path, atomically: false, encoding: .utf8)
    }
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/link", withDestinationPath: "sub")
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/sub/up", withDestinationPath: "..")
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/one.txt", withDestinationPath: "a.txt")
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  @Test(arguments: [
    ("*.txt", "a.txt b.txt odd [1].txt one.txt"),
    ("?.txt", "a.txt b.txt"),
    ("[ac].*", "a.txt c.md"),
    (".*.txt", ".hidden.txt"),
    ("*/a.txt", "sub/a.txt"),
    ("**/*.txt", "a.txt b.txt odd [1].txt one.txt sub/a.txt sub/deep/x.txt"),
    ("sub/**", "sub/a.txt sub/deep/x.txt sub/deep/y.md"),
    ("**/deep/*", "sub/deep/x.txt sub/deep/y.md"),
    ("**/**/**/y.md", "sub/deep/y.md"),
    ("./a.txt", "a.txt"),
    ("link/a.txt", "link/a.txt"),
    ("sub", ""), ("nothing/*", ""), ("nothing", ""), ("", ""), ("a.txt/x", ""),
    ("odd \\[1\\].txt", "odd [1].txt"), ("odd [[]1].txt", "odd [1].txt"),
  ])
  func `a pattern finds these files`(pattern: String, expected: String) throws {
    try "x".write(toFile: "\(folder)/sub/.hidden", atomically: false, encoding: .utf8)
    let found = files(matching: ["\(folder)/\(pattern)"]).map(\.lossy)
    #expect(found.map { String($0.dropFirst(folder.count + 1)) }.joined(separator: " ") == expected)
  }

  @Test func `files of several patterns come once, in order of their bytes`() {
    let found = files(matching: ["\(folder)/b*", "\(folder)/*.txt", "\(folder)/a*"]).map(\.lossy)
    #expect(
      found.map { String($0.dropFirst(folder.count + 1)) }
        == ["a.txt", "b.txt", "odd [1].txt", "one.txt"])
  }

  @Test func `the hash follows names and contents, and nothing else`() throws {
    let first = try FileHashes.hash(of: ["\(folder)/*.txt"])
    #expect(first.count == 64)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: "\(folder)/a.txt")
    #expect(try FileHashes.hash(of: ["\(folder)/*.txt"]) == first)
    #expect(try FileHashes.hash(of: ["\(folder)/?.txt", "\(folder)/o*.txt"]) == first)
    try "changed".write(toFile: "\(folder)/b.txt", atomically: false, encoding: .utf8)
    #expect(try FileHashes.hash(of: ["\(folder)/*.txt"]) != first)
    #expect(try FileHashes.hash(of: ["\(folder)/nothing"]) == "")
  }

  @Test func `content does not pass for a name`() throws {
    try "xy".write(toFile: "\(folder)/p1", atomically: false, encoding: .utf8)
    let one = try FileHashes.hash(of: ["\(folder)/p1"])
    try "x".write(toFile: "\(folder)/p1", atomically: false, encoding: .utf8)
    try "y".write(toFile: "\(folder)/p2", atomically: false, encoding: .utf8)
    #expect(try FileHashes.hash(of: ["\(folder)/p1", "\(folder)/p2"]) != one)
  }
  @Test func `names are told apart by their bytes, and need not be text`() throws {
    let names: [[UInt8]] = [[0xc3, 0xa9], [0x65, 0xcc, 0x81], [0x62, 0xff]]
    for name in names {
      let path = Array("\(folder)/n-".utf8CString.dropLast()) + name.map { CChar(bitPattern: $0) }
      close(open(path + [0], O_CREAT | O_WRONLY, 0o600))
    }
    let found = files(matching: ["\(folder)/n-*"])
    let start = "\(folder)/n-".utf8.count
    #expect(
      found.map { $0.characters.dropFirst(start).map { UInt8(bitPattern: $0) } }
        == [names[2], names[1], names[0]])
    #expect(found.map { $0.text == nil } == [true, false, false])
    let both = try FileHashes.hash(of: ["\(folder)/n-*"])
    unlink("\(folder)/n-\u{e9}")
    #expect(try FileHashes.hash(of: ["\(folder)/n-*"]) != both)
  }
}
