// Keeps track of the operations that wait for digests of files. It neither starts nor reads
// processes.

import Diagnostics
import Expressions
import Scheduling

/// The requests for `hashFiles` by operations that are being decided. A decision that needs a
/// digest which is not available yet is postponed, and made again when the digest is there.
struct FileHashing {
  typealias Digest = Result<String, UnlocatedFailure>

  /// The number of digests computed at the same time. The others wait, because disks and processors
  /// are for steps.
  static let width = 4

  /// The digests by operation and patterns, until the operation is decided.
  private var digests: [OperationID: [[ExactText]: Digest]] = [:]
  /// The patterns that operations wait for.
  private var askers: [OperationID: [ExactText]] = [:]
  /// The patterns in the order in which they were requested; `waiting` has those of them that are
  /// still wanted.
  private var queue: [[ExactText]] = []
  private var next = 0
  private var waiting: [[ExactText]: [OperationID]] = [:]
  private var running: [Int: (patterns: [ExactText], operations: [OperationID])] = [:]
  /// The operation that is being decided.
  private var current: OperationID?

  /// Makes everything requested from here on count for this operation.
  mutating func begin(_ operation: OperationID) { current = operation }

  /// The digest; nil if it is not known yet, so that the decision must be postponed.
  mutating func digest(of patterns: [String]) -> Digest? {
    guard let current else { return nil }
    let patterns = patterns.map(ExactText.init)
    if let known = digests[current]?[patterns] { return known }
    if askers.updateValue(patterns, forKey: current) != nil { return nil }
    if waiting[patterns] == nil { queue.append(patterns) }
    // A process that is already running may have read files before this request.
    waiting[patterns, default: []].append(current)
    return nil
  }

  /// True if the decision of the operation is postponed.
  func isAwaited(by operation: OperationID) -> Bool {
    !askers.isEmpty && askers[operation] != nil
  }

  /// Called when the operation is decided. Its digests are dropped, because another time they may
  /// differ.
  mutating func decided(_ operation: OperationID) {
    if !digests.isEmpty { digests[operation] = nil }
  }

  /// The next digest that may be started, as one of `width`.
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
    return (slot, patterns.map(\.text))
  }

  /// Stores a digest; returns the operations that can be decided now.
  mutating func finish(_ slot: Int, _ digest: Digest) -> [OperationID] {
    guard let job = running.removeValue(forKey: slot) else { return [] }
    for operation in job.operations {
      askers[operation] = nil
      digests[operation, default: [:]][job.patterns] = digest
    }
    return job.operations
  }

  /// True if an operation waits.
  var isBusy: Bool { !askers.isEmpty }

  /// Drops the requests of all other operations. Returns the slots whose processes must be ended.
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
