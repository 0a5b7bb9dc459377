// Time limits of groups: from the first command of one of its steps to the end of the last.

import Plans
package import Scheduling

extension RunMachine {
  /// Starts the time limit of each group around the operation whose first command this is.
  mutating func beginLimits(around operation: OperationID, at now: Nanoseconds) {
    for group in groups.around(operation) where groupStates[group].limit == .unstarted {
      groupStates[group].limit = .running
      guard let limit = groupPlan(group)?.timeout else { continue }
      timers.set(Timer(at: now + limit, operation: group, purpose: .groupTimeLimit, phase: 0))
    }
  }

  /// Cancels everything in the group that has not ended; the group times out when all of it has ended.
  mutating func expire(_ group: OperationID, at now: Nanoseconds) {
    let members = groups.members(of: group)
    guard members.contains(where: { !scheduler.state(of: $0).hasEnded }) else { return }
    groupStates[group].limit = .over
    cancel(members, .groupTimeout(group), at: now)
    tellSettled()
  }

  /// Marks the time limit of the group as exceeded in an earlier run, from which it keeps the cancelled steps.
  package mutating func rememberTimeout(of group: OperationID) { groupStates[group].limit = .over }

  mutating func endExpired(_ group: OperationID, at now: Nanoseconds) {
    let cause = Cause.timeLimit("its steps together exceeded 'timeout'")
    endByItself(group, as: ownFailure(of: group, .timedOut), cause, at: now)
  }
}
