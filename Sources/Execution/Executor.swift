// The interface between the loop of a run and the executors of its commands. It promises only what
// all of them can keep: a start may be unknown for a while, an end may come late, twice or without
// a status. What only some executors need has a default that does nothing.
// docs/design-execution.md, “Executors”.

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

  /// A descriptor that the executor watches under `Owner.executor` is ready; the number is the
  /// executor's choice.
  func ready(_ number: Int, at now: Nanoseconds)

  /// Handles everything that is due by now.
  func advance(to now: Nanoseconds)

  /// The time at which `advance` is due even if nothing is ready; nil if only descriptors have news.
  var deadline: Nanoseconds? { get }

  /// The text that the command wrote to `OPRUN_OUTPUT`; nil means that it is in the file of that
  /// name. Asked for once, after an attempt has exited with 0 or when a service is ready.
  func outputs(of key: CommandKey) -> [UInt8]?

  /// The news since the last call, in order.
  ///
  /// Before it reports that a command's output grew, the log is in the run's `RunLogs`; the loop
  /// removes it when the end of the command has been shown.
  func takeNews() -> [CommandNews]

  /// The marks by which another process finds the processes that this run leaves behind on this machine.
  var marks: RunMarks { get }

  /// The start times of the commands that are running.
  var startTimes: [CommandKey: Nanoseconds] { get }

  /// The processes that listen at a port of this machine; none if its commands run elsewhere.
  func holders(of server: LocalServer) -> [PortHolder]

  /// The number of descriptors that a run can use for something other than commands.
  var spareDescriptorCount: Int { get }

  /// True if the run can be watched from machines that share only its files.
  var isOnCluster: Bool { get }

  /// The jobs that need not end with their run; nil if commands always do.
  var openJobs: (any OpenJobs)? { get }

  /// Ends whatever must not live on. Called when the run is over and nothing is waited for; may
  /// take some seconds.
  func close()
}

extension Executor {
  var marks: RunMarks { RunMarks() }
  var startTimes: [CommandKey: Nanoseconds] { [:] }
  var spareDescriptorCount: Int { 0 }
  var isOnCluster: Bool { false }
  var openJobs: (any OpenJobs)? { nil }

  func outputs(of key: CommandKey) -> [UInt8]? { nil }

  func holders(of server: LocalServer) -> [PortHolder] { [] }
}

/// News about commands, or about the executor.
enum CommandNews {
  /// The log can be read up to here.
  case outputGrew(CommandKey, byteCount: Int)
  /// The command has printed more than its `log_limit`: the rest of its output is read only when it has ended.
  case outputWithheld(CommandKey)
  /// The command has ended and its log is complete. The loop ignores an end that it does not wait
  /// for: a second one, or one that comes after the command was given up as lost.
  case ended(CommandKey, CommandEnd)
  /// The command, whose end comes next, was started more than once.
  case beganAgain(CommandKey)
  /// The jobs of earlier runs that were to end for the operation's step have ended, or are not
  /// waited for any longer.
  case isOver(OperationID)
  /// Something that observers should know, but on which nothing depends.
  case event(RunEvent.Kind)
  /// State that the run must keep could not be written; the string says why.
  case stateFailed(String)
}
