// What a run knows of the one that it resumes, as the loop asks for it. Who remembers, and where,
// is no concern of those who run.

package import Scheduling

/// A step that need not run, because it did before.
package struct KeptStep: Hashable, Sendable {
  /// Cached if it succeeded before; the same ending again if it failed before and was allowed to, or was cancelled
  /// because of such a failure.
  package let ending: Ending
  package let cause: Cause
  package let outputs: [PublishedOutput]

  package init(_ ending: Ending, _ cause: Cause = .itself, outputs: [PublishedOutput]) {
    self.ending = ending
    self.cause = cause
    self.outputs = outputs
  }
}

/// The hooks that a used pipeline has to run in a run that is resumed.
package enum GroupHookDuty: Sendable {
  /// The hooks of its ending, if something in it ran.
  case asUsual
  /// The hooks of its ending although nothing in it ran: before, they did not come to their end, or failed.
  case owed
  /// None of the hooks after a success: a part of it is left out, and may run later.
  case notOfSuccess
}

/// Remembers what steps were when they ran.
package protocol RunMemory: AnyObject {
  /// True if another run is resumed: every step is asked about before it runs. Otherwise only those
  /// are told of that become known while running.
  var isOfEarlierRun: Bool { get }

  /// The steps that are expected to be kept, if instances of a matrix, of several steps each, wait for others to end.
  var idleSteps: IdleSteps { get }

  /// Why the step does not run, although nothing is known to be wrong with it; asked before its
  /// conditions are looked at.
  func reasonToLeaveOut(_ operation: OperationID) -> String?

  /// Whether the step is left out although it ran before: what stands for it has no whole result then.
  func leavesGap(_ operation: OperationID) -> Bool

  /// Receives the resolved form of a step of which something was not known before; called before anything else is
  /// asked about it.
  func noteResolved(_ operation: OperationID, as step: ReadyStep)

  /// What became of the step before, if it is still what it was; nil if it must run. Asked when
  /// everything that it depends on has ended.
  func kept(_ operation: OperationID, as step: ReadyStep) -> KeptStep?

  /// The same for a step that was given up before it began, together with another one that is kept now and that it waits
  /// for; nil if it was not.
  func keptGivenUp(_ operation: OperationID, with other: OperationID) -> KeptStep?

  /// Whether nothing that the step depends on has run since that run, which this one resumes, or one before it: what
  /// that run has started of the step may be taken over. Asked when everything that it depends on has ended.
  func isUpstreamUnchanged(of operation: OperationID, since run: String) -> Bool

  /// What became of the step before, if only a part of the run is resumed and the step is no part of that: whatever it
  /// is now, it does not run. Asked about a step that is not kept.
  func held(_ operation: OperationID, _ allowance: AllowFailure) -> KeptStep?

  /// Whether `held` has an answer for the operation.
  func mayHold(_ operation: OperationID) -> Bool

  /// The hooks that the group has to run. Asked when all members of it have ended.
  func hooks(of group: OperationID) -> GroupHookDuty

  /// Whether the time limit of a group was over before, which was allowed, and steps of it are kept that were cancelled
  /// then.
  func hadTimedOut(_ group: OperationID) -> Bool
}
