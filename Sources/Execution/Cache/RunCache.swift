// The bookkeeping of a run with cached steps: what is known of them, which jobs wait, which process
// does which. It neither starts nor reads processes.

import Caching
import Plans
import Running
import Scheduling

final class RunCache {
  /// The purpose of a job: who waits for it.
  enum Key: Hashable {
    case tool(ToolQuestion)
    case step(OperationID)
    /// The command has ended, and its result is being kept.
    case keeping(CommandKey)
    /// Nobody waits: a result is being stored in the shared cache.
    case sharing(OperationID)
  }

  let cache: StepCache
  var lookups: [OperationID: CacheLookup] = [:]
  /// The steps that are unchanged by a comparison of stamps alone.
  var unchanged = OperationSet()
  private var unchangedResults: [OperationID: CacheDigest] = [:]
  /// The ends of commands that are reported once their results are kept.
  var ends: [CommandKey: CommandEnd] = [:]
  /// Results that are published when their steps have succeeded.
  var sealed: [OperationID: SealedResult] = [:]
  var workers: [Int: CacheWorker] = [:]
  /// The notices that were given, so that none is repeated.
  var told: Set<String> = []
  private var awaited: Set<OperationID> = []
  /// The steps that start when jobs of earlier runs have ended.
  var awaitingJobs: Set<OperationID> = []
  /// True once a command has started or something was restored.
  var hasChangedFiles = false
  var jobs: CacheJobs
  /// The operations that another run is running, and whether they wait at their gates.
  private var lockedByOthers: [OperationID: Bool] = [:]
  private var waitingSince: [OperationID: Nanoseconds] = [:]
  private var retryAt: Nanoseconds?
  private static let retryDelay: Nanoseconds = 50_000_000
  /// The time after which a wait is explained.
  private static let longWait: Nanoseconds = 10_000_000_000
  /// The operations that wait for the output of a tool.
  private var waitingForTools: Set<OperationID> = []

  init(_ cache: StepCache, processorCount: Int) {
    self.cache = cache
    jobs = CacheJobs(width: RunCache.width(processorCount: processorCount))
  }

  /// The number of processes that look at files.
  static func width(processorCount: Int) -> Int { max(1, min(4, processorCount)) }

  /// True if the decision about the operation is postponed.
  func isAwaited(by operation: OperationID) -> Bool { awaited.contains(operation) }

  /// True if the end of the command is not reported yet, because its result is being kept.
  func isKeeping(_ key: CommandKey) -> Bool { ends[key] != nil }

  /// The digest that stands for the result of a step in the keys of others; nil if it has none.
  func result(of operation: OperationID, id: () -> String) -> CacheDigest? {
    if let lookup = lookups[operation] { return lookup.result }
    guard unchanged.contains(operation) else { return nil }
    if let known = unchangedResults[operation] { return known }
    let result = cache.result(ofUnchanged: id())
    unchangedResults[operation] = result
    return result
  }

  /// Forgets an operation that runs again: it is asked about anew, unless it still waits for an answer.
  func forget(_ operation: OperationID) {
    if isAwaited(by: operation) { return }
    lookups[operation] = nil
    unchanged.remove(operation)
    unchangedResults[operation] = nil
  }

  func add(_ job: CacheJob, for key: Key) { jobs.add(job, for: key) }

  /// Makes the operation wait for the jobs.
  func await(_ jobs: [(CacheJobKey, CacheJob)], by operation: OperationID) {
    awaited.insert(operation)
    for (key, job) in jobs {
      switch key {
      case .tool(let command):
        waitingForTools.insert(operation)
        add(job, for: .tool(command))
      case .step: add(job, for: .step(operation))
      }
    }
  }

  /// Makes the operation wait at its gate until another run has ended it.
  func awaitLock(of operation: OperationID, at time: Nanoseconds) {
    awaited.insert(operation)
    retry(operation, isAsked: true, at: time)
  }

  /// Lets the operation, which could have started, compete again in a moment.
  func deferStart(of operation: OperationID, at time: Nanoseconds) {
    retry(operation, isAsked: false, at: time)
  }

  private func retry(_ operation: OperationID, isAsked: Bool, at time: Nanoseconds) {
    waitingSince[operation] = waitingSince[operation] ?? time
    lockedByOthers[operation] = isAsked
    retryAt = retryAt ?? time + Self.retryDelay
  }

  /// The operations whose locks may be free by now, those that wait at their gates first; `long` are those that have
  /// waited for long.
  func takeLocked(
    at time: Nanoseconds
  ) -> (asked: [OperationID], deferred: [OperationID], long: [OperationID])? {
    guard let due = retryAt, time >= due else { return nil }
    let operations = lockedByOthers.keys.sorted()
    let asked = operations.filter { lockedByOthers[$0] == true }
    let deferred = operations.filter { lockedByOthers[$0] == false }
    let long = operations.filter { time - (waitingSince[$0] ?? time) >= Self.longWait }
    lockedByOthers = [:]
    retryAt = nil
    awaited.subtract(asked)
    return (asked, deferred, long)
  }

  /// The holder of the lock of a step, in words.
  func maker(of operation: OperationID) -> String {
    guard let run = lookups[operation].flatMap(cache.makerOver) else {
      return "another run, which is running it or restoring its outputs"
    }
    return "its job of run \(run): if that is over, 'oprun resume \(run)' takes the result"
  }

  /// Calls `body` with the name of the lock of a step, if a job makes it for which no process waits.
  func withLockOfJob(_ operation: OperationID, _ body: (String) -> Void) {
    if let lookup = lookups[operation] { cache.withLockOfJob(making: lookup, body) }
  }

  /// Stops the wait for a job, and returns the operations that can go on now.
  func goOn(_ key: Key) -> [OperationID] {
    switch key {
    case .tool:
      let operations = waitingForTools.sorted()
      waitingForTools = []
      awaited.subtract(operations)
      return operations
    case .step(let operation):
      return awaited.remove(operation) == nil ? [] : [operation]
    case .keeping, .sharing: return []
    }
  }

  /// When there is something to do although no descriptor is ready.
  var deadline: Nanoseconds? { [retryAt, jobs.answersDue].compactMap { $0 }.min() }
}

/// A set of operations, fast if most are in it or none.
struct OperationSet {
  private var members: [Bool] = []

  func contains(_ operation: OperationID) -> Bool {
    members.indices.contains(operation.index) && members[operation.index]
  }

  mutating func insert(_ operation: OperationID) {
    while members.count <= operation.index { members.append(false) }
    members[operation.index] = true
  }

  mutating func remove(_ operation: OperationID) {
    if contains(operation) { members[operation.index] = false }
  }
}
