// Steps that were cancelled in an earlier run because of a failure that was allowed, and are kept like that.

import Plans
import Scheduling

extension Resumption {
  /// Why a step was given up in the run in which it was.
  func reason(givingUp before: EarlierStep) -> Cause {
    guard let operation = before.givenUpFor.flatMap(operation) else { return .itself }
    let isGroup = !members(of: operation).isEmpty
    let reason = isGroup ? StopReason.groupTimeout(operation) : .failure(operation)
    return before.didNotRun ? .stopped(reason) : .stoppedEarlier(reason)
  }

  /// The end of a step that was given up before it began, together with one that is kept now and would block it; nil if
  /// it was not, or is not kept.
  func keptGivenUp(
    _ operation: OperationID, of planned: OperationID, with other: OperationID,
    as step: RememberedStep
  ) -> KeptStep? {
    guard let before = earlier.steps[step.id], before.didNotRun, let culprit = before.givenUpFor,
      name(of: other).flatMap({ earlier.steps[$0]?.givenUpFor }) == culprit
    else { return nil }
    return kept(operation, of: planned, as: step)
  }

  /// Whether the time limit of a group was over, which was allowed, and it keeps steps that were cancelled then.
  func hadTimedOut(_ group: OperationID) -> Bool {
    guard let name = name(of: group), let before = earlier.steps[name],
      before.outcome.ending == Ending(.timedOut, isAllowed: true)
    else { return false }
    return keepsGivenUp(in: group, for: name)
  }

  private func keepsGivenUp(in group: OperationID, for culprit: String) -> Bool {
    members(of: group).contains { member in
      isKeeping(member) && name(of: member).flatMap { earlier.steps[$0]?.givenUpFor } == culprit
        || keepsGivenUp(in: member, for: culprit)
    }
  }
}
