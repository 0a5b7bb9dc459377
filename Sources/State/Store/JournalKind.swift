// The kinds of journals that keep the transactions of the database whole. On a network file system it never has the one
// that needs the memory of one machine. docs/design-state.md, "On network file systems".

import Diagnostics
import Glibc
import RunFiles
import Scheduling

/// The means by which a transaction stays whole if a process dies in the middle of it.
package enum JournalKind: Hashable, Sendable {
  /// A log, with an index in memory that all users share (WAL): readers and a writer do not wait for each other, and a
  /// commit does not wait for the disk, but all of them are on one machine.
  case log
  /// A rollback journal: a commit waits for readers and for the disk, and users on several machines see each other by
  /// the locks of the file.
  case rollback
}

extension StateStore {
  /// Opens the file to read and to write it. One that has a rollback journal keeps it wherever it is: a directory that is
  /// on a disk of this machine may be shared with others. What a new file has is known.
  static func open(
    _ folder: StateFolder, isNew: Bool = false,
    patience: Nanoseconds = Nanoseconds(Database.patience) * 1_000_000
  ) throws(DatabaseFailure) -> (Database, JournalKind) {
    let path = folder.followedPath(of: fileName)
    if folder.fileSystem.network == nil {
      let database = try Database(path, .writing)
      let journal = isNew ? "wal" : try database.text("PRAGMA journal_mode")
      return (database, journal == "wal" ? .log : .rollback)
    }
    let end = monotonicTime() + patience
    while true {
      do throws(DatabaseFailure) {
        let database = try Database(path, .writing)
        database.setPatience(false)
        try database.leaveLog()
        database.setPatience(true)
        folder.remove("\(fileName)-shm")
        return (database, .rollback)
      } catch {
        guard error.kind == .locked, monotonicTime() < end else { throw error }
      }
      // Two that convert the same database wait for each other until one of them has closed it.
      usleep(.random(in: 2_000...40_000))
    }
  }
}

extension Database {
  /// Gives the database a rollback journal. If it has a log, what is in that is taken over, which nobody may use meanwhile:
  /// who is alone needs no shared memory for it.
  fileprivate func leaveLog() throws(DatabaseFailure) {
    try execute("PRAGMA locking_mode = EXCLUSIVE")
    let kind = try text("PRAGMA journal_mode = PERSIST")
    guard kind == "persist" else { throw DatabaseFailure.otherUsers }
    // The lock is given back at the end of the next transaction.
    try execute("PRAGMA locking_mode = NORMAL")
    _ = try number("PRAGMA user_version")
  }

  /// The file of the journal stays, and only its beginning is overwritten: other machines need not notice in time that a
  /// file was made or removed, which attributes that they remember may hide from them.
  func setUpRollback() throws(DatabaseFailure) {
    try execute(
      "PRAGMA journal_mode = PERSIST; PRAGMA journal_size_limit = 1048576; PRAGMA synchronous = FULL"
    )
  }
}
