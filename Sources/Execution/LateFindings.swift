// The findings of a run about late steps, kept until the run asks again.

import Expressions
import Plans
import Scheduling

struct LateFindings {
  /// The outputs of all instances of groups that have ended.
  var lists: [OperationID: Value] = [:]
  /// Groups whose conditions were found to hold.
  var heldConditions: Set<OperationID> = []
  /// The values of `vars` that were computed while running.
  var vars: [LateVarNumber: Value] = [:]
  /// Commands that cannot run, and why: a value that is not allowed in them.
  var refusals: [OperationID: [StepPart: String]] = [:]
  /// The cache declarations of late steps, now that they are known.
  var declarations: [OperationID: StepSettings] = [:]

  /// Forgets what was found out about an operation that runs again: it is found out anew at its gate.
  mutating func forget(_ operation: OperationID) {
    lists[operation] = nil
    heldConditions.remove(operation)
    refusals[operation] = nil
    declarations[operation] = nil
  }
}
