// The tasks that wait to be submitted: when that may be done, and for how many at once.

import Running
import Scheduling

/// The tasks that are to be submitted, in their order, and some that have ended. Decides when the
/// next submission is due.
struct HeldTasks {
  /// The time for which tasks wait for others with which they may be submitted.
  private static let collection: Nanoseconds = 20_000_000

  private(set) var keys: [CommandKey] = []
  /// When a task may be ready; nil if none will be before something ends.
  private var readyAt: Nanoseconds?
  /// When the next submission may be made, by the interval of the plan.
  private var notBefore: Nanoseconds = 0

  /// When a submission is due; nil as long as nothing is ready.
  var due: Nanoseconds? { readyAt.map { max(notBefore, $0) } }

  /// Adds a task that is submitted with others that come in the next moment.
  mutating func append(_ key: CommandKey, at now: Nanoseconds) {
    keys.append(key)
    wake(at: now + Self.collection)
  }

  /// Makes a task the next one that is submitted.
  mutating func insertFirst(_ key: CommandKey, readyAt time: Nanoseconds) {
    keys.insert(key, at: 0)
    wake(at: time)
  }

  /// Makes the tasks be looked at again at this time: one of them may be ready by then.
  private mutating func wake(at time: Nanoseconds) { readyAt = min(readyAt ?? .max, time) }

  /// Notes the end of something that tasks may have waited for.
  mutating func noteEnd(at now: Nanoseconds) {
    if !keys.isEmpty { wake(at: now) }
  }

  /// Lets the tasks wait until something else happens.
  mutating func rest() { readyAt = nil }

  /// Keeps the tasks that are left, one of which may be ready at this time.
  mutating func keep(_ left: [CommandKey], readyAt time: Nanoseconds?) {
    keys = left
    readyAt = time
  }

  /// Notes that a submission is made, and lets the next one wait.
  mutating func noteSubmission(at now: Nanoseconds, interval: Nanoseconds) {
    notBefore = max(now, notBefore) + interval
  }

  mutating func delay(until time: Nanoseconds) { notBefore = max(notBefore, time) }
}

/// The limits for arrays that are submitted. Slurm may allow less than usual, which is learned from its refusals.
struct ArrayLimits {
  /// Slurm allows 1001 numbers in an array unless it is configured otherwise (`MaxArraySize`).
  static let usual = 1000

  /// The largest number of jobs in an array.
  private(set) var jobs = Self.usual
  /// The largest index of a job in an array.
  private(set) var index = Self.usual

  mutating func learn(from submission: Submission, of batch: SlurmBatch) {
    switch submission {
    case .arrayRefused: index = min(index, batch.span) / 2
    case .tooMany: jobs = max(1, batch.members.count / 2)
    case .accepted: jobs = min(Self.usual, jobs * 2)
    case .refused, .unclear, .unknown: break
    }
  }
}
