// The events of a run, in order. Execution produces them, Reporting shows them; neither knows the
// other. Every screen, log and report is a fold over these.

package import Scheduling

/// One thing that happened, and when: nanoseconds of the monotonic clock since the run started.
package struct RunEvent: Sendable {
  package let time: Nanoseconds
  package let kind: Kind

  package init(at time: Nanoseconds, _ kind: Kind) {
    self.time = time
    self.kind = kind
  }

  package enum Kind: Hashable, Sendable {
    /// The first event of a run: nothing has been started yet. The case is indirect, so that other events do not take
    /// as much memory.
    indirect case began(RunBeginning)
    /// A command of the operation was started: its attempt `number` (from 1), or one of its hooks.
    case started(OperationID, CommandRole)
    /// The log of the command now holds this many bytes; it can be read up to there.
    case outputGrew(OperationID, CommandRole, byteCount: Int)
    /// The place of the command has become known or has changed.
    case placed(OperationID, CommandRole, CommandPlacement)
    /// The keys of oprun's terminal go to the command from now on, and its output goes to that
    /// terminal unchanged.
    case terminalTaken(OperationID, CommandRole)
    /// The log of the command is complete, and the terminal is oprun's again.
    case terminalReturned(OperationID, CommandRole)
    /// The command ended. The log is complete.
    case ended(OperationID, CommandRole, CommandEnd)
    /// A step was expanded during the run: there is a new operation, an instance of the step that
    /// the group stands for. Its number follows those of all others. `after` are its own
    /// dependencies; empty if these are those of the step. `isGroup` if it runs nothing and stands
    /// for others.
    case appended(
      OperationID, id: String, group: OperationID, after: [OperationID] = [], isGroup: Bool = false)
    /// The step's command and its label for people, now that the values of its expressions are
    /// known; nil for a part that was known before.
    case resolved(OperationID, command: String?, name: String? = nil)
    /// Dependencies are met, and the operation waits for something else, which the string describes.
    case waiting(OperationID, String)
    /// The service is ready: steps that depend on it may start.
    case ready(OperationID)
    /// The operation could run, but has waited for long for something that others hold.
    case heldUp(OperationID, HeldUp)
    /// The outputs of a successful attempt, reported before the operation is settled.
    case published(OperationID, [PublishedOutput])
    /// The next attempt starts after the delay; slot, mutex and resources are released.
    case retrying(OperationID, nextAttempt: Int, delay: Nanoseconds)
    /// Processes that outlived their command were found, and killed unless `orphans` says otherwise.
    case orphansFound(OperationID, processes: [OrphanProcess], action: OrphanAction)
    /// Processes of the command cannot be signalled, because they belong to another user.
    case outOfReach(OperationID, processes: [OrphanProcess])
    /// Outputs of a step that is up to date differed from those that it had made, and were restored.
    case restored(OperationID)
    /// The operation reached its outcome. This is reported once for every operation, and once more each
    /// time that it was reopened.
    case settled(OperationID, Ending, Cause)
    /// The run begins to end early: nothing new starts from here on.
    case stopping(StopReason)
    /// A user changed the run from outside; the consequences are reported after this.
    case controlled(ControlNote)
    /// The operation lost its outcome, which is the ending here: it runs again, or waits for one that does.
    case reopened(OperationID, Ending)
    /// A notice to people that belongs to no operation.
    case notice(String)
    /// The last event of a run; its own hooks have ended.
    case finished(RunEnd)
  }
}

/// The place of a command that does not run on this machine.
package struct CommandPlacement: Hashable, Sendable {
  /// The number of its job in Slurm.
  package let job: String
  /// The node that the job runs on; nil while it waits.
  package let node: String?
  /// Why the job waits, or waited, in Slurm's word.
  package let reason: String?

  package init(job: String, node: String? = nil, reason: String? = nil) {
    self.job = job
    self.node = node
    self.reason = reason
  }

  /// The placement with the reason why the job waited before it had a node.
  package func following(_ earlier: CommandPlacement?) -> CommandPlacement {
    guard reason == nil, let earlier, earlier.job == job else { return self }
    return CommandPlacement(job: job, node: node, reason: earlier.reason)
  }

  /// The words: `job 12 on n3`, `job 12 on n3 (waited: Resources)`, `job 12 waits: Resources`.
  package var words: String {
    if node == nil, let reason { return "job \(job) waits: \(reason)" }
    return wordsAfterEnd
  }

  /// The words about a command that has ended: `job 12 (waited: Resources)`.
  package var wordsAfterEnd: String {
    "job \(job)" + (node.map { " on \($0)" } ?? "") + (reason.map { " (waited: \($0))" } ?? "")
  }
}

