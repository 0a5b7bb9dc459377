// The directory of runs must be accessible only to us, or nothing runs: the owner of each
// directory, its permissions, and what may be in its place.

import Foundation
import RunFiles
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct StateDirectoryTests {
  private let place = HomeFolder()
  private let anotherPlace = "choose another with --state-dir or OPRUN_STATE_DIR"
  private var me: String { userName(geteuid()) }

  /// A directory of the test, and in it whatever is in place of the state directory.
  private final class HomeFolder {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "state-\(UUID().uuidString)")

    init() { mkdir(folder.path, 0o700) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var state: String { folder.appending(path: ".oprun").path }

    func mode(of name: String) -> mode_t {
      var status = stat()
      return lstat("\(state)/\(name)", &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    func has(_ name: String) -> Bool { mode(of: name) != 0 }
  }

  private func makeRun() throws(StateFailure) -> (id: String, directory: RunDirectory) {
    try StateDirectory(path: place.state).makeRun(callersMask: 0o022)
  }

  /// The words of the fault; nil if a run could be made.
  private func fault() -> StateFailure? {
    do throws(StateFailure) {
      _ = try makeRun()
      return nil
    } catch {
      return error
    }
  }

  @Test func `folders are made for their owner alone, and kept out of version control`() throws {
    let run = try makeRun()
    #expect(run.directory.path == "\(place.state)/runs/\(run.id)")
    for name in [".", "runs", "runs/\(run.id)"] { #expect(place.mode(of: name) == 0o700) }
    #expect(place.mode(of: ".gitignore") == 0o600)
    #expect(try String(contentsOfFile: "\(place.state)/.gitignore", encoding: .utf8) == "*\n")
    #expect(try makeRun().id != run.id)
  }

  @Test func `a folder that oprun did not make gets no .gitignore`() throws {
    #expect(mkdir(place.state, 0o755) == 0)
    let run = try makeRun()
    #expect(place.has("runs/\(run.id)") && !place.has(".gitignore"))
    #expect(place.mode(of: ".") == 0o755, "and stays as it was")
  }

  @Test(arguments: [0o775, 0o757, 0o2770])
  func `a folder that others can write to is refused, and how to mend it said`(mode: Int) {
    #expect(mkdir(place.state, 0o700) == 0)
    #expect(chmod(place.state, mode_t(mode)) == 0)
    let digits = String(mode, radix: 8)
    #expect(
      fault()
        == StateFailure(
          "others can write to the state directory '\(place.state)' (mode 0\(digits)), "
            + "wanted only \(me)",
          help: "run chmod go-w '\(place.state)', or \(anotherPlace)"))
    #expect(!place.has("runs"))
  }

  @Test func `so is the folder of all runs`() throws {
    _ = try makeRun()
    #expect(chmod("\(place.state)/runs", 0o777) == 0)
    #expect(
      fault()?.message
        == "others can write to the state directory '\(place.state)/runs' (mode 0777), "
        + "wanted only \(me)")
  }

  @Test func `a file system that keeps no modes is named as such`() {
    #expect(
      StateFailure.openToOthers("state", mode: 0o40777, isNew: true)
        == StateFailure(
          "others can write to the state directory 'state' (mode 0777), and its file system "
            + "does not store modes", help: anotherPlace))
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func `a folder of another user is refused, also by root`() {
    #expect(mkdir(place.state, 0o700) == 0 && chown(place.state, 1234, 1234) == 0)
    #expect(
      fault()
        == StateFailure(
          "the state directory '\(place.state)' belongs to user 1234, wanted root, the user "
            + "that runs oprun", help: "run oprun as user 1234, or \(anotherPlace)",
          helpWithRuns: "run oprun as user 1234"))
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func `so is a folder of another user within ours`() {
    #expect(mkdir(place.state, 0o700) == 0 && mkdir("\(place.state)/runs", 0o700) == 0)
    #expect(chown("\(place.state)/runs", 1234, 1234) == 0)
    #expect(fault()?.message.contains("/runs' belongs to user 1234, wanted root") == true)
  }

  @Test func `a link of our own is followed, with a slash at its end or not`() throws {
    let target = place.folder.appending(path: "elsewhere").path
    #expect(mkdir(target, 0o700) == 0)
    for text in ["elsewhere", "elsewhere/", target] {
      #expect(symlink(text, place.state) == 0)
      let run = try makeRun()
      #expect(place.has("runs/\(run.id)"))
      #expect(run.directory.isInPlace)
      #expect(unlink(place.state) == 0)
    }
    #expect(chmod(target, 0o777) == 0 && symlink("elsewhere", place.state) == 0)
    #expect(fault()?.message.contains("(mode 0777)") == true, "what it leads to is looked at")
  }

  @Test func `the folder that a link of our own leads to is made`() throws {
    #expect(symlink("./elsewhere", place.state) == 0)
    let run = try makeRun()
    #expect(place.has("runs/\(run.id)") && place.has(".gitignore"))
  }

  @Test func `a link to what is no text is refused, and nothing is made of it`() throws {
    let target: [CChar] = [0x61, -1, 0]
    #expect(symlink(target, place.state) == 0)
    #expect(
      fault()?.message == "the state directory '\(place.state)' is a link, wanted a directory")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.folder.path) == [".oprun"])
  }

  @Test func `links in a cycle end`() {
    #expect(symlink(".oprun", place.state) == 0)
    #expect(
      fault()?.message == "the state directory '\(place.state)' is a link, wanted a directory")
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give links away"))
  func `a link of another user is refused`() {
    let target = place.folder.appending(path: "elsewhere").path
    #expect(mkdir(target, 0o700) == 0 && symlink("elsewhere", place.state) == 0)
    #expect(lchown(place.state, 1234, 1234) == 0)
    #expect(
      fault()
        == StateFailure(
          "the state directory '\(place.state)' is a link owned by user 1234, wanted a directory or a link "
            + "owned by root, the user that runs oprun", help: anotherPlace))
  }

  @Test func `links within the state directory are refused, whoever made them`() {
    #expect(mkdir(place.state, 0o700) == 0 && mkdir("\(place.state)/other", 0o700) == 0)
    #expect(symlink("other", "\(place.state)/runs") == 0)
    #expect(
      fault()?.message == "the state directory '\(place.state)/runs' is a link, wanted a directory")
  }

  @Test func `what is no folder is refused without waiting for it`() throws {
    #expect(mkfifo(place.state, 0o600) == 0)
    #expect(
      fault()
        == StateFailure(
          "the state directory '\(place.state)' is a FIFO, wanted a directory", help: anotherPlace))
    #expect(unlink(place.state) == 0)
    try Data().write(to: URL(filePath: place.state))
    #expect(
      fault()?.message == "the state directory '\(place.state)' is a file, wanted a directory")
  }

  @Test func `slashes at the end change nothing`() throws {
    #expect(StateDirectory(path: "a/b//").path == "a/b")
    #expect(StateDirectory(path: ".").path == ".")
    #expect(StateDirectory(path: "/").path == "/")
    #expect(symlink("nowhere/deeper", place.state) == 0)
    let fault = #expect(throws: StateFailure.self) {
      _ = try StateDirectory(path: place.state + "/").makeRun(callersMask: 0o022)
    }
    #expect(fault?.message == "cannot create '\(place.state)': no such file or directory")
  }
}
