// A file of outputs is found whenever it was created, and a missing one costs no lookup.

import Expressions
import Foundation
import Plans
import RunFiles
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct OutputFilesTests {
  private let folder = TemporaryRun()

  private func make(_ name: String, _ text: String = "a=1\n") throws -> String {
    try Data(text.utf8).write(to: URL(filePath: folder.path(of: name)))
    return name
  }

  /// Runs the body in a directory that has been unchanged for long enough to be trusted.
  private func inFolder(_ body: (inout OutputFiles) throws -> Void) throws {
    var past = [timespec(tv_sec: 1_000_000, tv_nsec: 5), timespec(tv_sec: 1_000_000, tv_nsec: 5)]
    #expect(utimensat(AT_FDCWD, folder.directory.path, &past, 0) == 0)
    var files = OutputFiles(in: folder.directory)
    // The first check knows nothing yet.
    _ = try files.take(of: OperationID(99), from: "nowhere", declared: nil)
    try body(&files)
  }

  @Test func `one that is made while its command runs is found, and taken away`() throws {
    try inFolder { files in
      files.attemptStarted(OperationID(1), name: "none")
      let name = try make("one.1.outputs")
      let outputs = try files.take(of: OperationID(1), from: name, declared: nil)
      #expect(outputs?.names == ["a"])
      #expect(!FileManager.default.fileExists(atPath: folder.path(of: name)))
    }
  }

  @Test func `one is found too if the end of another command was told in between`() throws {
    try inFolder { files in
      for operation in 1...3 { files.attemptStarted(OperationID(operation), name: "none") }
      let name = try make("two.1.outputs")
      #expect(try files.take(of: OperationID(1), from: "nowhere", declared: nil) == nil)
      #expect(try files.take(of: OperationID(3), from: "nowhere", declared: nil) == nil)
      #expect(try files.take(of: OperationID(2), from: name, declared: nil)?.count == 1)
    }
  }

  @Test func `while nothing is made in the folder no file is looked for`() throws {
    try inFolder { files in
      for number in 0..<100 {
        files.attemptStarted(OperationID(number), name: "none")
        var wasAsked = false
        let name = { () -> String in
          wasAsked = true
          return "nowhere"
        }
        _ = try files.take(of: OperationID(number), from: name(), declared: nil)
        #expect(!wasAsked)
      }
    }
  }

  @Test func `files that are made as fast as can be are all found`() throws {
    try inFolder { files in
      for number in 0..<3000 {
        files.attemptStarted(OperationID(number), name: "none")
        guard number % 3 == 0 else {
          _ = try files.take(of: OperationID(number), from: "nowhere", declared: nil)
          continue
        }
        let name = try make("s\(number).1.outputs", "n=\(number)")
        let outputs = try files.take(of: OperationID(number), from: name, declared: nil)
        #expect(outputs?.count == 1, "\(number)")
      }
    }
  }

  @Test(arguments: [
    ("a FIFO", "OPRUN_OUTPUT is a FIFO, wanted a regular file"),
    ("a link", "OPRUN_OUTPUT is a link, wanted a regular file"),
    ("a folder", "OPRUN_OUTPUT is a directory, wanted a regular file"),
    ("a second name", "OPRUN_OUTPUT has 2 names (hard links), wanted one"),
  ])
  func `what a command puts in place of its file is refused`(kind: String, message: String) throws {
    try inFolder { files in
      files.attemptStarted(OperationID(1), name: "none")
      let path = folder.path(of: "a.1.outputs")
      let precious = folder.path(of: try make("precious"))
      switch kind {
      case "a FIFO": #expect(mkfifo(path, 0o600) == 0)
      case "a link": #expect(symlink(precious, path) == 0)
      case "a folder": #expect(mkdir(path, 0o700) == 0)
      default: #expect(link(precious, path) == 0)
      }
      #expect(throws: OutputFailure(message: message)) {
        _ = try files.take(of: OperationID(1), from: "a.1.outputs", declared: nil)
      }
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func `a file of another user is refused`() throws {
    try inFolder { files in
      files.attemptStarted(OperationID(1), name: "none")
      let name = try make("a.1.outputs")
      #expect(chown(folder.path(of: name), 65534, 65534) == 0)
      let message = "OPRUN_OUTPUT belongs to user 65534, wanted a file of root"
      #expect(throws: OutputFailure(message: message)) {
        _ = try files.take(of: OperationID(1), from: "a.1.outputs", declared: nil)
      }
    }
  }

  @Test func `a folder that was removed is noticed at the next look`() throws {
    try inFolder { files in
      let wasGone = files.isFolderGone
      #expect(!wasGone)
      files.attemptStarted(OperationID(1), name: "none")
      try FileManager.default.removeItem(atPath: folder.directory.path)
      #expect(try files.take(of: OperationID(1), from: "a.1.outputs", declared: nil) == nil)
      let isGone = files.isFolderGone
      #expect(isGone)
    }
  }

  @Test func `with a mask that takes everything a command finds a file it can write to`() throws {
    let masked = RunDirectory(
      owning: open(folder.directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
      path: folder.directory.path, umask: 0o777)
    var files = OutputFiles(in: masked)
    files.attemptStarted(OperationID(1), name: "a.1.outputs")
    var status = stat()
    #expect(stat(folder.path(of: "a.1.outputs"), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(try files.take(of: OperationID(1), from: "a.1.outputs", declared: nil) == nil)
  }
}
