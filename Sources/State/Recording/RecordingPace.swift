// When a run writes to the database, and for how long its own journal may keep what is to be written.

import Scheduling

/// How a recorder divides its time.
struct RecordingPace {
  /// How often the database was written before commands.
  private var commitCount = 0
  /// When it was written last, and how long that took on a file system where commits wait for the disk.
  private var lastWrite: Nanoseconds = 0
  private var writeTime: Nanoseconds = 0
  private var waitsForDisk = false

  /// How long the database may lag behind the journal: so long that writing takes at most a twentieth of the time, up
  /// to `longestLag`.
  private static let shortestLag: Nanoseconds = 100_000_000
  private static let longestLag: Nanoseconds = 2_000_000_000
  /// Making a file takes as long as some transactions in a log.
  private static let commitsBeforeJournal = 8

  var isWorthAJournal: Bool { waitsForDisk || commitCount >= Self.commitsBeforeJournal }

  /// When the database is to get what the journal has.
  var nextWrite: Nanoseconds {
    lastWrite + min(max(Self.shortestLag, 20 * writeTime), Self.longestLag)
  }

  mutating func noteCommit() { commitCount += 1 }

  mutating func noteWrite(at time: Nanoseconds, took duration: Nanoseconds, _ kind: JournalKind?) {
    lastWrite = time
    waitsForDisk = kind == .rollback
    writeTime = waitsForDisk ? duration : 0
  }
}
