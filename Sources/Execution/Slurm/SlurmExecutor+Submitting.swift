// Submission: in the order of the starts, within the rate and the number of jobs that the plan
// allows. Tasks that are ready at the same time with equal requests go as one array.

import Diagnostics
import Plans
import Running
import Scheduling

extension SlurmExecutor {
  /// When something can be submitted; nil if nothing can.
  var submissionDue: Nanoseconds? {
    counts.out < plan.maxQueued && !calls.isSubmitting ? held.due : nil
  }

  func submit(at now: Nanoseconds) {
    guard let due = submissionDue, due <= now, let batch = takeBatch(at: now) else { return }
    held.noteSubmission(at: now, interval: plan.submitInterval)
    call(submission(of: batch), .submission(batch), at: now)
  }

  /// Writes the files that the jobs need, and the journal of what is about to be submitted; returns
  /// the tasks for which that succeeded.
  private func prepare(_ tasks: [SlurmTask], at now: Nanoseconds) -> [SlurmTask] {
    var ready: [SlurmTask] = []
    for task in tasks {
      do throws(SystemError) {
        try prepare(task)
        ready.append(task)
      } catch {
        refuse(task, error, at: now)
      }
    }
    do throws(SystemError) {
      try journal?.flush()
      return ready
    } catch {
      for task in ready { refuse(task, error, at: now) }
      return []
    }
  }

  private func refuse(_ task: SlurmTask, _ error: SystemError, at now: Nanoseconds) {
    end(task, CommandEnd(.notStarted(refusalMessage(error), exitCode: 126)), at: now)
  }

  private func prepare(_ task: SlurmTask) throws(SystemError) {
    task.home.tasks[task.number] = task
    // A task of an earlier run is submitted as it was written.
    if task.earlierLog != nil { return }
    if parts.copiesProgram, !hasProgram { try task.home.files.installProgram() }
    hasProgram = true
    try task.home.files.write(
      TaskFile(
        command: parts.onNode(task.command), workspace: parts.workspace, runID: parts.runID,
        limits: TaskLimits(time: task.order.timeLimit, stop: task.order.stop),
        secrets: parts.secrets, replaceable: task.order.replaceable,
        isRepeated: task.againCount > 0),
      number: task.number)
    try journal?.add(task.entry, number: task.number)
    if let lock = task.order.lock {
      try OpenSteps(beside: task.home.folder).note(lock, of: task.home.run, task.number)
    }
  }

  /// Takes the first task that can be submitted, and every other of its shape that fits into one array with it.
  private func takeBatch(at now: Nanoseconds) -> SlurmBatch? {
    var choice = BatchChoice(
      room: min(plan.maxQueued - counts.out, arrayLimits.jobs), reach: arrayLimits.index)
    var taken: [SlurmTask] = []
    var left: [CommandKey] = []
    var readyAt: Nanoseconds?
    for key in held.keys {
      guard let task = tasks[key], task.phase == .held else { continue }
      if task.isBlocked {
        left.append(key)
        continue
      }
      if task.notBefore <= now, choice.takes(task, isOut: { self.isOut(in: $0) }) {
        taken.append(task)
        continue
      }
      left.append(key)
      // A task that waits for the end of others is looked at again when one has ended.
      if !choice.isBlocked(task) { readyAt = min(readyAt ?? .max, max(now, task.notBefore)) }
    }
    held.keep(left, readyAt: readyAt)
    let ready = prepare(taken, at: now)
    if ready.isEmpty { return nil }
    var batch = SlurmBatch(ready.map { SlurmBatch.Member(key: $0.key, number: $0.number) })
    batch.name = commonName(of: ready.map(\.shownName))
    if let width = ready[0].order.width?.count, ready.count > width { batch.throttle = width }
    batchCount += 1
    for task in ready {
      task.phase = .submitting
      task.wasSubmitted = true
      task.batch = "#\(batchCount)"
      task.throttle = batch.throttle
    }
    return batch
  }

