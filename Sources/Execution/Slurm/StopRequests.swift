// Tasks and jobs that are to end, and those of which Slurm is still to be told.

import Running
import Scheduling

/// The tasks and jobs that are to end. One call tells Slurm of all that it has not been told.
struct StopRequests {
  /// The tasks that were asked to end.
  private(set) var asked: Set<CommandKey> = []
  /// The tasks whose jobs are to end, of which Slurm has not been told.
  private(set) var untold: Set<CommandKey> = []
  /// The tasks whose jobs were killed, or are to be.
  private(set) var killed: Set<CommandKey> = []
  /// The tasks whose jobs are to be killed with the next call.
  private(set) var untoldKills: [CommandKey] = []
  /// Jobs without a task, of which Slurm has not been told that they are to end.
  private(set) var unwantedJobs: [String] = []
  /// When Slurm may be told again after it did not answer.
  private(set) var retryAt: Nanoseconds = 0

  mutating func ask(_ key: CommandKey) { asked.insert(key) }

  mutating func tell(_ key: CommandKey) { untold.insert(key) }

  mutating func noteTold(_ key: CommandKey) { untold.remove(key) }

  mutating func kill(_ key: CommandKey) { killed.insert(key) }

  mutating func tellKill(_ key: CommandKey) { untoldKills.append(key) }

  mutating func cancel(_ jobs: [String]) {
    unwantedJobs += jobs.filter { !unwantedJobs.contains($0) }
  }

  mutating func takeKills() -> [CommandKey] {
    defer { untoldKills = [] }
    return untoldKills
  }

  mutating func takeUnwantedJobs() -> [String] {
    defer { unwantedJobs = [] }
    return unwantedJobs
  }

  mutating func retry(at time: Nanoseconds) { retryAt = time }

  /// Forgets a task that has ended. A kill that is untold stays: whoever takes it finds no job.
  mutating func forget(_ key: CommandKey) {
    asked.remove(key)
    untold.remove(key)
    killed.remove(key)
  }
}
