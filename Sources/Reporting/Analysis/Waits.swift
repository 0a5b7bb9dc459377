// The resources that ready steps waited for.

import Plans
import Scheduling

/// The time that steps waited for one thing although everything that they depend on had ended.
struct Wait: Hashable {
  enum Cause: Hashable {
    /// A slot of a queue.
    case queue(QueueID)
    /// A mutex, a resource, a place among the instances of a matrix.
    case pool(PoolID)
    /// A condition, a delay, or the work of oprun meanwhile.
    case other
  }

  let cause: Cause
  var time: Nanoseconds
  var stepCount: Int
}

extension RunAnalysis {
  /// The shortest wait that counts: a shorter one is the time that it takes to start a step.
  private static let shortest: Nanoseconds = 5_000_000

  /// The waits, the longest first. The cause of each is what the step got when it started: a share of
  /// a pool or a slot of its queue that another step had held until then.
  func waits() -> [Wait] {
    let ran = record.steps.filter { $0.settled.record != nil }
    let ends = ran.sorted { $0.end < $1.end }
    var ended = Ends(record)
    var waits: [Wait.Cause: Wait] = [:]
    for step in ran {
      guard let start = step.settled.record?.start else { continue }
      let ready = ended.last(before: step.operation)
      guard start - ready >= Self.shortest else { continue }
      let cause = cause(of: step.operation, startedAt: start, after: ends)
      waits[cause, default: Wait(cause: cause, time: 0, stepCount: 0)].time += start - ready
      waits[cause]?.stepCount += 1
    }
    return waits.values.sorted {
      ($1.time, $0.stepCount) < ($0.time, $1.stepCount)
    }
  }

  private func cause(
    of operation: OperationID, startedAt start: Nanoseconds, after ends: [ReportedStep]
  ) -> Wait.Cause {
    var index = firstIndex(in: ends, endingAfter: start)
    let graph = record.operations.plan.graph
    let own = graph[record.operations.planned(operation)]
    var sharesQueue = false
    while index > 0, ends[index - 1].end >= start - Self.shortest {
      index -= 1
      let other = graph[record.operations.planned(ends[index].operation)]
      let shared = own.claims.first { claim in other.claims.contains { $0.pool == claim.pool } }
      if let shared { return .pool(shared.pool) }
      if other.queue == own.queue { sharesQueue = true }
    }
    if sharesQueue { return .queue(own.queue) }
    // Another run had the pool.
    let pools = record.operations.plan.pools
    let granted = own.claims.first { pools[$0.pool.index].isGranted }
    return granted.map { .pool($0.pool) } ?? .other
  }

  /// The index of the first step that ended after a moment.
  private func firstIndex(in ends: [ReportedStep], endingAfter time: Nanoseconds) -> Int {
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      if ends[middle].end <= time { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The ends of operations. Groups stand for their members: thousands of steps may wait for the same
/// one, which is looked at once.
private struct Ends {
  private let operations: RunOperations
  /// The ends of operations, by number; nil if an operation has not ended, or is a group that was not looked at.
  private var ends: [Nanoseconds?]

  init(_ record: RunRecord) {
    operations = record.operations
    ends = [Nanoseconds?](repeating: nil, count: operations.count)
    for step in record.steps where !operations.standsForOthers(step.operation) {
      ends[step.operation.index] = step.end
    }
  }

  /// The end of the last dependency of an operation.
  mutating func last(before operation: OperationID) -> Nanoseconds {
    var last: Nanoseconds = 0
    operations.forEachDependency(of: operation) { last = max(last, end(of: $0)) }
    return last
  }

  private mutating func end(of operation: OperationID) -> Nanoseconds {
    if let known = ends[operation.index] { return known }
    guard operations.standsForOthers(operation) else { return 0 }
    let last = last(before: operation)
    ends[operation.index] = last
    return last
  }
}