  /// The number of jobs that claim the pool of a limit and can run now.
  private func isOut(in pool: PoolID) -> Int {
    var counts: [String: (count: Int, throttle: Int)] = [:]
    for task in tasks.values where task.order.width?.pool == pool {
      guard task.isOut || task.phase == .examined else { continue }
      let name = task.batch ?? task.job.map { JobName($0).array } ?? ""
      counts[name, default: (0, task.throttle ?? .max)].count += 1
    }
    return counts.values.reduce(0) { $0 + min($1.count, $1.throttle) }
  }

  private func submission(of batch: SlurmBatch) -> SlurmCall {
    guard let task = tasks[batch.members[0].key] else {
      preconditionFailure("a batch has tasks that have not ended")
    }
    let commands = SlurmCommands(
      mark: task.home.mark, jobsFolder: "\(task.home.folder)/@node/jobs",
      workspace: parts.workspace)
    return commands.submission(
      of: batch, task.request,
      nice: max(0, Int(plan.highestPriority) - Int(task.order.priority)),
      script: SlurmCommands.script(
        program: task.home.files.programPath, folder: task.home.folder, batch))
  }

  func submitted(_ batch: SlurmBatch, _ submission: Submission, at now: Nanoseconds) {
    if case .arrayRefused(let sentence) = submission {
      guard batch.isArray else { return submitted(batch, .refused(sentence), at: now) }
    }
    arrayLimits.learn(from: submission, of: batch)
    // Tasks that are put back come before others, in the same order.
    let members = submission.isForLater ? batch.members.reversed() : batch.members
    for member in members { submitted(member, of: batch, submission, at: now) }
    keep { journal throws(SystemError) in try journal.flush() }
  }

  /// The number of submissions of a job that may fail with an unknown sentence of `sbatch`, before
  /// the next one counts as a refusal.
  private static let mostUnclear = 2

  private func submitted(
    _ member: SlurmBatch.Member, of batch: SlurmBatch, _ submission: Submission, at now: Nanoseconds
  ) {
    guard let task = tasks[member.key], task.number == member.number else {
      if case .accepted(let answer) = submission, !left.contains(member.key) {
        stops.cancel([batch.job(of: member, answer)])
      }
      return
    }
    switch submission {
    case .accepted(let answer):
      let job = batch.job(of: member, answer)
      task.phase = .submitted(since: now)
      looks.noteSubmission(at: now)
      note(job, of: task)
      tell(CommandPlacement(job: job), of: task)
    case .refused(let sentence): refuse(task, sentence, at: now)
    case .arrayRefused: putBack(task, at: now)
    case .tooMany(let sentence):
      if batch.isArray { return putBack(task, at: now) }
      if toldLimit != sentence {
        toldLimit = sentence
        news.append(.event(.notice(SlurmMessage.mustWait(task.step, sentence))))
      }
      held.delay(until: now + plan.poll)
      putBack(task, at: now, after: plan.poll)
    case .unclear(let sentence) where task.unclearCount >= Self.mostUnclear:
      // No look has shown a job of the task.
      refuse(task, sentence, at: now)
    case .unclear:
      task.unclearCount += 1
      task.phase = .unsure(since: now)
      looks.want()
    case .unknown(let sentence):
      task.phase = .unsure(since: now)
      looks.want()
      sayAway(sentence)
    }
    if let signal = task.stopSignal, case .held = task.phase, tasks[member.key] != nil {
      stop(member.key, with: signal, at: now)
    }
  }

  /// Ends a task that Slurm does not take. A job of an earlier submission that appears later finds it taken.
  private func refuse(_ task: SlurmTask, _ sentence: String, at now: Nanoseconds) {
    if takeAway(task) == .job {
      task.phase = .unsure(since: now)
      looks.want()
    } else {
      end(task, CommandEnd(.notStarted(SlurmMessage.refused(sentence), exitCode: 126)), at: now)
    }
  }

