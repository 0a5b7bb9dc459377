// The current steps of a run: those of the plan, those added during the run, and the resolved forms
// of late ones.

package import Plans
package import Scheduling

/// The steps of a run. They grow in number during the run; the plan does not change.
package struct RunSteps: Sendable {
  private let planned: [PlannedStep]
  /// The added steps; their numbers follow those of the planned ones.
  private var appended: [PlannedStep] = []
  /// The resolved steps of operations that have passed their gate and have not ended.
  private var resolved: [OperationID: ReadyStep] = [:]

  init(_ plan: Plan) { planned = plan.steps }

  package var count: Int { planned.count + appended.count }

  /// The step as it was planned, or as it was made from the plan.
  package subscript(operation: OperationID) -> PlannedStep {
    operation.index < planned.count
      ? planned[operation.index] : appended[operation.index - planned.count]
  }

  /// The step as it runs. Traps while a part of it is not known.
  package func ready(_ operation: OperationID) -> ReadyStep {
    (resolved.isEmpty ? nil : resolved[operation]) ?? ReadyStep(self[operation])
  }

  mutating func append(_ step: PlannedStep, as operation: OperationID) {
    precondition(operation.index == count, "numbers of new steps follow those of all others")
    appended.append(step)
  }

  mutating func resolve(_ operation: OperationID, as step: ReadyStep) {
    resolved[operation] = step
  }

  /// Called when nothing of the operation will run any more.
  mutating func end(_ operation: OperationID) {
    if !resolved.isEmpty { resolved[operation] = nil }
  }
}
