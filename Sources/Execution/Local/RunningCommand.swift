// A command that was started and has not been reported as ended.

import Plans
import Running
import Scheduling

/// One started process with its group, its pipe and its log.
final class RunningCommand {
  let key: CommandKey
  let orphans: OrphanAction
  /// The directory as the user named it; nil means where oprun was started.
  let directory: String?
  /// The number of the command in the run, which is part of the cookie.
  let number: Int
  /// The id of the process, and of its process group.
  let processID: Int32
  let startedAt: Nanoseconds
  /// The start on the clock of `/proc/<id>/stat`, or a moment before.
  let startTicks: UInt64
  /// The program as the user named it.
  let program: String
  /// True if that is the shell of a script.
  let isShell: Bool
  /// The script that `sh` runs; nil for any other command.
  let script: String?
  let pipe: OutputPipe
  let launch: LaunchSlot
  var log: Log
  /// The files and rules that were made for the command; nil if it needs none.
  var prepared: PreparedStart?

  /// Set when the process was reaped; processes that it left behind may live on.
  var exit: Exit?
  var lastOutputAt: Nanoseconds = 0
  /// True if it was reported that it has printed more than its log keeps.
  var hasSaidLimit = false
  /// The signal that asked the command to end; its orphans are asked by the same one, and have
  /// until the kill to end by themselves.
  var stopSignal: Int32?
  /// The orphans that were asked to end.
  var askedOrphans: Set<Int32> = []
  var isKilled = false
  var isStopping: Bool { isKilled || stopSignal != nil }
  /// When oprun stops waiting for a command that could not be killed, because it is another user's process.
  var abandonAt: Nanoseconds?
  /// The orphans that have already been reported.
  var reportedOrphans: Set<Int32> = []
  /// The processes that cannot be signalled and have already been reported.
  var reportedOutOfReach: Set<Int32> = []

  /// When the command is examined again, because the owner of a process is not known yet.
  var lookAgainAt: Nanoseconds?
  /// True if a process without a known owner may have been started by the command.
  var hasUnownedBeside = false
  /// True if no process is in its group or session any more, so that the number may be reused.
  var isGroupGone = false

  /// True if some of its processes live on because they cannot be ended.
  var hasLostProcesses = false

  struct Exit {
    let status: CommandEnd.Status
    let processorTime: Nanoseconds
    let peakMemory: Int64?
    let at: Nanoseconds
    /// True if oprun had killed the command, or asked it to end.
    let wasWanted: Bool
  }

  init(
    _ command: borrowing Command, number: Int, processID: Int32, startedAt: Nanoseconds,
    startTicks: UInt64, program: String, pipe: OutputPipe, launch: LaunchSlot,
    log: consuming Log
  ) {
    key = command.key
    orphans = command.orphans
    directory = command.directory
    self.number = number
    self.processID = processID
    self.startedAt = startedAt
    self.startTicks = startTicks
    self.program = program
    if case .script(let text, let shell) = command.work {
      isShell = shell.first == program
      script = shell.first == "/bin/sh" ? text : nil
    } else {
      isShell = false
      script = nil
    }
    self.pipe = pipe
    self.launch = launch
    self.log = log
  }

  /// The end of the command, as it is reported now. A signal to all processes at once, as from a
  /// service manager, may be the reason of an end that is found in the same turn as the signal to
  /// oprun; of an earlier end it cannot be.
  func end(at now: Nanoseconds) -> CommandEnd? {
    exit.map {
      CommandEnd(
        $0.status, endedByItself: !$0.wasWanted && stopSignal == nil && $0.at < now,
        lackedConfinement: prepared?.lacksConfinement == true,
        duration: $0.at - startedAt, processorTime: $0.processorTime, peakMemory: $0.peakMemory,
        outputByteCount: log.byteCount)
    }
  }
}
