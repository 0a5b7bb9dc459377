// Removes old runs: their logs and their rows. Runs in progress stay.

import Diagnostics
import Glibc
import Plans
import RunFiles
package import Scheduling

/// The limits within which runs stay; a run that is beyond one of them is removed.
package struct PruneLimits: Hashable, Sendable {
  /// The number of runs.
  package var count: Int?
  /// The time since the start of a run.
  package var age: Nanoseconds?
  /// The size of all logs, in bytes.
  package var size: Int?
  /// True of those that nobody asked for.
  package private(set) var isAutomatic = false

  package init(count: Int? = nil, age: Nanoseconds? = nil, size: Int? = nil) {
    self.count = count
    self.age = age
    self.size = size
  }

  /// The limits to which every run keeps without being asked: 1,000 runs, 90 days, 5 GiB.
  package static let automatic: PruneLimits = {
    var limits = PruneLimits(count: 1000, age: 90 * 86_400_000_000_000, size: 5 << 30)
    limits.isAutomatic = true
    return limits
  }()
  package static let automaticWords = "1,000 runs, 90 days and 5 GiB of logs"
}

/// The runs that were removed, and those that could not be.
package struct Pruned: Hashable, Sendable {
  package var runs: [String] = []
  package var bytes = 0
  /// Runs beyond the limits that are still there.
  package var kept: [KeptRun] = []

  /// Adds runs that are newer than those in it.
  fileprivate mutating func add(_ older: [RunToRemove]) {
    runs.insert(contentsOf: older.map(\.run.name), at: 0)
    bytes += older.reduce(0) { $0 + $1.bytes }
  }
}

/// A run that was to be removed, and why it is still there.
package struct KeptRun: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// Something of it goes on elsewhere.
    case jobs
    /// A process performs it, or resumes it, or ends or removes what is left of it.
    case inUse
    /// The whole message why it cannot be claimed, or its directory not be removed. In the latter case it is in no
    /// listing any more.
    case error(String)
  }

  package let run: String
  package let reason: Reason

  package init(_ run: String, _ reason: Reason) {
    self.run = run
    self.reason = reason
  }
}

private typealias RunToRemove = (run: RecordedRunStart, bytes: Int)

extension StateStore {
  /// Runs look for old ones only every so often.
  private static let interval = 16
  /// The number of rows that are removed at once: so few that others who write need not wait.
  private static let batch = 50

  /// Removes what is beyond the limits, if it is time to look; returns what to say about it, once in
  /// the life of the database. `isBusy` is as in `prune`.
  package func pruneNowAndThen(
    _ limits: PruneLimits, after number: Int,
    now: Nanoseconds = Nanoseconds(time(nil)) * 1_000_000_000,
    isBusy: (String) -> Bool = { _ in false }
  ) throws(StoreFailure) -> String? {
    guard number % Self.interval == 0 else { return nil }
    let pruned = try prune(limits, now: now, isBusy: isBusy)
    guard !pruned.runs.isEmpty else { return nil }
    let isNews = try perform("write") { database throws(DatabaseFailure) in
      let known = try database.text("SELECT value FROM note WHERE name = 'pruned'")
      if known != nil { return false }
      try database.execute("INSERT INTO note VALUES('pruned', 'said')")
      return true
    }
    guard isNews else { return nil }
    let runs = pruned.runs.count == 1 ? "1 old run was" : "\(pruned.runs.count) old runs were"
    return "\(runs) removed: \(PruneLimits.automaticWords) are kept ('oprun prune --help')"
  }

  /// Removes what is beyond the limits. `now` is the time since 1970; `isBusy` says whether something of a run goes on
  /// although no process performs it: jobs need the directory of the run that started them.
  package func prune(
    _ limits: PruneLimits, now: Nanoseconds, isDryRun: Bool = false,
    isBusy: (String) -> Bool = { _ in false }
  ) throws(StoreFailure) -> Pruned {
    var (limits, now) = (limits, now)
    let all = try runStarts()
    if limits.isAutomatic {
      // A clock that was wrong for a while makes no run old: age counts from the newest runs, not from now.
      let starts = all.prefix(Self.interval).map { Nanoseconds($0.started) * 1000 }
      if starts.count < Self.interval { limits.age = nil }
      now = min(now, starts.min() ?? now)
    }
    var pruned = Pruned()
    var over: [RunToRemove] = []
    var kept = (count: 0, bytes: 0)
    for (run, bytes) in logSizes(of: all, limit: limits.size) {
      let isOver =
        limits.count.map { kept.count >= $0 } == true
        || limits.age.map { now - Nanoseconds(run.started) * 1000 > $0 } == true
        || limits.size.map { kept.bytes + bytes > $0 } == true
      if isOver {
        guard let reason = reasonToKeep(run.name, isBusy) else {
          over.append((run, bytes))
          continue
        }
        pruned.kept.append(KeptRun(run.name, reason))
      }
      kept.count += 1
      kept.bytes += bytes
    }
    if isDryRun {
      pruned.add(over)
      return pruned
    }
    while !over.isEmpty {
      try remove(Array(over.suffix(Self.batch)), &pruned)
      over.removeLast(min(Self.batch, over.count))
    }
    // The runs that could not be removed just now are in the list already.
    let named = Set(pruned.kept.map(\.run))
    for (run, error) in folder.removeLeftovers() where !named.contains(run) {
      keep(run, error, &pruned)
    }
    try completeRemovals(&pruned, isBusy)
    if let age = limits.age { try removeUnrecorded(before: now - age, &pruned, isBusy) }
    return pruned
  }

