// A file of outputs is found whenever it was made, and one that is not there costs no look for it.

import Foundation
import Pipelines
import Scheduling
import Testing

@testable import Execution

struct OutputFilesTests {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "outputs-\(UUID().uuidString)")

  private func make(_ name: String, _ text: String = "a=1\n") throws -> String {
    let path = folder.appending(path: name).path
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  /// Runs the body in a folder that has not changed for long enough to be trusted.
  private func inFolder(_ body: (inout OutputFiles) throws -> Void) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var past = [timespec(tv_sec: 1_000_000, tv_nsec: 5), timespec(tv_sec: 1_000_000, tv_nsec: 5)]
    #expect(utimensat(AT_FDCWD, folder.path, &past, 0) == 0)
    var files = OutputFiles(folder: folder.path, isKeptOpen: true)
    // The first look knows nothing yet.
    _ = try files.take(of: OperationID(99), from: "nowhere", declared: nil)
    try body(&files)
  }

  @Test func `one that is made while its command runs is found, and taken away`() throws {
    try inFolder { files in
      files.attemptStarted(OperationID(1))
      let path = try make("one.1.outputs")
      let outputs = try files.take(of: OperationID(1), from: path, declared: nil)
      #expect(outputs?.names == ["a"])
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test func `one is found too if the end of another command was told in between`() throws {
    try inFolder { files in
      for operation in 1...3 { files.attemptStarted(OperationID(operation)) }
      let path = try make("two.1.outputs")
      #expect(try files.take(of: OperationID(1), from: "nowhere", declared: nil) == nil)
      #expect(try files.take(of: OperationID(3), from: "nowhere", declared: nil) == nil)
      #expect(try files.take(of: OperationID(2), from: path, declared: nil)?.count == 1)
    }
  }

  @Test func `while nothing is made in the folder no file is looked for`() throws {
    try inFolder { files in
      for number in 0..<100 {
        files.attemptStarted(OperationID(number))
        var wasAsked = false
        let path = { () -> String in
          wasAsked = true
          return "nowhere"
        }
        _ = try files.take(of: OperationID(number), from: path(), declared: nil)
        #expect(!wasAsked)
      }
    }
  }

  @Test func `files that are made as fast as can be are all found`() throws {
    try inFolder { files in
      for number in 0..<3000 {
        files.attemptStarted(OperationID(number))
        guard number % 3 == 0 else {
          _ = try files.take(of: OperationID(number), from: "nowhere", declared: nil)
          continue
        }
        let path = try make("s\(number).1.outputs", "n=\(number)")
        let outputs = try files.take(of: OperationID(number), from: path, declared: nil)
        #expect(outputs?.count == 1, "\(number)")
      }
    }
  }

  @Test func `without the folder every file is looked for`() throws {
    var files = OutputFiles(folder: "/nowhere", isKeptOpen: true)
    files.attemptStarted(OperationID(1))
    #expect(throws: OutputFault.self) {
      try files.take(of: OperationID(1), from: "/dev/null", declared: nil)
    }
  }
}
