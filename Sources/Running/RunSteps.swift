// The steps of a run as they are now: those of the plan, what was added while running, and what has become
// of late ones.

package import Plans
package import Scheduling

/// What grows while a plan runs; the plan does not change.
package struct RunSteps: Sendable {
  private let planned: [PlannedStep]
  /// Their numbers follow those of the planned ones.
  private var appended: [PlannedStep] = []
  /// Of operations that passed their gate and have not ended.
  private var resolved: [OperationID: ReadyStep] = [:]

  init(_ plan: Plan) { planned = plan.steps }

  package var count: Int { planned.count + appended.count }

  /// As it was planned, or made from what was planned.
  package subscript(operation: OperationID) -> PlannedStep {
    operation.index < planned.count
      ? planned[operation.index] : appended[operation.index - planned.count]
  }

  /// As it runs. Traps while something of it is not known.
  func ready(_ operation: OperationID) -> ReadyStep {
    (resolved.isEmpty ? nil : resolved[operation]) ?? ReadyStep(self[operation])
  }

  mutating func append(_ step: PlannedStep, as operation: OperationID) {
    precondition(operation.index == count, "numbers of new steps follow those of all others")
    appended.append(step)
  }

  mutating func resolve(_ operation: OperationID, as step: ReadyStep) {
    resolved[operation] = step
  }

  /// Nothing of it will run any more.
  mutating func end(_ operation: OperationID) {
    if !resolved.isEmpty { resolved[operation] = nil }
  }
}
