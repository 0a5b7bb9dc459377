// Which hooks of used pipelines a resumed run owes.

import Plans
import Scheduling

extension Foresight {
  /// Used pipelines that are kept, and whose hooks run again.
  var owedHooks: [OperationID] { order.filter { fate(of: $0) == .runs(.hooks) } }

  /// Used pipelines whose hooks run again only because those of a pipeline inside do.
  var hooksAround: [OperationID] {
    order.filter { fate(of: $0) == .runs(.innerHooks) && hasHooks($0) }
  }

  /// Whether hooks of a used pipeline run again in the group, and nothing else.
  func runsHooksAgain(_ group: OperationID) -> Bool {
    fate(of: group) == .runs(.innerHooks) || fate(of: group) == .runs(.hooks) && !isOutside(group)
  }

  /// Whether it is a used pipeline with hooks.
  func hasHooks(_ group: OperationID) -> Bool {
    if plan.steps[group.index].settings.hooks.isEmpty { return false }
    if case .nested? = plan.groups[group]?.kind { return true }
    return false
  }

  /// The last run in which a used pipeline in the group ended: its hooks may have run, and nothing else. 0 if there is none.
  func lastRun(ofHooksIn group: GroupPlan) -> Int {
    group.members.reduce(0) { last, member in
      if hasHooks(member) { return max(last, record(of: member)?.origin ?? 0) }
      return max(last, plan.groups[member].map(lastRun) ?? 0)
    }
  }

  /// Whether the hooks of a group, which is a used pipeline, are others now, or did not come to their end, or failed. `newest` is the last
  /// run in which something in it ran: if that is a later one than the group ended in, oprun died before its hooks ended.
  func owesHooks(_ group: OperationID, named name: String, newest: Int) -> Bool {
    guard hasHooks(group) else { return false }
    guard let before = earlier.steps[name] else { return true }
    // The group had failed, but nothing in it fails now.
    let ending = before.outcome.ending
    if ending.outcome.isFailure, !ending.isAllowed { return true }
    return before.isFailedHook || ending.outcome == .cancelled
      || before.outcome.isLeftOut || before.origin < newest
      || earlier.isEdited(name, plan.steps[group.index], masker)
  }
}
