// What happens during a run, in order. Execution says it, Reporting shows it; neither knows the
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
    /// The first event of a run: nothing was started yet.
    case began(RunBeginning)
    /// A command of the operation was started: its attempt `number` (from 1), or one of its hooks.
    case started(OperationID, CommandRole)
    /// The log of the command now holds this many bytes; it can be read up to there.
    case outputGrew(OperationID, CommandRole, byteCount: Int)
    /// The command ended. The log is complete.
    case ended(OperationID, CommandRole, CommandEnd)
    /// A step was expanded while running: a new operation, an instance of the step that the group
    /// stands for. Its number follows those of all others.
    case appended(OperationID, id: String, group: OperationID)
    /// The step's command, now that the values of its expressions are known.
    case resolved(OperationID, command: String)
    /// Dependencies are met, and the operation waits for something else: in words.
    case waiting(OperationID, String)
    /// The service is ready: what depends on it may start.
    case ready(OperationID)
    /// The operation could run, and has waited for long for what others hold.
    case heldUp(OperationID, HeldUp)
    /// The values that a successful attempt gives to other steps. Told before it is settled.
    case published(OperationID, [PublishedOutput])
    /// The next attempt starts after the delay; slot, mutex and resources are given back.
    case retrying(OperationID, nextAttempt: Int, delay: Nanoseconds)
    /// Processes that outlived their command were found, and killed unless `orphans` says otherwise.
    case orphansFound(OperationID, processes: [OrphanProcess], action: OrphanAction)
    /// Processes of the command that cannot be signalled, because they are another user's.
    case outOfReach(OperationID, processes: [OrphanProcess])
    /// The operation reached its final outcome. Told once for every operation.
    case settled(OperationID, Ending, Cause)
    /// The run begins to end before its time: nothing new starts from here on.
    case stopping(StopReason)
    /// Something a person should know that belongs to no operation.
    case notice(String)
    /// The last event of a run; its own hooks have ended.
    case finished(RunEnd)
  }
}

/// What is known of a run when it begins, beside its plan. The plan is not an event's business: who
/// needs it is made with it.
package struct RunBeginning: Hashable, Sendable {
  package let runID: String
  package let clock: RunClock
  package let host: RunHost
  /// That of oprun.
  package let processID: Int32

  package init(runID: String, clock: RunClock, host: RunHost, processID: Int32) {
    self.runID = runID
    self.clock = clock
    self.host = host
    self.processID = processID
  }
}

/// The moment from which the times of a run count, on two clocks, in nanoseconds.
package struct RunClock: Hashable, Sendable {
  /// Since 1970 in UTC. The wall time of an event is this and the event's own time, whatever the
  /// clock of the machine is set to meanwhile.
  package let wallTime: Nanoseconds
  /// `CLOCK_MONOTONIC`, for other processes of the same machine.
  package let monotonicTime: Nanoseconds

  package init(wallTime: Nanoseconds, monotonicTime: Nanoseconds) {
    self.wallTime = wallTime
    self.monotonicTime = monotonicTime
  }
}

/// The machine that oprun runs on.
package struct RunHost: Hashable, Sendable {
  package let name: String
  /// Processors that oprun and its steps may use.
  package let processorCount: Int

  package init(name: String, processorCount: Int) {
    self.name = name
    self.processorCount = processorCount
  }
}

/// One process start for an operation: an attempt of its command, or one of its hooks.
/// The run's own hooks use `OperationID(-1)`.
package enum CommandRole: Hashable, Sendable {
  case attempt(Int)
  /// `index` counts the commands of one hook from 1.
  case hook(HookKind, index: Int)
  /// A probe of a condition of `wait_for`, which counts from 1. No event tells of it.
  case probe(Int)
}

