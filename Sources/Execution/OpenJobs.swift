// Jobs that go on when oprun ends: those that a run leaves, and those that earlier runs have left, which a
// later run takes over or ends. docs/design-slurm.md, “What is open” and “Leaving”.

import Plans
import Running
import Scheduling

/// The jobs of a run, and of earlier runs of its pipeline, that may outlive their run.
///
/// No call may block. All times count from the start of the run.
protocol OpenJobs: AnyObject {
  /// The earlier runs that may still run something of the step, which can be taken over.
  func earlierRuns(of step: String) -> Set<String>

  /// Whether the command, if it were started now, would take over the job that an earlier run has of its step.
  func takesOver(_ command: Command) -> Bool

  /// Ends what earlier runs may still run of the step of an operation, and says `isOver` when nothing of that is left. The
  /// operation has ended without a start, or starts then.
  func endEarlier(_ operation: OperationID, of step: String, startsThen: Bool)

  /// The run is to end: jobs of earlier runs that `endEarlier` ends are waited for only for a while.
  func runStops(at now: Nanoseconds)

  /// Finds out whether the job of a run that is over, for which a step waits, has gone without a result. Called again and
  /// again as long as the step waits. `lock` is the name of its lock, which nobody gets during the call.
  func watchJob(making lock: String, at now: Nanoseconds)

  /// Whether these commands, which are all that run, go on even if oprun ends now, and Slurm is not being asked for
  /// anything.
  func areElsewhere(_ commands: [CommandKey]) -> Bool

  /// Leaves the jobs that nobody has asked to end, and returns their commands, of which there will be no news any more.
  func leave(at now: Nanoseconds) -> Set<CommandKey>

  /// Leaves to another run, which goes on with this one, the jobs that it has taken over, even those that were asked to
  /// end. Returns their commands, of which there will be no news any more.
  func leave(to run: String, at now: Nanoseconds) -> Set<CommandKey>

  /// From now on, no job that was asked to end is waited for: it has ended for this run, and the next one sees to it.
  func hurry(at now: Nanoseconds)

  /// The operation was settled or will be retried, so its earlier news is used up. This is not recorded yet. `step` is
  /// nil unless it succeeded: another run may still need what earlier ones have of it.
  func decided(_ operation: OperationID, of step: String?)

  /// Everything that was decided is recorded: nobody looks for it again, even if oprun dies.
  func recorded()

  /// Reports what is left of other runs. Every step has its outcome, and nothing has stopped the run.
  func conclude()
}
