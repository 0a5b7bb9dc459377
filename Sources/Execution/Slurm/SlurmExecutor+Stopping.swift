// The end of jobs that oprun asks for: one call for all of them.

import Diagnostics
import Glibc
import Plans
import Running
import Scheduling

extension SlurmExecutor {
  /// How long a job that was killed is waited for, since Slurm has heard of it, and since Slurm was to be told.
  static let killWait: Nanoseconds = 10 * second
  static let longestKillWait: Nanoseconds = 30 * second

  private var isCancelling: Bool {
    calls.values.contains { if case .cancellation = $0 { true } else { false } }
  }

  /// The tasks that are to end, and of which Slurm does not know it.
  private var stopping: [SlurmTask] {
    stopped.compactMap { tasks[$0] }.filter { !$0.isCancelled && $0.job != nil }
      .sorted { $0.number < $1.number }
  }

  var cancellationDue: Nanoseconds? {
    guard !isCancelling else { return nil }
    return unwanted.isEmpty && stopping.isEmpty ? nil : cancelRetryAt
  }

  func cancelWhatIsStopped(at now: Nanoseconds) {
    guard let due = cancellationDue, due <= now else { return }
    let stopping = stopping.prefix(SlurmCommands.jobsPerCall)
    for task in stopping {
      task.isCancelled = true
      stopped.remove(task.key)
    }
    note(stopOf: Array(stopping))
    let jobs = unwanted + stopping.compactMap(\.job)
    let purpose = Purpose.cancellation(stopping.map(\.key), unwanted: unwanted)
    unwanted = []
    call(SlurmCommands.cancellation(of: jobs), purpose, at: now)
  }

  /// Before Slurm hears of it: another run would take a cancelled job for one that somebody else has cancelled.
  func note(stopOf tasks: [SlurmTask]) {
    keep { journal throws(SystemError) in
      for task in tasks where !task.hasNotedStop { try journal.noteStop(of: task.ownNumber) }
      try journal.flush()
    }
    for task in tasks { task.hasNotedStop = true }
  }

  func killWhatIsStopped(at now: Nanoseconds) {
    guard !toKill.isEmpty else { return }
    let keys = toKill.filter { tasks[$0]?.job != nil }
    toKill = []
    if keys.isEmpty { return }
    call(SlurmCommands.kill(keys.compactMap { tasks[$0]?.job }), .kill(keys), at: now)
  }

  /// Slurm has heard that jobs are to be killed, or will not: they are waited for from now on.
  func killAnswered(_ keys: [CommandKey], at now: Nanoseconds) {
    for task in keys.compactMap({ tasks[$0] }) {
      task.givenUpAt = min(task.givenUpAt ?? .max, now + Self.killWait)
    }
  }

  /// What may be told to Slurm at the last moment.
  func takeLastCancellation() -> SlurmCall? {
    let stopping = stopping
    note(stopOf: stopping)
    // Of several calls, some may not have been made yet.
    let asked = calls.values.flatMap { purpose -> [String] in
      if case .cancellation(_, let jobs) = purpose { jobs } else { [] }
    }
    let jobs = unwanted + stopping.compactMap(\.job) + asked.sorted()
    return jobs.isEmpty ? nil : SlurmCommands.cancellation(of: jobs)
  }

  func cancelled(
    _ keys: [CommandKey], unwanted jobs: [String], _ answer: SlurmAnswer, at now: Nanoseconds
  ) {
    let tasks = keys.compactMap { self.tasks[$0] }
    guard answer.hasCancelled else {
      for task in tasks {
        task.isCancelled = false
        stopped.insert(task.key)
      }
      unwanted += jobs.filter { !unwanted.contains($0) }
      cancelRetryAt = now + 5 * Self.second
      return sayAway(answer.refusal ?? slurmSentence(answer.errors))
    }
    for task in tasks { task.hasHeardStop = true }
    scan(at: now)
    let claimed = claimed(among: tasks)
    for task in tasks where self.tasks[task.key] === task && !claimed.contains(task.key) {
      // It never began, and will not: where a file system is late, a claim may be there that is not listed.
      if takeAway(task) == .oprun { conclude(task, .cancelled(task.seen), at: now) }
    }
    wantsLook = true
  }

  private func claimed(among tasks: [SlurmTask]) -> Set<CommandKey> {
    var claims: [String: Set<Int>] = [:]
    for task in tasks where claims[task.home.folder] == nil {
      claims[task.home.folder] = (try? task.home.files.claims()) ?? []
    }
    return Set(
      tasks.filter { claims[$0.home.folder]?.contains($0.number) == true }.map(\.key))
  }

  /// When jobs are to be killed, or one that was is not waited for any longer.
  var killDue: Nanoseconds? {
    if !toKill.isEmpty { return 0 }
    return killed.lazy.compactMap { self.tasks[$0]?.givenUpAt }.min()
  }

  func giveUpKilled(at now: Nanoseconds) {
    for task in killed.compactMap({ tasks[$0] }).sorted(by: { $0.number < $1.number }) {
      guard let givenUpAt = task.givenUpAt, givenUpAt <= now else { continue }
      let isOver = isOver(task)
      // The next run ends it.
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
