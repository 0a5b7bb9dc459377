// Who waits for which digest of files. It neither starts nor reads processes.

import Diagnostics
import Expressions
import Scheduling

/// What operations ask of `hashFiles` while they are decided. A decision that needs a digest nobody
/// has yet is put off, and made again when the digest is there.
struct FileHashing {
  typealias Digest = Result<String, UnlocatedFailure>

  /// At once. The others wait: disks and processors are for steps.
  static let width = 4

  /// By the operation and the patterns it asked with, until it is decided.
  private var digests: [OperationID: [[String]: Digest]] = [:]
  /// What operations wait for.
  private var askers: [OperationID: [String]] = [:]
  /// In the order they were asked for; `waiting` has those of them that are still wanted.
  private var queue: [[String]] = []
  private var next = 0
  private var waiting: [[String]: [OperationID]] = [:]
  private var running: [Int: (patterns: [String], operations: [OperationID])] = [:]
  /// The operation that is being decided.
  private var current: OperationID?

  /// Everything asked for from here on is for this operation.
  mutating func begin(_ operation: OperationID) { current = operation }

  /// Nil if it is not known yet: the decision is to be put off.
  mutating func digest(of patterns: [String]) -> Digest? {
    guard let current else { return nil }
    if let known = digests[current]?[patterns] { return known }
    if askers.updateValue(patterns, forKey: current) != nil { return nil }
    if waiting[patterns] == nil { queue.append(patterns) }
    // One that runs already may have read files before this operation could ask.
    waiting[patterns, default: []].append(current)
    return nil
  }

  /// Whether its decision is put off.
  func isAwaited(by operation: OperationID) -> Bool {
    !askers.isEmpty && askers[operation] != nil
  }

  /// It is decided: what it was told may be another another time.
  mutating func decided(_ operation: OperationID) {
    if !digests.isEmpty { digests[operation] = nil }
  }

  /// The next one that may be started, as one of `width`.
  mutating func takeNext() -> (slot: Int, patterns: [String])? {
    guard next < queue.count, let slot = (0..<Self.width).first(where: { running[$0] == nil })
    else { return nil }
    let patterns = queue[next]
    next += 1
    if next == queue.count {
      queue = []
      next = 0
    }
    running[slot] = (patterns, waiting.removeValue(forKey: patterns) ?? [])
    return (slot, patterns)
  }

  /// Answers the operations that can be decided now.
  mutating func finish(_ slot: Int, _ digest: Digest) -> [OperationID] {
    guard let job = running.removeValue(forKey: slot) else { return [] }
    for operation in job.operations {
      askers[operation] = nil
      digests[operation, default: [:]][job.patterns] = digest
    }
    return job.operations
  }

  /// Somebody waits.
  var isBusy: Bool { !askers.isEmpty }

  /// Nobody else wants to know any more. Answers the slots whose processes are to be ended.
  mutating func keep(where isWanted: (OperationID) -> Bool) -> [Int] {
    askers = askers.filter { isWanted($0.key) }
    for (patterns, operations) in waiting {
      let wanted = operations.filter(isWanted)
      waiting[patterns] = wanted.isEmpty ? nil : wanted
    }
    queue = queue[next...].filter { waiting[$0] != nil }
    next = 0
    var idle: [Int] = []
    for (slot, job) in running {
      let wanted = job.operations.filter(isWanted)
      running[slot] = wanted.isEmpty ? nil : (job.patterns, wanted)
      if wanted.isEmpty { idle.append(slot) }
    }
    return idle
  }
}