  private func reasonToKeep(_ run: String, _ isBusy: (String) -> Bool) -> KeptRun.Reason? {
    if folder.run(named: run)?.isTaken == true { return .inUse }
    return isBusy(run) ? .jobs : nil
  }

  private func keep(_ run: String, _ number: Int32, _ pruned: inout Pruned) {
    let aside = "runs/.\(run)"
    let isAside = faccessat(folder.descriptor, aside, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    let path = folder.shown(isAside ? aside : "runs/\(run)")
    let failure = SystemError("cannot remove \(quoted(path))", errno: number)
    pruned.kept.append(KeptRun(run, .error(failure.message)))
  }

  /// Removes runs, except those that somebody has claimed meanwhile. Nobody can resume the others: they are claimed until
  /// their rows are gone. These go first, because rows without a directory look like a run that can be resumed. If this
  /// process dies then, the next one removes the directories: until all of them are put aside, their names are noted.
  private func remove(_ runs: [RunToRemove], _ pruned: inout Pruned) throws(StoreFailure) {
    var claimed: [RunDirectory] = []
    let free = runs.filter { run, _ in
      guard let directory = folder.run(named: run.name) else { return true }
      claimed.append(directory)
      if directory.takeClaim() { return true }
      let reason = directory.lockFailure.map { KeptRun.Reason.error($0.message) }
      pruned.kept.append(KeptRun(run.name, reason ?? .inUse))
      return false
    }
    let names = free.map(\.run.name)
    try perform("write") { database throws(DatabaseFailure) in
      try database.transaction { () throws(DatabaseFailure) in
        try database.removeRuns(free.map(\.run.number))
        try database.noteRemovals(of: names)
      }
    }
    // The claims are given up now that nobody finds the runs any more: NFS keeps a directory in which a file is open.
    withExtendedLifetime(claimed) {}
    claimed = []
    try forgetRemovals(of: names.filter { folder.putRunAside($0) })
    var removed: [RunToRemove] = []
    for entry in free {
      if folder.removeRun(entry.run.name) {
        removed.append(entry)
      } else {
        keep(entry.run.name, errno, &pruned)
      }
    }
    pruned.add(removed)
  }

  /// Removes the directories of runs whose rows are gone, and that who removed these could not put aside.
  private func completeRemovals(
    _ pruned: inout Pruned, _ isBusy: (String) -> Bool
  ) throws(StoreFailure) {
    let named = Set(pruned.kept.map(\.run))
    var done: [String] = []
    for name in try notedRemovals() where !named.contains(name) {
      if let reason = reasonToKeep(name, isBusy) {
        pruned.kept.append(KeptRun(name, reason))
      } else if folder.removeRun(name) {
        done.append(name)
      } else {
        keep(name, errno, &pruned)
      }
    }
    try forgetRemovals(of: done)
  }

  /// The runs with the sizes of their logs. What is recorded is what commands printed, of which limits on their logs
  /// may have let through less: only if that is too much are the logs of all runs measured.
  private func logSizes(
    of runs: [RecordedRunStart], limit: Int?
  ) -> [(RecordedRunStart, bytes: Int)] {
    let printed = runs.map { ($0, bytes: $0.logBytes ?? folder.size(ofRun: $0.name)) }
    guard let limit, printed.reduce(0, { $0 + $1.bytes }) > limit else { return printed }
    return runs.map { ($0, folder.size(ofRun: $0.name)) }
  }

  /// Directories without a record are of runs whose record was lost.
  private func removeUnrecorded(
    before time: Nanoseconds, _ pruned: inout Pruned, _ isBusy: (String) -> Bool
  ) throws(StoreFailure) {
    let limit = UTCTime(secondsSince1970: Int(time / 1_000_000_000)).compact
    let known = Set(try runNames())
    for name in folder.names(in: "runs")
    where StateFolder.isRunName(name) && name < limit && !known.contains(name) {
      // A claim would be an open file, with which NFS keeps the directory.
      if let reason = reasonToKeep(name, isBusy) {
        pruned.kept.append(KeptRun(name, reason))
      } else if folder.removeRun(name) {
        pruned.runs.append(name)
      } else {
        keep(name, errno, &pruned)
      }
    }
  }

  /// Whether a process performs the run now. A process that has only to end does not count.
  package func isInUse(_ name: String) -> Bool {
    folder.run(named: name)?.isInUse == true && !hasEnded(name)
  }

  private func hasEnded(_ name: String) -> Bool {
    let status = "SELECT 1 FROM run WHERE name = ? AND exit_status IS NOT NULL"
    return (try? database.prepare(status).bind(1, name).next()) ?? false
  }

  /// How many runs have resumed it, and how many of them have ended.
  package func resumes(of name: String) -> [Int] {
    let counts = """
      SELECT count(*), count(exit_status) FROM run
      WHERE resumed = (SELECT id FROM run WHERE name = ?)
      """
    guard let row = try? database.prepare(counts).bind(1, name), (try? row.next()) == true else {
      return []
    }
    return [0, 1].map { (try? row.number($0)) ?? 0 }
  }
}
