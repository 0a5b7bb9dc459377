// The log of the state database, `state.db-wal`: it has what was recorded since the file itself was written
// last. It knows no table.

import Glibc
import RunFiles
import Scheduling

extension StateStore {
  static let logName = "\(fileName)-wal"
  /// The file is written at least this often, if runs end.
  private static let longestLogTime = 3600

  /// The file of the database that its name no longer leads to: what is written to it is lost.
  var lostFile: String? {
    if database.isLost { return Self.fileName }
    // The log exists as long as the database is open.
    return Self.status(of: Self.logName, in: folder)?.st_ino == logNumber ? nil : Self.logName
  }

  /// Copies the log into the file, if that was not written for an hour: whoever removes the log takes no more
  /// than that. It waits for the disk twice.
  func copyLogNowAndThen(now: Int = time(nil)) {
    guard journal == .log, let status = Self.status(of: Self.fileName, in: folder),
      abs(now - status.st_mtim.tv_sec) > Self.longestLogTime
    else { return }
    // Another process may be reading: then the rest is copied after another run.
    try? database.execute("PRAGMA wal_checkpoint(PASSIVE)")
  }

  /// A number that changes when somebody else writes to the database; nil if that cannot be told.
  package var changeNumber: Int? { try? database.number("PRAGMA data_version") }

  static func status(of name: String, in folder: StateFolder) -> stat? {
    var status = stat()
    return fstatat(folder.descriptor, name, &status, 0) == 0 ? status : nil
  }
}
