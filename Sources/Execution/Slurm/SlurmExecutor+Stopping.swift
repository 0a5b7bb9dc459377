// The end of jobs that oprun asks for: one call for all of them.

import Diagnostics
import Glibc
import Plans
import Running
import Scheduling

extension SlurmExecutor {
  /// How long a job that was killed is waited for.
  private static let killWait: Nanoseconds = 10 * second

  private static let mostUnwantedFailures = 3

  private var isCancelling: Bool {
    calls.values.contains { if case .cancellation = $0 { true } else { false } }
  }

  /// The tasks that are to end, and of which Slurm does not know it.
  private var stopping: [SlurmTask] {
    stopped.compactMap { tasks[$0] }.filter { !$0.isCancelled && $0.job != nil }
      .sorted { $0.number < $1.number }
  }

  var cancellationDue: Nanoseconds? {
    guard !isCancelling, !isLeaving else { return nil }
    return unwanted.isEmpty && stopping.isEmpty ? nil : cancelRetryAt
  }

  func cancelWhatIsStopped(at now: Nanoseconds) {
    guard let due = cancellationDue, due <= now else { return }
    let stopping = stopping.prefix(SlurmCommands.jobsPerCall)
    for task in stopping {
      task.isCancelled = true
      stopped.remove(task.key)
    }
    let jobs = unwanted + stopping.compactMap(\.job)
    let purpose = Purpose.cancellation(stopping.map(\.key), unwanted: unwanted)
    unwanted = []
    call(SlurmCommands.cancellation(of: jobs), purpose, at: now)
  }

  func killWhatIsStopped(at now: Nanoseconds) {
    guard !toKill.isEmpty else { return }
    call(SlurmCommands.kill(toKill), .other, at: now)
    toKill = []
  }

  func cancelled(
    _ keys: [CommandKey], unwanted jobs: [String], _ answer: SlurmAnswer, at now: Nanoseconds
  ) {
    let tasks = keys.compactMap { self.tasks[$0] }
    guard answer.isSuccess || answer.exitStatus == 1 && answer.errors.containsText("Invalid job id")
    else {
      for task in tasks {
        task.isCancelled = false
        stopped.insert(task.key)
      }
      // One that may not be cancelled must not keep others from it for ever.
      if unwantedFailures < Self.mostUnwantedFailures { unwanted += jobs }
      if !jobs.isEmpty { unwantedFailures += 1 }
      cancelRetryAt = now + 5 * Self.second
      return sayAway(answer.refusal ?? slurmSentence(answer.errors))
    }
    scan(at: now)
    let claimed = claimed(among: tasks)
    for task in tasks where self.tasks[task.key] === task && !claimed.contains(task.key) {
      // It never began, and will not: where a file system is late, a claim may be there that is not listed.
      if forbid(task) { conclude(task, .cancelled(task.seen), at: now) }
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

  /// When a job that was killed is not waited for any longer.
  var killDue: Nanoseconds? {
    killed.lazy.compactMap { self.tasks[$0]?.killedAt }.min().map { $0 + Self.killWait }
  }

  func giveUpKilled(at now: Nanoseconds) {
    for task in killed.compactMap({ tasks[$0] }).sorted(by: { $0.number < $1.number }) {
      guard let killedAt = task.killedAt, killedAt + Self.killWait <= now else { continue }
      hasGivenUp = true
      if let job = task.job { news.append(.event(.notice(SlurmMessage.notEnded(task.step, job)))) }
      end(task, CommandEnd(.abandoned, duration: now - task.startedAt), at: now)
    }
  }
}
