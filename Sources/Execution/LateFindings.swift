// What a run finds out while it evaluates the late parts of steps, and keeps until it is asked again.

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
  /// What late steps have declared for the cache, now that it is known.
  var declarations: [OperationID: StepSettings] = [:]

  /// An operation runs again: what was found out about it is found out anew when its turn comes.
  mutating func forget(_ operation: OperationID) {
    lists[operation] = nil
    heldConditions.remove(operation)
    refusals[operation] = nil
    declarations[operation] = nil
  }
}
