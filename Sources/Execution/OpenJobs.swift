// Jobs that go on when oprun ends: those that a run leaves, and those that earlier runs have left,
// which a later run takes over or ends. docs/design-slurm.md, “What is open” and “Leaving”.

import Plans
import Running
import Scheduling

/// The jobs of a run, and of earlier runs of its pipeline, that may outlive their run.
///
/// No call may block. All times count from the start of the run.
protocol OpenJobs: AnyObject {
  /// The earlier runs that may still have jobs of the step, which can be taken over.
  func earlierRuns(of step: String) -> Set<String>

  /// True if the command, if it were started now, would take over the job that an earlier run has of its step.
  func takesOver(_ command: Command) -> Bool

  /// Ends the jobs of the step that earlier runs may still have, and reports `isOver` when none of
  /// them is left. The operation has ended without a start, or starts then.
  func endEarlier(_ operation: OperationID, of step: String, startsThen: Bool)

  /// Called when the run is to end: from then on, the jobs that `endEarlier` ends are waited for
  /// only for a while.
  func runStops(at now: Nanoseconds)

  /// Finds out whether the job of a run that is over, for which a step waits, has gone without a
  /// result. Called again and again as long as the step waits. `lock` is the name of its lock,
  /// which nobody gets during the call.
  func watchJob(making lock: String, at now: Nanoseconds)

  /// True if these commands, which are all that run, go on even if oprun ends now, and no call of
  /// Slurm is under way.
  func areElsewhere(_ commands: [CommandKey]) -> Bool

  /// Leaves the jobs that nobody has asked to end, and returns their commands, of which there will be no news any more.
  func leave(at now: Nanoseconds) -> Set<CommandKey>

  /// Leaves to another run, which goes on with this one, the jobs that it has taken over, even those that were asked to
  /// end. Returns their commands, of which there will be no news any more.
  func leave(to run: String, at now: Nanoseconds) -> Set<CommandKey>

  /// Stops waiting for jobs that were asked to end: they have ended for this run, and the next run
  /// handles what is left of them.
  func hurry(at now: Nanoseconds)

  /// Called when the operation was settled or will be retried, so its earlier news is used up; the
  /// decision is not recorded yet. `step` is nil unless the operation succeeded: otherwise another
  /// run may still need the jobs that earlier ones have of it.
  func decided(_ operation: OperationID, of step: String?)

  /// Called when all decisions are recorded: nobody will look for the jobs again, even if oprun dies.
  func recorded()

  /// Reports what is left of other runs. Called when every step has its outcome, and nothing has
  /// stopped the run.
  func conclude()
}