/// How one command ended.
package struct CommandEnd: Hashable, Sendable {
  package enum Status: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
    /// The command never ran; the text says why: `command not found: mkae`.
    case notStarted(String, exitCode: Int32)
    /// The command exited with 0, but what it gives to other steps cannot be used; the text says
    /// why.
    case outputsRefused(String)
    /// The command is another user's and cannot be ended: it goes on, and nobody waits for it.
    case abandoned
    /// Nobody can say how the command ended, or whether it did; the text says why: `node n3 failed`.
    case lost(String)
  }

  package let status: Status
  /// The time limit ended it.
  package let timedOut: Bool
  /// Wall time.
  package let duration: Nanoseconds
  /// Processor time of the command and its waited-for children, user and system.
  package let processorTime: Nanoseconds
  /// Largest resident set of any of its processes, in bytes.
  package let peakMemory: Int64
  /// Bytes of output; the log may hold less (`log_limit`).
  package let outputByteCount: Int

  package init(
    _ status: Status, timedOut: Bool = false, duration: Nanoseconds = 0,
    processorTime: Nanoseconds = 0, peakMemory: Int64 = 0, outputByteCount: Int = 0
  ) {
    self.status = status
    self.timedOut = timedOut
    self.duration = duration
    self.processorTime = processorTime
    self.peakMemory = peakMemory
    self.outputByteCount = outputByteCount
  }
}

extension CommandEnd {
  /// The same with another status.
  package func with(_ status: Status) -> CommandEnd {
    CommandEnd(
      status, timedOut: timedOut, duration: duration, processorTime: processorTime,
      peakMemory: peakMemory, outputByteCount: outputByteCount)
  }
}

/// One value of `steps.<id>.outputs`.
package struct PublishedOutput: Hashable, Sendable {
  package let name: String
  package let json: String
  /// Holds a secret: `json` shows `***` for it, and is not the value.
  package let isMasked: Bool

  package init(name: String, json: String, isMasked: Bool = false) {
    self.name = name
    self.json = json
    self.isMasked = isMasked
  }
}

/// What a ready operation waits for, and who holds it.
package struct HeldUp: Hashable, Sendable {
  package enum Shared: Hashable, Sendable {
    /// A slot.
    case queue(QueueID)
    /// A resource, a mutex, a place among the instances of a matrix.
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
  /// The kernel's name of it, at most 15 bytes, escaped for printing.
  package let name: String
  /// The user it belongs to, if it cannot be signalled.
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
  /// A hook of the run itself failed.
  package let hookFailed: Bool

  package init(exitStatus: Int32, stopReason: StopReason? = nil, hookFailed: Bool = false) {
    self.exitStatus = exitStatus
    self.stopReason = stopReason
    self.hookFailed = hookFailed
  }
}

/// Hears of a run while it goes on: records, shows or counts what happens. The observers of a run
/// are told in their order: first those that record, then those that show.
///
/// One that fails is told nothing more, and the run ends as it does when its state cannot be kept.
package protocol RunObserver: AnyObject {
  /// Called for each event, in order. A step's start and end are told in the turn they are seen.
  func observe(_ event: RunEvent) throws(ObserverFailure)
  /// Called before commands start, which may depend on what was told: what has to outlive oprun is
  /// on disk when this returns.
  func commit() throws(ObserverFailure)
  /// Nothing more happens until the kernel has news, or a deadline comes: the moment to write what
  /// was gathered. `time` counts as that of events does.
  func endTurn(at time: Nanoseconds) throws(ObserverFailure)
  /// A turn ends at this time, whatever happens; nil if events are enough. Asked for after each
  /// turn. One that is not later than the end of the turn is none.
  var deadline: Nanoseconds? { get }
}

extension RunObserver {
  package func commit() {}
  package func endTurn(at time: Nanoseconds) {}
  package var deadline: Nanoseconds? { nil }
}

/// What an observer should keep is lost: in words, what could not be done, and why.
package struct ObserverFailure: Error, Hashable, Sendable {
  package let message: String

  package init(_ message: String) { self.message = message }
}

/// A standard stream of oprun whose reader may stand still. While the run goes on nobody waits for
/// the reader; at its end it is waited for.
package protocol RunOutlet: AnyObject {
  /// Takes more when the reader has read; nil while the reader has everything.
  var pendingDescriptor: Int32? { get }
  /// Writes what the reader takes now.
  func resume()
  /// What is pending is not written any more.
  func abandon()
}
