// Submission: in the order of the starts, not faster than the plan says, and not more jobs than it says.

import Diagnostics
import Plans
import Running
import Scheduling

extension SlurmExecutor {
  /// How many tasks are with Slurm.
  private var outCount: Int { tasks.values.count { $0.isOut } }

  /// When the next task can be submitted; nil if none can.
  var submissionDue: Nanoseconds? {
    guard let key = held.first, !isSubmitting, outCount < plan.maxQueued else { return nil }
    let dues = held.prefix(plan.maxQueued).compactMap { tasks[$0]?.notBefore }
    return max(nextSubmission, dues.min() ?? tasks[key]?.notBefore ?? 0)
  }

  private var isSubmitting: Bool {
    calls.values.contains { if case .submission = $0 { true } else { false } }
  }

  func submit(at now: Nanoseconds) {
    guard let due = submissionDue, due <= now,
      let index = held.firstIndex(where: { (tasks[$0]?.notBefore ?? 0) <= now })
    else { return }
    let key = held.remove(at: index)
    guard let task = tasks[key] else { return }
    nextSubmission = max(now, nextSubmission) + plan.submitInterval
    do throws(SystemError) {
      try prepare(task)
      task.phase = .submitting
      call(submission(of: task), .submission(key), at: now)
    } catch {
      end(
        task, CommandEnd(.notStarted(refusalMessage(error), exitCode: 126)), at: now)
    }
  }

  /// Writes everything that the job needs, and that it is about to be submitted.
  private func prepare(_ task: SlurmTask) throws(SystemError) {
    task.home.tasks[task.number] = task
    // What an earlier run has written is submitted as it is.
    if task.earlierNames != nil { return }
    try task.home.files.write(
      TaskFile(
        command: parts.onNode(task.command), workspace: parts.workspace, runID: parts.runID,
        limits: TaskLimits(time: task.order.timeLimit, stop: task.order.stop),
        secrets: parts.secrets),
      number: task.number)
    guard let journal else { return }
    try journal.add(task.entry, number: task.number)
    try journal.flush()
  }

  private func submission(of task: SlurmTask) -> SlurmCall {
    let commands = SlurmCommands(
      mark: task.home.mark, jobsFolder: "\(task.home.folder)/@node/jobs",
      workspace: parts.workspace)
    return commands.submission(
      of: task.number, step: task.step, task.request,
      nice: max(0, Int(plan.highestPriority) - Int(task.order.priority)),
      script: SlurmCommands.script(
        program: task.home.files.programPath, folder: task.home.folder, task: task.number))
  }

  func submitted(_ key: CommandKey, _ submission: Submission, at now: Nanoseconds) {
    guard let task = tasks[key] else {
      if case .accepted(let job) = submission, !isLeaving { unwanted.append(job) }
      return
    }
    switch submission {
    case .accepted(let job):
      task.phase = .submitted(since: now)
      note(job, of: task)
      tell(CommandPlace(job: job), of: task)
    case .refused(let sentence):
      end(task, CommandEnd(.notStarted(SlurmMessage.refused(sentence), exitCode: 126)), at: now)
    case .tooMany(let sentence):
      if task.toldReason != sentence {
        task.toldReason = sentence
        news.append(.event(.notice(SlurmMessage.mustWait(task.step, sentence))))
      }
      putBack(task, at: now, after: plan.poll)
    case .unknown(let sentence):
      task.phase = .unsure(since: now)
      wantsLook = true
      sayAway(sentence)
    }
    if task.stopSignal != nil, case .held = task.phase, tasks[key] != nil {
      stop(key, with: task.stopSignal ?? 0, at: now)
    }
  }

  /// Makes the task the next one that is submitted, after a while.
  func putBack(_ task: SlurmTask, at now: Nanoseconds, after delay: Nanoseconds = 0) {
    task.phase = .held
    task.job = nil
    task.seen = nil
    task.missedSince = nil
    task.notBefore = now + delay
    held.insert(task.key, at: 0)
  }

  /// Gives the command to Slurm once more, as another task; false if it was tried too often.
  func tryAgain(_ task: SlurmTask, because reason: String, at now: Nanoseconds) -> Bool {
    guard task.againCount < task.request.infrastructureRetries, let home else { return false }
    task.home.settle(task.number)
    task.againCount += 1
    task.home = home
    task.earlierNames = nil
    endedNumbers.append(task.ownNumber)
    task.number = nextNumber
    task.ownNumber = nextNumber
    nextNumber += 1
    putBack(task, at: now)
    news.append(.event(.notice(SlurmMessage.again(task.step, reason))))
    return true
  }

  func note(_ job: String, of task: SlurmTask) {
    task.job = job
    keep { journal throws(SystemError) in try journal.note(job: job, of: task.ownNumber) }
  }

  /// Says once that Slurm does not answer.
  func sayAway(_ sentence: String) {
    guard !isAway else { return }
    isAway = true
    news.append(.event(.notice(SlurmMessage.away(sentence))))
  }

  func tell(_ place: CommandPlace, of task: SlurmTask) {
    news.append(.event(.placed(task.key.operation, task.key.role, place)))
  }
}

extension SlurmParts {
  /// The command with the variables that Slurm must not see, and with the program of built-in steps as it is
  /// called here: the copy of oprun has none beside it.
  func onNode(_ given: Command) -> Command {
    var command = given
    if case .builtin(let words) = command.work {
      command.work = .words([neighbour(named: "oprun-steps")] + words)
    }
    let inherited = command.environment.inherited
    let added = secretVariables.filter { inherited?.contains($0.name) != false }
    guard !added.isEmpty else { return command }
    command.environment = CommandEnvironment(
      added + command.environment.variables, inherited: inherited)
    return command
  }
}
