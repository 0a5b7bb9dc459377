// What the operations depend on that were made during the run.

import Plans
import Scheduling

struct InstanceDependencies {
  /// What operations that were added while running wait for in particular, and belong to.
  private var appended: [OperationID: (group: OperationID, after: [OperationID])] = [:]

  mutating func append(_ operation: OperationID, to group: OperationID, after: [OperationID]) {
    appended[operation] = (group, after)
  }

  /// What an operation depends on, also by what it was made from.
  func dependencies(of operation: OperationID, in plan: Plan) -> [OperationID] {
    if operation.index < plan.steps.count {
      return plan.graph.dependencies(of: operation).map(\.from)
    }
    guard let (group, after) = appended[operation] else { return [] }
    return after + dependencies(of: group, in: plan)
  }
}
