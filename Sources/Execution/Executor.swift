// The seam between the loop of a run and those who run its commands. It holds nothing that only one
// of them has: a start may be unknown for a while, an end may come late, twice or without a status.
// docs/design-execution.md, “Executors”.

import Plans
import Running
import Scheduling

/// Runs the commands of a run: as processes of this machine, on a cluster, in a test.
///
/// It decides nothing about steps. The loop calls it, asks for news whenever something may have
/// happened, and waits for its descriptors and its deadline in the meantime; nothing here may wait.
/// All times count from the start of the run.
protocol Executor: AnyObject {
  /// Commands that can run at once, whatever the queues allow.
  var commandLimit: Int { get }

  /// Starts a command, or begins to. What becomes of it is news, also that it cannot be started:
  /// each command has an end sooner or later, and one of which nobody can know more is `lost`.
  func start(_ command: Command, at now: Nanoseconds)

  /// Asks a command to end; it may have ended already.
  func stop(_ key: CommandKey, with signal: Int32, at now: Nanoseconds)

  /// Ends a command now, with all that belongs to it. Its end is still to be told.
  func kill(_ key: CommandKey, at now: Nanoseconds)

  /// A descriptor that it watches under `Owner.executor` is ready; the number is its own.
  func ready(_ number: Int, at now: Nanoseconds)

  /// Everything whose time has come by now.
  func advance(to now: Nanoseconds)

  /// When `advance` is due although nothing is ready; nil if only descriptors have news.
  var deadline: Nanoseconds? { get }

  /// What happened since the last call, in order.
  ///
  /// Before it says that a command's output grew, its log stands in the run's `RunLogs`; the loop
  /// takes it out when the end of the command was shown.
  func takeNews() -> [CommandNews]

  /// The run is over, and nobody waits for anything: what may not go on is ended.
  func close()
}

/// What happened to commands, or to those who run them.
enum CommandNews {
  /// The log can be read up to here.
  case outputGrew(CommandKey, byteCount: Int)
  /// The command has ended and its log is complete. The loop passes over an end that it does not
  /// wait for: a second one, or one that comes after the command was given up as lost.
  case ended(CommandKey, CommandEnd)
  /// What observers should know, and nothing hangs on.
  case event(RunEvent.Kind)
  /// What the run keeps of its commands could not be kept; in words, why.
  case stateFailed(String)
}