/// The facts about a run at its beginning, apart from its plan. The plan is not part of an event:
/// an observer that needs it is created with it.
package struct RunBeginning: Hashable, Sendable {
  package let runID: String
  package let clock: RunClock
  package let host: RunHost
  /// The process id of oprun.
  package let processID: Int32
  package let marks: RunMarks
  /// The trace with the spans of the run and of its commands; nil if nobody asked for it.
  package let trace: TraceContext?

  package init(
    runID: String, clock: RunClock, host: RunHost, processID: Int32, marks: RunMarks = RunMarks(),
    trace: TraceContext? = nil
  ) {
    self.runID = runID
    self.clock = clock
    self.host = host
    self.processID = processID
    self.marks = marks
    self.trace = trace
  }
}

/// The marks by which another process recognises the processes of a run whose oprun has died.
package struct RunMarks: Hashable, Sendable {
  /// The prefix of a variable in their environment; empty if there are no such processes.
  package let cookie: String
  /// The resource limit that marks them; nil if the run set none.
  package let mark: String?

  package init(cookie: String = "", mark: String? = nil) {
    self.cookie = cookie
    self.mark = mark
  }
}

/// The moment from which the times of a run count, on two clocks, in nanoseconds.
package struct RunClock: Hashable, Sendable {
  /// The time since 1970 in UTC. The wall time of an event is the sum of this and the event's own
  /// time, even if the machine's clock is changed meanwhile.
  package let wallTime: Nanoseconds
  /// The time of `CLOCK_MONOTONIC`, for other processes on the same machine.
  package let monotonicTime: Nanoseconds

  package init(wallTime: Nanoseconds, monotonicTime: Nanoseconds) {
    self.wallTime = wallTime
    self.monotonicTime = monotonicTime
  }
}

/// The machine that oprun runs on.
package struct RunHost: Hashable, Sendable {
  package let name: String
  /// The number of processors that oprun and its steps may use.
  package let processorCount: Int

  package init(name: String, processorCount: Int) {
    self.name = name
    self.processorCount = processorCount
  }
}

extension OperationID {
  /// The run itself, which is not an operation of the graph: it has hooks and outputs.
  package static let run = OperationID(-1)
}

/// One process start for an operation: an attempt of its command, or one of its hooks.
package enum CommandRole: Hashable, Sendable {
  case attempt(Int)
  /// A command of a hook; `index` counts the commands of one hook from 1. `round` is 1, and one more
  /// each time that somebody has run the step again: its hooks then run once more.
  case hook(HookKind, index: Int, round: Int = 1)
  /// A probe of a condition of `wait_for`; conditions are counted from 1. No event reports it.
  case probe(Int)
}

/// How one command ended.
package struct CommandEnd: Hashable, Sendable {
  package enum Status: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
    /// The command never ran; the string says why: `command not found: mkae`.
    case notStarted(String, exitCode: Int32)
    /// The command exited with 0, but its outputs cannot be used; the string says why.
    case outputsRefused(String)
    /// The command belongs to another user and cannot be ended: it continues, and oprun does not
    /// wait for it.
    case abandoned
    /// It is unknown how the command ended, or whether it did; the string says why: `node n3
    /// failed`.
    case lost(String)
  }

  package private(set) var status: Status
  /// True if the time limit ended it.
  package private(set) var timedOut: Bool
  /// True if the command was asked to end because the run, or its step, was cancelled: a signal
  /// that ended it was oprun's own.
  package private(set) var isStopped: Bool
  /// The time that a service had run when it was asked to end because it was not ready; nil for all others.
  package private(set) var notReadyAfter: Nanoseconds?
  /// True if the executor knew for some time that the command was over before it reported this:
  /// neither a time limit nor somebody who cancelled it meanwhile has made it end.
  package private(set) var endedByItself: Bool
  /// True if the command ran unconfined although its step wants it confined, because the machine
  /// could not confine it.
  package let lackedConfinement: Bool
  /// The wall time of the command.
  package let duration: Nanoseconds
  /// The processor time of the command and its waited-for children, user and system.
  package let processorTime: Nanoseconds
  /// The largest resident set of any of its processes, in bytes; nil if it is not known.
  package let peakMemory: Int64?
  /// The number of bytes of output; the log may contain fewer (`log_limit`).
  package private(set) var outputByteCount: Int

  package init(
    _ status: Status, timedOut: Bool = false, isStopped: Bool = false,
    notReadyAfter: Nanoseconds? = nil, endedByItself: Bool = false,
    lackedConfinement: Bool = false, duration: Nanoseconds = 0, processorTime: Nanoseconds = 0,
    peakMemory: Int64? = nil, outputByteCount: Int = 0
  ) {
    self.status = status
    self.timedOut = timedOut
    self.isStopped = isStopped
    self.notReadyAfter = notReadyAfter
    self.endedByItself = endedByItself
    self.lackedConfinement = lackedConfinement
    self.duration = duration
    self.processorTime = processorTime
    self.peakMemory = peakMemory
    self.outputByteCount = outputByteCount
  }
}

