// A command that was started and has not been reported as ended.

import Plans
import Running
import Scheduling

/// One started process with its group, its pipe and its log.
final class RunningCommand {
  let key: CommandKey
  let orphans: OrphanAction
  /// As the user named it; nil for where oprun was started.
  let directory: String?
  /// Counts the commands of the run; part of the cookie.
  let number: Int
  /// Also the id of its process group.
  let processID: Int32
  let startedAt: Nanoseconds
  /// As the user named it.
  let program: String
  let pipe: OutputPipe
  let launch: LaunchSlot
  var log: Log

  /// Set when the process was reaped; what it left behind may go on.
  var exit: Exit?
  var lastOutputAt: Nanoseconds = 0
  /// It was asked to end: what it leaves behind has until the kill to end by itself.
  var isStopping = false
  var isKilled = false
  /// It was killed in vain: it is another user's process, and is waited for until then.
  var abandonAt: Nanoseconds?
  /// Orphans that were already told of.
  var reportedOrphans: Set<Int32> = []
  /// Processes that cannot be signalled and were already told of.
  var reportedOutOfReach: Set<Int32> = []

  /// Some of its processes go on, since they cannot be ended.
  var hasLostProcesses = false

  struct Exit {
    let status: CommandEnd.Status
    let processorTime: Nanoseconds
    let peakMemory: Int64
    let at: Nanoseconds
  }

  init(
    _ command: Command, number: Int, processID: Int32, startedAt: Nanoseconds, program: String,
    pipe: OutputPipe, launch: LaunchSlot, log: consuming Log
  ) {
    key = command.key
    orphans = command.orphans
    directory = command.directory
    self.number = number
    self.processID = processID
    self.startedAt = startedAt
    self.program = program
    self.pipe = pipe
    self.launch = launch
    self.log = log
  }

  var end: CommandEnd? {
    exit.map {
      CommandEnd(
        $0.status, duration: $0.at - startedAt, processorTime: $0.processorTime,
        peakMemory: $0.peakMemory, outputByteCount: log.byteCount)
    }
  }
}
