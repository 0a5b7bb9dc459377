// The end of jobs that oprun asks for: one call for all of them.

import Diagnostics
import Glibc
import Plans
import Running
import Scheduling

extension SlurmExecutor {
  /// The times for which a killed job is waited for: since Slurm has heard of the kill, and since
  /// Slurm was to be told.
  static let killWait: Nanoseconds = 10 * second
  static let longestKillWait: Nanoseconds = 30 * second

  /// The tasks that are to end, of which Slurm has not been told.
  private var stopping: [SlurmTask] {
    stops.untold.compactMap { tasks[$0] }.filter { !$0.isCancelled && $0.job != nil }
      .sorted { $0.number < $1.number }
  }

  var cancellationDue: Nanoseconds? {
    guard !calls.isCancelling else { return nil }
    return stops.unwantedJobs.isEmpty && stopping.isEmpty ? nil : stops.retryAt
  }

  func cancelWhatIsStopped(at now: Nanoseconds) {
    guard let due = cancellationDue, due <= now else { return }
    let stopping = stopping.prefix(SlurmCommands.jobsPerCall)
    for task in stopping {
      task.isCancelled = true
      stops.noteTold(task.key)
    }
    note(stopOf: Array(stopping))
    let unwanted = stops.takeUnwantedJobs()
    call(
      SlurmCommands.cancellation(of: unwanted + stopping.compactMap(\.job)),
      .cancellation(stopping.map(\.key), unwanted: unwanted), at: now)
  }

  /// Notes the stops before Slurm hears of them: another run would take a cancelled job for one
  /// that somebody else has cancelled.
  func note(stopOf tasks: [SlurmTask]) {
    keep { journal throws(SystemError) in
      for task in tasks where !task.hasNotedStop { try journal.noteStop(of: task.ownNumber) }
      try journal.flush()
    }
    for task in tasks { task.hasNotedStop = true }
  }

  func killWhatIsStopped(at now: Nanoseconds) {
    let keys = stops.takeKills().filter { tasks[$0]?.job != nil }
    if keys.isEmpty { return }
    call(SlurmCommands.kill(keys.compactMap { tasks[$0]?.job }), .kill(keys), at: now)
  }

  /// Handles the answer to a kill: from now on the ends of the jobs are waited for, whether Slurm
  /// has heard it or not.
  func killAnswered(_ keys: [CommandKey], at now: Nanoseconds) {
    for task in keys.compactMap({ tasks[$0] }) {
      task.givenUpAt = min(task.givenUpAt ?? .max, now + Self.killWait)
    }
  }

  /// The cancellation of everything that Slurm has not been told yet, for the last moment; nil if there is nothing.
  func takeLastCancellation() -> SlurmCall? {
    let stopping = stopping
    note(stopOf: stopping)
    // Some of several calls may not have been made yet.
    let jobs = stops.unwantedJobs + stopping.compactMap(\.job) + calls.unwantedJobs
    return jobs.isEmpty ? nil : SlurmCommands.cancellation(of: jobs)
  }

  func cancelled(
    _ keys: [CommandKey], unwanted jobs: [String], _ answer: SlurmAnswer, at now: Nanoseconds
  ) {
    let tasks = keys.compactMap { self.tasks[$0] }
    guard answer.hasCancelled else {
      for task in tasks {
        task.isCancelled = false
        stops.tell(task.key)
      }
      stops.cancel(jobs)
      stops.retry(at: now + 5 * Self.second)
      return sayAway(answer.refusal ?? slurmSentence(answer.errors))
    }
    for task in tasks { task.hasHeardStop = true }
    scan(at: now)
    let claimed = claimed(among: tasks)
    for task in tasks where self.tasks[task.key] === task && !claimed.contains(task.key) {
      // The job never began, and will not. Where a file system is late, there may be a claim that
      // is not listed.
      if takeAway(task) == .oprun { conclude(task, .cancelled(task.seen), at: now) }
    }
    looks.want()
  }

  private func claimed(among tasks: [SlurmTask]) -> Set<CommandKey> {
    var claims: [String: Set<Int>] = [:]
    for task in tasks where claims[task.home.folder] == nil {
      claims[task.home.folder] = (try? task.home.files.claims()) ?? []
    }
    return Set(
      tasks.filter { claims[$0.home.folder]?.contains($0.number) == true }.map(\.key))
  }

  /// When jobs are to be killed, or a killed one is no longer waited for.
  var killDue: Nanoseconds? {
    if !stops.untoldKills.isEmpty { return 0 }
    return stops.killed.lazy.compactMap { self.tasks[$0]?.givenUpAt }.min()
  }

  func giveUpKilled(at now: Nanoseconds) {
    for task in stops.killed.compactMap({ tasks[$0] }).sorted(by: { $0.number < $1.number }) {
      guard let givenUpAt = task.givenUpAt, givenUpAt <= now else { continue }
      let isOver = isOver(task)
      // The next run ends the job.
      if !isOver { note(stopOf: [task]) }
      if !isOver, let job = task.job ?? (try? task.home.files.claim(of: task.number)) {
        let words =
          task.hasHeardStop
          ? SlurmMessage.notEnded(task.step, job) : SlurmMessage.notCancelled(task.step, job)
        news.append(.event(.notice(words)))
      }
      end(task, CommandEnd(.abandoned, duration: now - task.startedAt), at: now)
    }
  }
}
