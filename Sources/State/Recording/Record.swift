// The records that a recorder collects until they are written, and its notes about steps that have not ended.

import Plans
import Scheduling

/// A step that has started and has no outcome yet.
struct OpenStep {
  /// Nil if nothing but hooks ran.
  var key: StepIdentity?
  let start: Nanoseconds
  var attemptStart: Nanoseconds
  /// The last attempt that has ended, and whether it has a row of its own already.
  var last: RecordedCommand?
  var hasRowOfLast = false
  var hookStart: Nanoseconds = 0
  /// Where its command is, and which it is, if that is not here.
  var place: CommandPlacement?
  var placedRole: CommandRole?
  /// Something else than attempts ran, which belongs to the time of the step.
  var hasHooks = false

  /// The attempt that runs has ended.
  mutating func ended(_ role: CommandRole, _ end: CommandEnd) {
    last = RecordedCommand(role: role, start: attemptStart, end: end)
    hasRowOfLast = false
  }
}

/// A command that has ended.
struct RecordedCommand {
  let role: CommandRole
  let start: Nanoseconds
  let end: CommandEnd
}

/// The counts for the list of runs.
struct Tally {
  var steps = 0
  var ok = 0
  var failed = 0
  var allowed = 0
  var kept = 0
  /// Nil if no command has run.
  var logBytes: Int?
  var stop: String?
  /// The exit status of a step that the run gives, and the step.
  var passedOn: String?
}

/// One thing to write.
enum Record {
  case began(RunBeginning)
  /// How many steps there are, now that a matrix is known.
  case counted(Int)
  case started(StepIdentity, at: Nanoseconds)
  /// A command that runs: an attempt that follows another one, or a hook.
  case running(String, CommandRole, since: Nanoseconds)
  case command(String, RecordedCommand)
  case published(String, [PublishedOutput])
  case settled(StepIdentity, Settled)
  /// The result that was taken over for the step is of no use any more.
  case forgotten(String)
  /// The outcome of the step is taken back.
  case reopened(String)
  case changed(RecordedChange)
  case placed(String, CommandRole, CommandPlacement)
  case finished(RunEnd, at: Nanoseconds, Tally)
  /// The run failed after its end was recorded; the string says why.
  case spoiled(Int32, stop: String)
}

/// A step, and what it was when it ran.
struct StepIdentity {
  let name: String
  let place: Int
  let written: Int
}

/// How a step ended.
struct Settled {
  let outcome: RecordedOutcome
  let cause: String?
  let start: Nanoseconds?
  let end: Nanoseconds
  let last: RecordedCommand?
  let resolved: Int
  let takenOver: TakenOver
}

extension Tally {
  mutating func uncount(_ ending: Ending, isKept: Bool) {
    steps -= 1
    if isKept { kept -= 1 }
    guard ending.outcome.isFailure else { return }
    if ending.isAllowed { allowed -= 1 } else { failed -= 1 }
  }

  mutating func count(_ ending: Ending, isKept: Bool) {
    steps += 1
    if isKept { kept += 1 }
    switch ending.outcome {
    case .succeeded, .cached: ok += 1
    case .failed, .timedOut: if ending.isAllowed { allowed += 1 } else { failed += 1 }
    case .cancelled, .skipped, .blocked: break
    }
  }
}
