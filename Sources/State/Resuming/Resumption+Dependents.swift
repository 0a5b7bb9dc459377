// The results that a skip makes useless: those of the steps that come after it.

import Plans
import Scheduling

extension Resumption {
  /// The recorded steps that are kept no more because a step which ran before did not run now. That it did not run has
  /// no moment with which theirs could be compared later, so their results go with it.
  func outdated(
    by operation: OperationID, of planned: OperationID, named name: String
  ) -> [String] {
    // A group has changed only if one of its members has.
    guard members(of: operation).isEmpty, plan.graph.takesSlot(planned),
      let before = earlier.steps[name], !before.didNotRun
    else { return [] }
    return names(behind: planned, named: name).filter { earlier.steps[$0] != nil }
  }

  /// The recorded steps of which nothing is kept because a run that went on with the earlier one has passed them over, or
  /// passed over what they depend on, and died before their turn.
  var outdatedSince: [String] {
    if earlier.passedOver.isEmpty { return [] }
    var names = Array(earlier.passedOver.keys)
    for index in plan.steps.indices {
      let operation = OperationID(index)
      if !plan.graph.takesSlot(operation) { continue }
      for name in foreseen.recordedNames(of: operation) {
        guard let moment = earlier.passedOver[name] else { continue }
        names += self.names(behind: operation, named: name).filter { other in
          earlier.steps[other].map { $0.start < moment } ?? false
        }
      }
    }
    return names
  }

  /// The names under which what waits for an operation may be recorded, also what waits for the groups that it is in.
  private func names(behind planned: OperationID, named name: String) -> [String] {
    var names: [String] = []
    let late = foreseen.lateInstances
    let groups = plan.groups.filter {
      $0.value.members.contains(planned) || $0.value.pattern?.operations.contains(planned) == true
    }
    for group in groups.keys {
      let own = late.name(of: group, in: name, planned, plan)
      names += self.names(behind: group, named: own ?? foreseen.recordedName(of: group))
    }
    plan.graph.forEachDependent(of: planned) { edge in
      // Services are only company.
      if edge.condition.waitsForReadiness, !plan.graph.takesSlot(planned) { return }
      if groups[edge.to] != nil || foreseen.isOutside(edge.to) { return }
      if let own = late.name(of: edge.to, in: name, planned, plan) {
        names += [own] + late.names(of: edge.to).names(beginningWith: own + "[")
      } else {
        names += [foreseen.recordedName(of: edge.to)] + late.names(of: edge.to)
      }
    }
    return names
  }
}
