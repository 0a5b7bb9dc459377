// Results that come from other machines: what is accepted, and what is not.

import Plans
import Testing

@testable import Caching

struct SharedResultTests {
  static let name = CacheDigest(of: "name")

  static func result(_ files: [FileEntry]) -> StoredResult {
    var result = StoredResult()
    result.step = "make"
    result.files = files
    return result
  }

  @Test func `a result is read as it was written, as the field of a message`() {
    var result = StoredFormTests.result
    result.log = CacheDigest(of: "log")
    let bytes = SharedResult(result, sizes: [7, 3]).encoded(as: Self.name)
    let read = SharedResult(decoding: bytes, as: Self.name)
    #expect(read?.result == result)
    #expect(read?.sizes == [7, 3])
    // Field 5, with a length of two bytes.
    #expect(bytes[0] == 0x2a)
    #expect(Int(bytes[1] & 0x7f) | Int(bytes[2]) << 7 == bytes.count - 3)
  }

  @Test func `one of another name, and every change or cut, is refused`() {
    let bytes = SharedResult(StoredFormTests.result, sizes: [7, 3]).encoded(as: Self.name)
    #expect(SharedResult(decoding: bytes, as: CacheDigest(of: "other")) == nil)
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 0x41
      #expect(SharedResult(decoding: damaged, as: Self.name) == nil, "byte \(index)")
      #expect(
        SharedResult(decoding: Array(bytes[..<index]), as: Self.name) == nil, "the first \(index)")
    }
    #expect(SharedResult(decoding: bytes + [0], as: Self.name) == nil)
  }

  @Test(arguments: [[7], [7, 3, 1], [], [-1, 3], [.max, .max], [10 << 30, 1]])
  func `sizes that cannot be are refused`(_ sizes: [Int]) {
    let bytes = SharedResult(StoredFormTests.result, sizes: sizes).encoded(as: Self.name)
    #expect(SharedResult(decoding: bytes, as: Self.name) == nil)
  }

  /// The log of a step may be what one of its files is.
  @Test(arguments: [
    (log: "log", sizes: [20 << 20, 3, 16 << 20], isAccepted: true),
    (log: "log", sizes: [1, 3, 16 << 20 + 1], isAccepted: false),
    (log: "a", sizes: [16 << 20, 20 << 20], isAccepted: true),
    (log: "a", sizes: [16 << 20 + 1, 3], isAccepted: false),
    (log: "b", sizes: [3, 16 << 20 + 1], isAccepted: false),
    (log: nil, sizes: [20 << 20, 20 << 20], isAccepted: true),
  ])
  func `a log that is longer than those that are kept is refused`(
    log: String?, sizes: [Int], isAccepted: Bool
  ) {
    var result = Self.result(
      ["a", "b"].map { name in
        var entry = file(name)
        entry.digest = CacheDigest(of: name)
        return entry
      })
    result.log = log.map { CacheDigest(of: $0) }
    let bytes = SharedResult(result, sizes: sizes).encoded(as: Self.name)
    #expect((SharedResult(decoding: bytes, as: Self.name) != nil) == isAccepted)
  }

  @Test func `only what the step declares is accepted`() {
    let accepted: [([String], [FileEntry])] = [
      (["out"], [file("out")]),
      (["out"], [file("out", .directory), file("out/a"), file("out/b", .link)]),
      (["build/**"], [file("build/a/b")]),
      (["../lib/x"], [file("../lib/x")]),
      (["*.o"], [file("a.o"), file("b.o")]),
      (["."], [file(".", .directory), file("a")]),
      (["/w/out"], [file("/w/out", .directory), file("/w/out/a")]),
      ([], []),
    ]
    for (outputs, files) in accepted {
      #expect(Self.result(files).isOf(outputs: outputs), "\(outputs) \(files.map(\.path))")
    }
  }

  @Test func `everything else is refused`() {
    var listed = file("out", .directory)
    listed.isOnlyListed = true
    let refused: [([String], [FileEntry])] = [
      (["out"], [file("other")]), (["out"], [file("outer")]), ([], [file("out")]),
      (["out"], [file("out/../../x")]), (["out"], [file("../out")]), (["out"], [file("/out")]),
      (["out"], [file("out//a")]), (["out"], [file("out/./a")]), (["out"], [file("out/")]),
      (["**"], [file("../x")]), (["**"], [file("a/../../x")]), (["../*"], [file("../../x")]),
      (["out"], [file("out"), file("out")]), (["*.o"], [file("b.o"), file("a.o")]),
      (["out", "x"], [file("out")]), (["out"], []),
      (["out"], [file("out"), file("out/a")]),
      (["out"], [file("out", .directory), file("out/l", .link), file("out/l/passwd")]),
      (["out"], [file("out", mode: 0o4755)]), (["out"], [file("out", .directory, mode: 0o2755)]),
      (["out"], [file("out", .special)]), (["out"], [file("out", .absent)]), (["out"], [listed]),
      (["out"], [file("out\0")]), (["/w/out"], [file("/w/out/../../etc/passwd")]),
    ]
    for (outputs, files) in refused {
      #expect(!Self.result(files).isOf(outputs: outputs), "\(outputs) \(files.map(\.path))")
    }
  }

  @Test func `outputs of another type, or that are not declared, are refused`() {
    let size = [OutputDeclaration(name: "size", type: .int)]
    #expect(PublishedOutput(name: "size", json: "7").isOf(size))
    #expect(PublishedOutput(name: "other", json: "[]").isOf(nil))
    for (name, json) in [("size", "\"7\""), ("size", "7.5"), ("size", "{"), ("other", "7")] {
      #expect(!PublishedOutput(name: name, json: json).isOf(size), "\(name)=\(json)")
    }
    #expect(!PublishedOutput(name: "a b", json: "7").isOf(nil))
  }

  @Test func `a server is left alone after three failures in a row`() {
    var use = SharedUse(
      SharedCache(url: "http://a:b@c/", secret: nil, isWritten: true, program: ""))
    #expect(use.hear(.failed("is down")) == "shared cache 'http://c/': is down")
    #expect(use.hear(.failed("is still down")) == nil)
    #expect(use.hear(.absent) == nil)
    #expect(use.hear(.failed("is down")) == nil)
    #expect(use.hear(.failed("is down")) == nil)
    #expect(use.isRead && use.isWritten)
    #expect(use.hear(.failed("is down")) == nil)
    #expect(!use.isRead && !use.isWritten)
  }

  @Test func `a server that is slow to say that it has nothing is left alone`() {
    var use = SharedUse(SharedCache(url: "http://c", secret: nil, isWritten: true, program: ""))
    let second: Int64 = 1_000_000_000
    for _ in 0..<1000 { #expect(use.hear(.absent, after: second / 4) == nil) }
    for _ in 0..<3 { #expect(use.hear(.absent, after: 10 * second) == nil) }
    #expect(use.hear(.done, after: 5 * second) == nil)
    #expect(use.isRead)
    #expect(use.hear(.absent, after: 10 * second) == "shared cache 'http://c': is too slow")
    #expect(!use.isRead && use.isWritten)
    #expect(use.hear(.absent, after: 10 * second) == nil)
  }

  @Test func `a server that takes nothing is read all the same`() {
    var use = SharedUse(
      SharedCache(url: "http://c", secret: nil, isWritten: true, program: ""))
    #expect(use.hear(.refused("takes nothing")) == "shared cache 'http://c': takes nothing")
    #expect(use.hear(.refused("takes nothing")) == nil)
    #expect(use.isRead && !use.isWritten)
  }
}

private func file(
  _ path: String, _ kind: FileEntry.Kind = .file, mode: Int = 0o644
) -> FileEntry {
  var entry = FileEntry(path, kind)
  entry.stamp.mode = mode
  if kind == .link { entry.target = "x" }
  return entry
}
