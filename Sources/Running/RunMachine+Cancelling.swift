// Ends a part of a run while the rest goes on: `fail_fast`, the failure policies of used pipelines,
// time limits of groups, and people. It does not know the end of the whole run.

import Plans
import Scheduling

extension RunMachine {
  /// Cancels one operation, with everything inside it.
  mutating func cancel(
    _ operation: OperationID, _ reason: StopReason, at now: Nanoseconds
  ) {
    cancel([operation], reason, at: now)
  }

  /// Cancels operations, with everything inside them; none of them is blocked by another. A group ends by itself,
  /// after its members.
  mutating func cancel(
    _ operations: [OperationID], _ reason: StopReason, at now: Nanoseconds
  ) {
    let parts = operations.flatMap { unendedParts(of: $0) }
    for operation in parts { withdraw(operation) }
    let idle = parts.filter { active[$0] == nil && groups.members(of: $0).isEmpty }
    for operation in idle { setGate(of: operation, to: nil) }
    scheduler.settle(idle, as: Ending(.cancelled), cause: .stopped(reason))
    for operation in parts {
      cancelGathered(operation, reason, at: now)
      switch active[operation]?.role {
      case .attempt: cancelCommand(of: operation, reason, at: now)
      case .hook where reason.endsHooks: cancelCommand(of: operation, reason, at: now)
      case .hook, .probe: break
      case nil: cancelRetry(of: operation, reason, at: now)
      }
    }
  }

  /// Cancels a group whose members have all ended well and whose outputs are not known yet. It runs
  /// the hooks of a cancelled group.
  private mutating func cancelGathered(
    _ group: OperationID, _ reason: StopReason, at now: Nanoseconds
  ) {
    guard case .asked(.join) = gate(of: group), groupStates[group].limit != .over,
      !blocksDependents(group)
    else { return }
    endByItself(group, as: Ending(.cancelled), .stopped(reason), at: now)
  }

  /// The operation and everything inside it that has not ended. Groups come after their members.
  func unendedParts(of operation: OperationID) -> [OperationID] {
    let inner = groups.members(of: operation).flatMap { unendedParts(of: $0) }
    return scheduler.state(of: operation).hasEnded ? inner : inner + [operation]
  }

  /// Cancels, for `fail_fast`, the other members of every such group around the operation. The
  /// member that contains the failed operation continues: it has failed in any case.
  mutating func failFast(_ operation: OperationID, at now: Nanoseconds) {
    var failed = operation
    while stopReason == nil, let group = groups.group(of: failed) {
      followPolicy(of: group, operation, at: now)
      if groupPlan(group)?.isFailFast == true {
        let others = groups.members(of: group).filter { $0 != failed }
        cancel(others, .failure(operation), at: now)
        tellSettled()
      }
      if groups.forgives(group) { return }
      failed = group
    }
  }

  /// Applies the failure policy of the pipeline that the operation is in to its other steps.
  private mutating func followPolicy(
    of group: OperationID, _ failed: OperationID, at now: Nanoseconds
  ) {
    let policy = groupPlan(group)?.failurePolicy ?? .continue
    if policy == .continue { return }
    if policy == .stop { groupStates[group].startsNothing = true }
    let others = groups.unendedSteps(of: group, in: scheduler).filter { step in
      step != failed && (policy == .cancel || active[step]?.role == nil)
    }
    cancel(others, .failure(failed), at: now)
    tellSettled()
  }
}
