// Which services start again in a resumed run.

import Plans
package import Scheduling

extension Foresight {
  /// A service starts again if anything that depends on it may run.
  mutating func findServices() {
    guard plan.graph.hasServices else { return }
    // The steps that need a service come after it, and a group after its members.
    for service in order.reversed() where !plan.graph.takesSlot(service) {
      var isNeeded = neededServices.contains(service)
      plan.graph.forEachDependent(of: service) { edge in
        if plan.groups[edge.to]?.members.contains(service) == true { return }
        let mayRun = !isCertain(edge.to) && leftOut[edge.to] == nil && !isOutside(edge.to)
        if mayRun || neededServices.contains(edge.to) { isNeeded = true }
      }
      guard isNeeded, !skipped.contains(service) else { continue }
      start(service)
      let members = plan.groups[service]?.members ?? []
      neededServices.formUnion(members.filter { !plan.graph.takesSlot($0) })
    }
  }

  /// Whether a service has no success to keep, and does not run unless something needs it.
  func isUnneeded(_ operation: OperationID, _ before: EarlierStep?) -> Bool {
    guard !plan.graph.takesSlot(operation), !forced.contains(operation),
      !skipped.contains(operation), isServing(operation)
    else { return false }
    guard let before else { return earlier.unfinished.contains(recordedName(of: operation)) }
    return !isKeepable(before, operation)
  }

  /// Whether it is there for some steps. Others accompany all of their pipeline.
  private func isServing(_ service: OperationID) -> Bool {
    var isServing = false
    plan.graph.forEachDependent(of: service) { edge in
      let isInside = plan.groups[edge.to]?.members.contains(service) == true
      if !isInside || !plan.graph.takesSlot(edge.to) { isServing = true }
    }
    return isServing
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

  /// Whether the step will not run, whatever conditions and late values turn out to be.
  private func isCertain(_ operation: OperationID) -> Bool {
    let members = plan.groups[operation]?.members ?? []
    switch fate(of: operation) {
    // Everything that needs it was looked at before.
    case .unneeded: return true
    case .kept, .idle:
      if !members.isEmpty { return members.allSatisfy(isCertain) }
      return plan.steps[operation.index].late == nil && !unsure.contains(operation)
        && record(of: operation)?.isKeepable == true
    case .blockedAgain, .skippedAnew, .replaced, .runs: return false
    }
  }
}
