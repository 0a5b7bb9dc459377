// The interface between the loop of a run and the executors of its commands. It promises only what all
// of them can keep: a start may be unknown for a while, an end may come late, twice or without a status.
// What only some executors need has a default that does nothing. docs/design-execution.md, “Executors”.

import Plans
import Running
import Scheduling

/// Runs the commands of a run: as processes on this machine, on a cluster, in a test.
///
/// It decides nothing about steps. The loop calls it, asks for news whenever something may have
/// happened, and waits for its descriptors and its deadline in the meantime; no call here may
/// block. All times count from the start of the run.
protocol Executor: AnyObject {
  /// The number of commands that can run at the same time, whatever the queues allow.
  var commandLimit: Int { get }

  /// Starts a command, or begins to. Everything that follows is news, including that it cannot be
  /// started: each command has an end sooner or later, and one about which nothing more can be
  /// learned is `lost`.
  func start(_ command: Command, at now: Nanoseconds)

  /// Asks a command to end; it may have ended already.
  func stop(_ key: CommandKey, with signal: Int32, at now: Nanoseconds)

  /// Kills a command now, with everything that belongs to it. Its end is still reported as news.
  func kill(_ key: CommandKey, at now: Nanoseconds)

  /// The earlier runs that may still run something of the step elsewhere, which can be taken over.
  func earlierRuns(of step: String) -> Set<String>

  /// Whether the command would, if it were started now, take over what an earlier run has of its step as it is.
  func takesOver(_ command: Command) -> Bool

  /// Ends what earlier runs may still run of the step of an operation, and says `isOver` when nothing of that is left. The
  /// operation has ended without a start, or starts then.
  func endEarlier(_ operation: OperationID, of step: String, startsThen: Bool)

  /// The run is to end: what `endEarlier` was called for, or is, is waited for only for a while.
  func runStops(at now: Nanoseconds)

  /// A step waits for the job of a run that is over: if that is gone without a result, it is to be known. Called again and
  /// again as long as the step waits. `lock` is the name of its lock, which nobody gets during the call.
  func watchJob(making lock: String, at now: Nanoseconds)

  /// Whether these commands, which are all that run, go on elsewhere even if oprun ends now, and nothing is being asked
  /// there.
  func areElsewhere(_ commands: [CommandKey]) -> Bool

  /// Leaves what goes on elsewhere to itself, unless it was asked to end: returns these commands, of which there will be
  /// no news any more.
  func leave(at now: Nanoseconds) -> Set<CommandKey>

  /// Leaves to another run, which goes on with this one, whatever that has taken over, even if it was asked to end: returns
  /// these commands, of which there will be no news any more.
  func leave(to run: String, at now: Nanoseconds) -> Set<CommandKey>

  /// From now on, nothing elsewhere is waited for that is asked to end, or was: it has ended for this run, and the next
  /// one sees to it.
  func hurry(at now: Nanoseconds)

  /// What was reported of the operation until now is decided: it has its outcome, or is tried again. That is not
  /// recorded yet. The step is nil if another run may still need what earlier ones have of it: it has not succeeded.
  func decided(_ operation: OperationID, of step: String?)

  /// Everything that was decided is recorded: nobody looks for it again, whatever becomes of oprun.
  func recorded()

  /// Every step has its outcome, and nothing stopped the run: whatever is left of other runs is reported.
  func conclude()

  /// A descriptor that it watches under `Owner.executor` is ready; the number is the executor's
  /// choice.
  func ready(_ number: Int, at now: Nanoseconds)

  /// Handles everything that is due by now.
  func advance(to now: Nanoseconds)

  /// When `advance` is due even if nothing is ready; nil if only descriptors have news.
  var deadline: Nanoseconds? { get }

  /// What the command wrote to `OPRUN_OUTPUT`; nil means that it is in the file of that name. Asked for
  /// once, after an attempt has exited with 0 or when a service is ready.
  func outputs(of key: CommandKey) -> [UInt8]?

  /// The news since the last call, in order.
  ///
  /// Before it reports that a command's output grew, the log is in the run's `RunLogs`; the loop
  /// removes it when the end of the command has been shown.
  func takeNews() -> [CommandNews]

  /// The marks by which another process finds what this run leaves behind on this machine.
  var marks: RunMarks { get }

  /// When the commands started that run now.
  var startTimes: [CommandKey: Nanoseconds] { get }

  /// The processes that listen at a port of this machine; none if its commands run elsewhere.
  func holders(of server: LocalServer) -> [PortHolder]

  /// The number of descriptors that a run can use for something other than commands.
  var spareDescriptorCount: Int { get }

  /// Whether others may look at the run from machines that share only its files.
  var isOnCluster: Bool { get }

  /// Called when the run is over and nothing is waited for: whatever must not live on is ended. This may take some
  /// seconds.
  func close()
}

extension Executor {
  var marks: RunMarks { RunMarks() }
  var startTimes: [CommandKey: Nanoseconds] { [:] }
  var spareDescriptorCount: Int { 0 }
  var isOnCluster: Bool { false }

  func outputs(of key: CommandKey) -> [UInt8]? { nil }

  func holders(of server: LocalServer) -> [PortHolder] { [] }

  func earlierRuns(of step: String) -> Set<String> { [] }

  func takesOver(_ command: Command) -> Bool { false }

  func endEarlier(_ operation: OperationID, of step: String, startsThen: Bool) {}

  func runStops(at now: Nanoseconds) {}

  func watchJob(making lock: String, at now: Nanoseconds) {}

  func areElsewhere(_ commands: [CommandKey]) -> Bool { false }

  func leave(at now: Nanoseconds) -> Set<CommandKey> { [] }

  func leave(to run: String, at now: Nanoseconds) -> Set<CommandKey> { [] }

  func hurry(at now: Nanoseconds) {}

  func decided(_ operation: OperationID, of step: String?) {}

  func recorded() {}

  func conclude() {}
}

/// News about commands, or about the executor.
enum CommandNews {
  /// The log can be read up to here.
  case outputGrew(CommandKey, byteCount: Int)
  /// The command has printed more than its `log_limit`: what follows is read only when it has ended.
  case outputWithheld(CommandKey)
  /// The command has ended and its log is complete. The loop ignores an end that it does not wait
  /// for: a second one, or one that comes after the command was given up as lost.
  case ended(CommandKey, CommandEnd)
  /// The command, whose end comes next, was begun more than once.
  case beganAgain(CommandKey)
  /// Nothing of the step goes on elsewhere that was to end, or it is not waited for any more.
  case isOver(OperationID)
  /// Something that observers should know, but on which nothing depends.
  case event(RunEvent.Kind)
  /// Something that the run must keep could not be kept; the string says why.
  case stateFailed(String)
}
