// Which steps of a resumed run need not wait for instances of a matrix to end, because nothing of them is to run.

import Diagnostics
package import Plans
import Scheduling

extension Foresight {
  /// The steps that are expected to be kept, if there is a matrix with `max_parallel` whose instances are several steps
  /// each. An instance in which hooks run again waits with all its steps, and so does what the cache would put back.
  package var idleSteps: IdleSteps {
    var idle = IdleSteps()
    guard plan.groups.values.contains(where: { $0.width != nil }) else { return idle }
    let groups = Groups(plan)
    for index in plan.steps.indices {
      let operation = OperationID(index)
      guard !plan.standsForOthers(operation), isIdle(operation) else { continue }
      idle.late.formUnion(idleInstances(of: operation))
      guard fate(of: operation).isKept, !unsure.contains(operation),
        !isInInstanceWithHooks(operation, groups)
      else { continue }
      idle.planned.insert(operation)
    }
    return idle
  }

  /// Whether nothing of it is in the way of others if it is kept.
  private func isIdle(_ operation: OperationID) -> Bool {
    let step = plan.steps[operation.index]
    let parts = step.late.map { $0.parts.expansion?.parts ?? $0.parts }
    return !isOutside(operation) && !neededServices.contains(operation)
      && parts?.looksAtFiles != true
      && (step.settings.cache == nil || cached.intact.contains(operation))
  }

  private func isInInstanceWithHooks(_ operation: OperationID, _ groups: Groups) -> Bool {
    var instance = operation
    while let group = groups.group(of: instance) {
      if plan.groups[group]?.width != nil, runsHooksAgain(instance) { return true }
      instance = group
    }
    return false
  }

  /// The instances of a step that are kept, and what they are instances of, if all of these are.
  private func idleInstances(of operation: OperationID) -> [String] {
    let names = lateInstances.names(of: operation)
    let kept = names.filter { keptInstances.contains($0) && !isBesideHooks($0, of: operation) }
    guard plan.groups[operation] != nil else { return kept }
    let whole = Set(kept.map(InstanceName.group(of:))).subtracting(
      names.filter { !kept.contains($0) }.map(InstanceName.group(of:)))
    return kept + whole
  }

  /// Whether hooks of used pipelines in the instance run again.
  private func isBesideHooks(_ instance: String, of operation: OperationID) -> Bool {
    guard let origin = earlier.steps[instance]?.origin else { return true }
    return plan.groups.keys.contains { group in
      guard hasHooks(group), lateInstances.areTogether(group, operation) else { return false }
      guard let name = lateInstances.name(of: group, in: instance, operation, plan) else {
        return true
      }
      let isInside = instance.hasPrefix(name + "/")
      return owesHooks(group, named: name, newest: isInside ? origin : 0)
    }
  }
}
