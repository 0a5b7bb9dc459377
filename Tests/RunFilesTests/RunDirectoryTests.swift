// What a command may put into the directory of its run, and what may happen to the directory:
// nothing of it is followed, waited for, or written to.

import Diagnostics
import Foundation
import Testing

@testable import RunFiles

struct RunDirectoryTests {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "run-\(UUID().uuidString)")
  private let directory: RunDirectory

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    directory = RunDirectory(
      owning: open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: folder.path)
  }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: folder.appending(path: name))
  }

  private func log(_ name: String, _ text: String) throws -> LogFile {
    let log = LogFile(owning: try directory.make(name))
    #expect(pwrite(log.descriptor, text, text.utf8.count, 0) == text.utf8.count)
    return log
  }

  private func text(of log: LogFile) -> String {
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = bytes.withUnsafeMutableBytes { log.read(at: 0, into: $0) }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  private func plant(_ kind: String, at name: String) throws {
    switch kind {
    case "a file": try write("planted", to: name)
    case "a FIFO": #expect(mkfifo(path(name), 0o600) == 0)
    case "a link": #expect(symlink(path("precious"), path(name)) == 0)
    case "a link to nothing": #expect(symlink("nothing", path(name)) == 0)
    default: #expect(mkdir(path(name), 0o700) == 0)
    }
  }

  static let kinds = ["a file", "a FIFO", "a link", "a link to nothing", "a folder"]

  @Test(arguments: kinds)
  func `what was planted in place of a file that is made is removed`(kind: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try write("precious", to: "precious")
    try plant(kind, at: "a.1.log")
    #expect(text(of: try log("a.1.log", "true")) == "true")
    #expect(try String(contentsOf: folder.appending(path: "a.1.log"), encoding: .utf8) == "true")
    #expect(
      try String(contentsOf: folder.appending(path: "precious"), encoding: .utf8) == "precious")
  }

  /// The same directory, as another process opens it.
  private var other: RunDirectory {
    RunDirectory(
      owning: open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: folder.path)
  }

  /// A process that another test has just started has the locks of files that were closed meanwhile until it runs its
  /// program.
  private func waitUntilNobodyHasIt() { while other.isTaken { usleep(1000) } }

  @Test func `is in use for other machines, which do not see the lock of a directory`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(!other.isInUse)
    directory.lock()
    let file = open(path("@lock"), O_RDWR | O_CLOEXEC)
    #expect(ByteLock.isHeld(0, of: file))
    directory.giveBackLocks()
    #expect(flock(directory.descriptor, LOCK_UN) == 0)
    waitUntilNobodyHasIt()
    // So it looks from a machine that has not locked the directory.
    #expect(ByteLock.take(0, of: file) == .taken)
    #expect(other.isInUse)
    #expect(!other.takeClaim())
    close(file)
    waitUntilNobodyHasIt()
  }

  @Test func `is marked although somebody looks at it just then`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let look = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    #expect(flock(look, LOCK_SH | LOCK_NB) == 0)
    directory.lock()
    close(look)
    #expect(other.isInUse)
    #expect(!other.takeClaim())
  }

  @Test func `is claimed by one, without being in use`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(directory.takeClaim())
    #expect(directory.takeClaim())
    #expect(!other.isInUse)
    #expect(other.isTaken)
    #expect(!other.takeClaim())
    directory.giveBackLocks()
    waitUntilNobodyHasIt()
    #expect(other.takeClaim())
  }

  @Test func `a folder with something in it stays, and is told of`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try plant("a folder", at: "a.1.log")
    try write("theirs", to: "a.1.log/file")
    #expect(
      throws: SystemError("cannot write '\(path("a.1.log"))'", errno: ENOTEMPTY)
    ) { _ = try directory.make("a.1.log") }
  }

  @Test(arguments: kinds)
  func `a log that was replaced is not read again`(kind: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try write("precious", to: "precious")
    let written = try log("a.1.log", "true")
    let identity = try #require(written.identity)
    #expect(text(of: try directory.log("a.1.log", writtenTo: identity)) == "true")
    #expect(directory.holds(written, as: "a.1.log"))
    #expect(rename(path("a.1.log"), path("elsewhere")) == 0)
    try plant(kind, at: "a.1.log")
    #expect(throws: LogReadFailure.replaced) {
      _ = try directory.log("a.1.log", writtenTo: identity)
    }
    #expect(!directory.holds(written, as: "a.1.log"))
    #expect(text(of: written) == "true", "who has it open reads on")
  }

  @Test func `a log that was removed is told of`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let identity = try #require(try log("a.1.log", "true").identity)
    #expect(unlink(path("a.1.log")) == 0)
    #expect(throws: LogReadFailure.replaced) {
      _ = try directory.log("a.1.log", writtenTo: identity)
    }
  }

  @Test func `files belong to their owner alone, also with a mask that takes everything`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let masked = RunDirectory(
      owning: open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: folder.path,
      umask: 0o777)
    #expect(masked.mendsModes && !directory.mendsModes)
    let file = try masked.make("a")
    defer { close(file) }
    fchmod(file, 0)
    let other = try masked.make("b")
    defer { close(other) }
    var status = stat()
    #expect(stat(path("b"), &status) == 0)
    #expect(status.st_mode & 0o7777 == 0o600)
  }

  @Test func `files are made where the folder is, whatever its path leads to`() throws {
    let moved = folder.path + ".moved"
    #expect(directory.isInPlace)
    #expect(rename(folder.path, moved) == 0)
    defer {
      for path in [moved, folder.path] { try? FileManager.default.removeItem(atPath: path) }
    }
    #expect(!directory.isInPlace)
    #expect(mkdir(folder.path, 0o700) == 0)
    #expect(!directory.isInPlace, "another folder in its place")
    _ = try log("a.1.log", "true")
    #expect(FileManager.default.fileExists(atPath: moved + "/a.1.log"))
    #expect(rmdir(folder.path) == 0)
    #expect(symlink(moved, folder.path) == 0)
    #expect(!directory.isInPlace, "a link could lead elsewhere the next moment")
    #expect(directory.change?.isRemoved == false)
  }

  @Test func `a folder that was removed takes no file, and says so`() throws {
    try FileManager.default.removeItem(at: folder)
    #expect(!directory.isInPlace)
    #expect(directory.change?.isRemoved == true)
    #expect(throws: SystemError("cannot write '\(path("a.1.log"))'", errno: ENOENT)) {
      _ = try directory.make("a.1.log")
    }
  }
}
