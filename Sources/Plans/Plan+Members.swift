// Tells which operations of a plan are steps, and which stand for others.

package import Scheduling

extension Plan {
  /// The number of steps as people count them: a group counts as its members, if it has any.
  package var stepCount: Int {
    groups.isEmpty ? steps.count : steps.count - groups.values.count { !$0.members.isEmpty }
  }

  /// True if the operation is a group whose members are in the plan.
  package func standsForOthers(_ operation: OperationID) -> Bool {
    groups.isEmpty ? false : groups[operation].map { !$0.members.isEmpty } ?? false
  }

  /// The ids of steps with instances that become known while running, and of the steps in such groups.
  package var expandedSteps: Set<String> { Set(expandedOperations.map { steps[$0.index].id }) }

  /// The number of steps with instances that become known while running.
  package var expandedStepCount: Int { expandedOperations.count { !standsForOthers($0) } }

  private var expandedOperations: Set<OperationID> {
    var found: Set<OperationID> = []
    var rest = groups.filter { $0.value.isExpanding }.map(\.key)
    while let operation = rest.popLast() {
      found.insert(operation)
      rest += groups[operation]?.members ?? []
    }
    return found
  }
}
