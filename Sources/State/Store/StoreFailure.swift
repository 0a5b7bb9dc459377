// Why the state database cannot be used, in words.

import Diagnostics
import RunFiles

package struct StoreFailure: Error, Hashable, Sendable {
  package let message: String
  package var help: String?
  /// True if the file is damaged.
  var isDamage = false
  /// True if another process holds the lock.
  var isLocked = false
  /// The run that goes on with the one that was to be recorded, if that is why it was not.
  var successor: String?

  init(_ message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }

  init(_ failure: DatabaseFailure, _ action: String, _ folder: StateFolder) {
    let file = folder.shown(StateStore.fileName)
    switch failure.kind {
    case .locked:
      self.init(
        "cannot \(action) \(quoted(file)): another process holds its lock",
        help: folder.fileSystem.network == nil
          ? "end that process; 'fuser \(file)' shows it"
          : "end that process, which may be on another machine; 'fuser \(file)' shows it if it is on this one"
      )
      isLocked = true
    case .damaged:
      self.init(
        "cannot \(action) \(quoted(file)): it is damaged (\(failure.reason))",
        help: "the next run moves the file aside and starts a new history")
      isDamage = true
    case .full, .other:
      self =
        StateStore.readRefusal(in: folder)
        ?? StoreFailure("cannot \(action) \(quoted(file)): \(failure.reason)")
    }
    successor = failure.successor
  }

  static func newer(_ version: Int, than known: Int, _ folder: StateFolder) -> StoreFailure {
    StoreFailure(
      "\(quoted(folder.shown(StateStore.fileName))) was written by a newer oprun: its format has version "
        + "\(version), this oprun knows version \(known)",
      help: "use the newer oprun, or another directory with --state-dir")
  }

  static func lost(_ file: String, in folder: StateFolder) -> StoreFailure {
    StoreFailure(
      "\(quoted(folder.shown(file))) was removed or replaced during the run")
  }

  static func tooLong(_ length: Int, _ most: Int, _ folder: StateFolder) -> StoreFailure {
    StoreFailure(
      "the whole path of the state directory \(quoted(folder.path)) has \(length) bytes, wanted at most \(most)",
      help: "choose another directory with --state-dir or OPRUN_STATE_DIR")
  }

  /// The failure for a file system that locks no file. SQLite would take it for a database that somebody else has locked.
  static func noLocks(_ kind: String, _ number: Int32, _ folder: StateFolder) -> StoreFailure {
    let advice =
      switch kind {
      case "Lustre": "ask for a mount with the option 'flock'"
      case "NFS": "ask for NFS 4, or for rpc.statd on this machine and the server"
      default: "ask for a mount with locks"
      }
    return StoreFailure(
      "no file in the state directory \(quoted(folder.path)) can be locked (\(kind)): "
        + SystemError.reason(number),
      help: "\(advice), or choose another directory with --state-dir or OPRUN_STATE_DIR")
  }

  /// The failure for a file system whose locks the other machines do not see.
  static func localLocks(_ kind: String, _ limit: String, _ folder: StateFolder) -> StoreFailure {
    StoreFailure(
      "locks in the state directory \(quoted(folder.path)) do not reach other machines "
        + "(\(kind), \(limit)), and its database would not be safe",
      help:
        "ask for another mount, or choose another directory with --state-dir or OPRUN_STATE_DIR")
  }
}