extension CommandEnd {
  /// The end with another status.
  package func with(_ status: Status) -> CommandEnd { changed { $0.status = status } }

  /// The end, marked with the reason why oprun ended the command, if it did.
  package func marked(
    timedOut: Bool, isStopped: Bool, notReadyAfter: Nanoseconds? = nil
  ) -> CommandEnd {
    changed {
      $0.timedOut = timedOut
      $0.isStopped = isStopped
      $0.notReadyAfter = notReadyAfter
    }
  }

  /// The end of a command that had ended some time before it is reported.
  package var reportedLater: CommandEnd { changed { $0.endedByItself = true } }

  /// The end with another size of the output.
  package func with(outputByteCount: Int) -> CommandEnd {
    changed { $0.outputByteCount = outputByteCount }
  }

  private func changed(_ change: (inout CommandEnd) -> Void) -> CommandEnd {
    var end = self
    change(&end)
    return end
  }

  /// True if the command succeeded.
  package var isSuccess: Bool {
    status == .exited(0) && !timedOut && !isStopped && notReadyAfter == nil
  }
}

/// One value of `steps.<id>.outputs`.
package struct PublishedOutput: Hashable, Sendable {
  package let name: String
  package let json: String
  /// True if the value contains a secret: `json` shows `***` in its place, and is not the value.
  package let isMasked: Bool

  package init(name: String, json: String, isMasked: Bool = false) {
    self.name = name
    self.json = json
    self.isMasked = isMasked
  }
}

/// The shared things that a ready operation waits for, and their holders.
package struct HeldUp: Hashable, Sendable {
  package enum Shared: Hashable, Sendable {
    /// A slot.
    case queue(QueueID)
    /// A place in a pool: a resource, a mutex, the width of a matrix.
    case pool(PoolID)
  }

  package let shared: Shared
  package let holders: [OperationID]

  package init(_ shared: Shared, holders: [OperationID]) {
    self.shared = shared
    self.holders = holders
  }
}

package struct OrphanProcess: Hashable, Sendable {
  package let processID: Int32
  /// The kernel's name for the process, at most 15 bytes, escaped for printing.
  package let name: String
  /// The user who owns the process, if it cannot be signalled.
  package let owner: String?

  package init(processID: Int32, name: String, owner: String? = nil) {
    self.processID = processID
    self.name = name
    self.owner = owner
  }
}

package enum OrphanAction: UInt8, Sendable {
  case kill, warn, allow
}

/// How a run ended.
package struct RunEnd: Hashable, Sendable {
  /// oprun's exit status, before `--exit-code-from`.
  package let exitStatus: Int32
  package let stopReason: StopReason?
  /// True if a hook of the run itself failed.
  package let hookFailed: Bool
  /// The status with which oprun exits instead (`--exit-code-from`); nil if the command did not run.
  package var passedOn: PassedOnStatus?

  package init(
    exitStatus: Int32, stopReason: StopReason? = nil, hookFailed: Bool = false,
    passedOn: PassedOnStatus? = nil
  ) {
    self.exitStatus = exitStatus
    self.stopReason = stopReason
    self.hookFailed = hookFailed
    self.passedOn = passedOn
  }
}
