// The time that a run will still take, as far as the durations of its steps are known: the longest
// path of operations that have not ended, or the work of a queue divided by its width, whichever is
// longer.

import Plans
import Scheduling

struct TimeLeft {
  private let operations: RunOperations
  /// The usual duration of an operation. Only this is asked for it.
  private let duration: (OperationID) -> Nanoseconds?
  /// The mean duration, assumed for operations whose duration is unknown.
  private let guess: Nanoseconds
  /// The time of each operation of the plan and of the longest path after it.
  private let tails: [Nanoseconds]

  /// Nil if the duration of every operation is unknown. Linear.
  init?(_ operations: RunOperations, duration: @escaping (OperationID) -> Nanoseconds?) {
    let plan = operations.plan
    let known = plan.steps.indices.lazy.compactMap { duration(OperationID($0)) }
    var (total, count): (Nanoseconds, Nanoseconds) = (0, 0)
    for time in known {
      total = sum(total, time)
      count += 1
    }
    guard count > 0, let order = plan.graph.topologicalOrder() else { return nil }
    self.operations = operations
    self.duration = duration
    guess = total / count
    var tails = [Nanoseconds](repeating: 0, count: plan.steps.count)
    for operation in order.reversed() {
      if !operations.standsForOthers(operation), !operations.isService(operation) {
        tails[operation.index] = sum(tails[operation.index], duration(operation) ?? guess)
      }
      let tail = tails[operation.index]
      plan.graph.forEachDependency(of: operation) { edge in
        tails[edge.from.index] = max(tails[edge.from.index], tail)
      }
    }
    self.tails = tails
  }

  /// The time left; nil if too little is known: less than half of it. Linear.
  func left(
    _ steps: LiveSteps, at now: Nanoseconds, hasEnded: (OperationID) -> Bool
  ) -> Nanoseconds? {
    let plan = operations.plan
    var work = [Nanoseconds](repeating: 0, count: plan.queues.count)
    var longest: Nanoseconds = 0
    var (known, unknown) = (0, 0)
    for index in 0..<operations.count {
      let operation = OperationID(index)
      guard !hasEnded(operation), !operations.standsForOthers(operation),
        !operations.isService(operation)
      else { continue }
      let planned = operations.planned(operation)
      let usual = duration(planned)
      if usual == nil { unknown += 1 } else { known += 1 }
      let time = usual ?? guess
      let spent = min(time, steps.running[operation].map { now - $0 } ?? 0)
      longest = max(longest, tails[planned.index] - spent)
      let queue = plan.graph.queue(of: planned).index
      work[queue] = sum(work[queue], time - spent)
    }
    guard known > 0, unknown <= known else { return nil }
    for (queue, time) in zip(plan.queues, work) where queue.width > 0 {
      longest = max(longest, time / Nanoseconds(queue.width))
    }
    return longest
  }
}