  /// Makes the task the next one to be submitted, after a delay.
  func putBack(_ task: SlurmTask, at now: Nanoseconds, after delay: Nanoseconds = 0) {
    task.phase = .held
    task.job = nil
    task.batch = nil
    task.throttle = nil
    task.seen = nil
    task.missedSince = nil
    task.forgetLog()
    task.notBefore = now + delay
    held.insertFirst(task.key, readyAt: task.notBefore)
  }

  /// Submits the command once more, as another task; false if it was tried too often.
  func tryAgain(_ task: SlurmTask, because reason: String, at now: Nanoseconds) -> Bool {
    guard task.againCount < task.request.infrastructureRetries, let home else { return false }
    // The job of the old number, which somebody may release later, must not begin beside the new one.
    settle(task, isOver: isOver(task))
    task.wasSubmitted = false
    task.againCount += 1
    task.home = home
    task.earlierLog = nil
    task.number = nextNumber
    task.ownNumber = nextNumber
    nextNumber += 1
    putBack(task, at: now)
    news.append(.event(.notice(SlurmMessage.again(task.step, reason))))
    return true
  }

  func note(_ job: String, of task: SlurmTask) {
    let isKnown = task.job == job
    task.job = job
    if task.stopSignal != nil, !task.isCancelled {
      stops.tell(task.key)
      if task.killedAt != nil { stops.tellKill(task.key) }
    }
    if isKnown { return }
    keep { journal throws(SystemError) in try journal.note(job: job, of: task.ownNumber) }
  }

  /// Reports once that Slurm does not answer.
  func sayAway(_ sentence: String) {
    guard !isAway else { return }
    isAway = true
    news.append(.event(.notice(SlurmMessage.away(sentence))))
  }

  func tell(_ place: CommandPlacement, of task: SlurmTask) {
    news.append(.event(.placed(task.key.operation, task.key.role, place)))
  }
}

/// Decides which tasks go into one array.
private struct BatchChoice {
  /// The number of tasks that may still be added.
  private var room: Int
  /// The largest index of a job in an array.
  private let reach: Int
  private var shape: JobShape?
  private var numbers = 0...0
  /// The number of jobs that can still run under each limit; at 0, tasks wait for the end of others.
  private var free: [PoolID: Int] = [:]

  init(room: Int, reach: Int) {
    self.room = room
    self.reach = reach
  }

  /// Adds a task if it fits; returns whether it did. `isOut` tells how many jobs run under a limit.
  mutating func takes(_ task: SlurmTask, isOut: (PoolID) -> Int) -> Bool {
    let width = task.order.width
    if let width, free[width.pool] == nil {
      let count = isOut(width.pool)
      // One array may have all of the tasks, because Slurm enforces the limit in it. Beside other
      // jobs, there is room for some.
      free[width.pool] = count == 0 ? .max : max(0, width.count - count)
    }
    guard room > 0, width.map({ free[$0.pool] == 0 }) != true else { return false }
    let own = JobShape(task)
    if let shape {
      let all = min(numbers.lowerBound, task.number)...max(numbers.upperBound, task.number)
      guard shape == own, all.upperBound - all.lowerBound <= reach else { return false }
      numbers = all
    } else {
      shape = own
      numbers = task.number...task.number
    }
    room -= 1
    if let width, let left = free[width.pool], left < .max { free[width.pool] = left - 1 }
    return true
  }

  /// True if the task waits for the end of others.
  func isBlocked(_ task: SlurmTask) -> Bool {
    task.order.width.map { free[$0.pool] == 0 } == true
  }
}

/// The name of a job for several steps: instances of a matrix have the name of their step.
func commonName(of steps: [String]) -> String {
  guard let first = steps.first, steps.count > 1 else { return steps.first ?? "" }
  let stem = first.prefix { $0 != "[" }
  let isMatrix = steps.allSatisfy { $0.hasPrefix(stem) && $0.dropFirst(stem).first == "[" }
  return isMatrix ? String(stem) : "\(first)+\(steps.count - 1)"
}

extension SlurmParts {
  /// The command with the variables that Slurm must not see, and with the path of the program of
  /// built-in steps here: the copy of oprun has none beside it.
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
