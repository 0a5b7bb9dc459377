// Counts the instances of steps that could not be planned, so that thousands of them with the same
// mistakes are not all examined.

import Diagnostics

struct FailedInstances {
  /// The number of failed instances, by the location of the step.
  private var counts: [Span: Int] = [:]

  /// The number of failed instances that are shown: more would hardly show anything new.
  private static let limit = 16

  func areEnough(of operation: Int, in planner: Planner) -> Bool {
    !counts.isEmpty && counts[planner.span(of: operation), default: 0] >= Self.limit
  }

  mutating func add(_ operation: Int, in planner: Planner) {
    counts[planner.span(of: operation), default: 0] += 1
  }
}

extension Planner {
  fileprivate func span(of operation: Int) -> Span {
    let address = address(of: operation)
    return pipelines[address.pipeline].model.steps[address.step].id.span
  }
}
