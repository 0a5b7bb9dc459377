// The memory of a run about the one that it resumes, as the loop asks for it. The code that runs
// steps does not know who remembers, or where.

package import Scheduling

/// A step that need not run, because it ran before.
package struct KeptStep: Hashable, Sendable {
  /// Cached if it succeeded before; the earlier ending if it failed and was allowed to, or was
  /// cancelled because of such a failure.
  package let ending: Ending
  package let cause: Cause
  package let outputs: [PublishedOutput]

  package init(_ ending: Ending, _ cause: Cause = .itself, outputs: [PublishedOutput]) {
    self.ending = ending
    self.cause = cause
    self.outputs = outputs
  }
}

/// The hooks of a nested pipeline to run in a resumed run.
package enum GroupHookDuty: Sendable {
  /// The hooks of its ending, if a step in it ran.
  case asUsual
  /// The hooks of its ending although no step in it ran: before, they did not come to their end, or failed.
  case owed
  /// No hooks of success: a part of it is left out, and may run later.
  case notOfSuccess
}

/// Remembers the states of steps in earlier runs.
package protocol RunMemory: AnyObject {
  /// True if another run is resumed: then every step is asked about before it runs. Otherwise only
  /// steps that become known while running are reported.
  var isOfEarlierRun: Bool { get }

  /// The steps that are expected to be kept, where instances of several steps each wait for others to end
  /// (`max_parallel` of a matrix).
  var idleSteps: IdleSteps { get }

  /// Why the step does not run, although nothing is known to be wrong with it. Asked before its
  /// conditions are evaluated.
  func reasonToLeaveOut(_ operation: OperationID) -> String?

  /// True if the step is left out although it ran before: then its enclosing groups have no complete result.
  func leavesGap(_ operation: OperationID) -> Bool

  /// Receives the resolved form of a step of which something was not known before; called before anything else is
  /// asked about it.
  func noteResolved(_ operation: OperationID, as step: ReadyStep)

  /// Receives a number for the result of a cached step, which was found or is about to be kept: other results have other
  /// numbers. For a step that is found, called before `kept`.
  func noteResult(_ operation: OperationID, _ number: Int)

  /// The earlier state of the step, if it is still valid; nil if the step must run. Asked when all
  /// its dependencies have ended.
  func kept(_ operation: OperationID, as step: ReadyStep) -> KeptStep?

  /// The earlier state of a step that was given up before it began, together with another one that
  /// it waits for and that is kept now; nil if it was not.
  func keptGivenUp(_ operation: OperationID, with other: OperationID) -> KeptStep?

  /// True if no dependency of the step has run since that run, which this one resumes, or an
  /// earlier one: then a job of the step from that run may be taken over. Asked when all
  /// dependencies have ended.
  func isUpstreamUnchanged(of operation: OperationID, since run: String) -> Bool

  /// The earlier state of the step, if only a part of the run is resumed to which the step does not
  /// belong: whatever the step is now, it does not run. Asked about a step that is not kept.
  func held(_ operation: OperationID, _ allowance: AllowFailure) -> KeptStep?

  /// True if `held` has an answer for the operation.
  func mayHold(_ operation: OperationID) -> Bool

  /// The hooks of the group to run. Asked when all its members have ended.
  func hooks(of group: OperationID) -> GroupHookDuty

  /// True if the group's time limit was exceeded before, which was allowed, and steps of it are
  /// kept that were cancelled then.
  func hadTimedOut(_ group: OperationID) -> Bool
}
