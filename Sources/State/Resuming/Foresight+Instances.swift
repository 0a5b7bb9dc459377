// Which recorded instances of a step are kept, if its matrix is known only while running.

import Plans
import Scheduling

extension Foresight {
  func isKept(_ instance: String, _ operation: OperationID) -> Bool {
    guard let before = earlier.steps[instance],
      isKeepable(before, operation)
        || before.outcome.ending.outcome.isOfNothing && !before.outcome.isLeftOut
    else { return false }
    return plan.graph.dependencies(of: operation).allSatisfy { edge in
      if isUnchanged(edge, since: before.start) { return true }
      return lateInstances.name(of: edge.from, in: instance, operation, plan).map {
        isKept($0, edge.from, since: before.start)
      } ?? false
    }
  }

  /// Whether a step, or all of a group, is kept in an instance of the group around it, in which it has this name.
  private func isKept(_ name: String, _ operation: OperationID, since start: Moment) -> Bool {
    var names = [name]
    if plan.groups[operation] != nil {
      // Only one that has ended has all its instances.
      guard earlier.steps[name]?.outcome.isLeftOut == false, !hasHooksInside(operation) else {
        return false
      }
      names = steps(of: operation, in: name)
    }
    return !names.isEmpty
      && names.allSatisfy { keptInstances.contains($0) && settled(ofRecorded: $0) <= start }
  }

  /// The recorded steps of a group that has this name.
  private func steps(of operation: OperationID, in name: String) -> [String] {
    let members = plan.groups[operation]?.members ?? []
    if !members.isEmpty { return members.flatMap { steps(of: $0, in: name) } }
    let names = lateInstances.names(of: operation)
    return ["[", "/"].flatMap { names.names(beginningWith: name + $0) }
  }

  private func hasHooksInside(_ group: OperationID) -> Bool {
    hasHooks(group) || plan.groups[group]?.members.contains(where: hasHooksInside) == true
  }
}
