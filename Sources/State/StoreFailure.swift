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
        help: "end that process; 'fuser \(file)' shows it")
      isLocked = true
    case .damaged:
      self.init(
        "cannot \(action) \(quoted(file)): it is damaged (\(failure.reason))",
        help: "move the file away: the next run creates a new one")
      isDamage = true
    case .full, .other: self.init("cannot \(action) \(quoted(file)): \(failure.reason)")
    }
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

  static func onNetwork(_ kind: String, _ folder: StateFolder) -> StoreFailure {
    StoreFailure(
      "the state directory \(quoted(folder.path)) is on a network file system (\(kind)), where its "
        + "database would not be safe",
      help: "choose a local directory with --state-dir or OPRUN_STATE_DIR")
  }
}
