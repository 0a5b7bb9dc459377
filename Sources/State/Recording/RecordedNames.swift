// The operations of a plan by the names under which a run has recorded them. Most runs recorded their steps in the order
// of the plan; then no name is looked up.

import Masking
import Plans
import Scheduling

final class RecordedNames {
  private let plan: Plan
  private let masker: Masker?
  /// The number of the step that is expected next.
  private var next = 0

  init(_ plan: Plan, _ masker: Masker?) {
    self.plan = plan
    self.masker = masker
  }

  /// All of them, and what was made during the run.
  private(set) lazy var all: [String: OperationID] = {
    var operations: [String: OperationID] = [:]
    operations.reserveCapacity(plan.steps.count)
    for index in plan.steps.indices { operations[name(index)] = OperationID(index) }
    return operations
  }()

  subscript(name: String) -> OperationID? {
    get { all[name] }
    set { all[name] = newValue }
  }

  /// The operation of the step that was recorded next; nil if the plan has none.
  func next(named name: String) -> OperationID? {
    let isExpected = next < plan.steps.count && self.name(next) == name
    guard let operation = isExpected ? OperationID(next) : all[name] else { return nil }
    next = operation.index + 1
    return operation
  }

  private func name(_ index: Int) -> String {
    let id = plan.steps[index].id
    return masker?.name(id, number: index) ?? id
  }
}
