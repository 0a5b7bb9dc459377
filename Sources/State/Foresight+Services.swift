// Which services start again in a resumed run.

import Plans
package import Scheduling

extension Foresight {
  /// A service starts again if anything that depends on it may run.
  mutating func findServices() {
    guard plan.graph.hasServices else { return }
    // What needs a service comes after it, and a group after its members.
    for number in plan.graph.dependenciesFirst().reversed() {
      let service = OperationID(Int(number))
      if plan.graph.takesSlot(service) { continue }
      var isNeeded = neededServices.contains(service)
      plan.graph.forEachDependent(of: service) { edge in
        if plan.groups[edge.to]?.members.contains(service) == true { return }
        let mayRun = !isCertain(edge.to) && leftOut[edge.to] == nil && !isOutside(edge.to)
        if mayRun || neededServices.contains(edge.to) { isNeeded = true }
      }
      guard isNeeded, !skipped.contains(service) else { continue }
      neededServices.insert(service)
      leftOut[service] = nil
      let members = plan.groups[service]?.members ?? []
      neededServices.formUnion(members.filter { !plan.graph.takesSlot($0) })
    }
  }

  /// The services that `--from` or `--only` names, and that nothing needs which runs again.
  package var endlessServices: Set<OperationID> {
    let names = Set(selection.from + selection.only)
    return forced.filter { service in
      guard !plan.graph.takesSlot(service), names.contains(plan.steps[service.index].id) else {
        return false
      }
      var isNeeded = false
      plan.graph.forEachDependent(of: service) { edge in
        if edge.condition.waitsForReadiness, forced.contains(edge.to) { isNeeded = true }
      }
      return !isNeeded
    }
  }

  /// Whether the step will be kept, whatever conditions and late values turn out to be.
  private func isCertain(_ operation: OperationID) -> Bool {
    guard keptSteps.contains(operation) else { return false }
    let members = plan.groups[operation]?.members ?? []
    if !members.isEmpty { return members.allSatisfy(isCertain) }
    return plan.steps[operation.index].late == nil && !unsure.contains(operation)
      && record(of: operation)?.isKeepable == true
  }
}
