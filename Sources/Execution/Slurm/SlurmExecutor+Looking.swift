// Looks at Slurm's queue: one call for all jobs, at most every `poll`. A look decides nothing about the end
// of a command as long as a result may come.

import Diagnostics
import Plans
import Running
import Scheduling

extension SlurmExecutor {
  /// When the queue is looked at next; nil if that would tell nothing.
  var lookDue: Nanoseconds? {
    guard !isLooking, !isLeaving else { return nil }
    guard wantsLook || counts.open > 0 else { return nil }
    guard let lookedAt else { return wantsLook ? 0 : firstLook }
    return lookedAt + max(plan.poll, lookInterval)
  }

  /// A while after the first submission.
  private var firstLook: Nanoseconds? { firstSubmission.map { $0 + plan.poll } }

  func look(at now: Nanoseconds) {
    isLooking = true
    wantsLook = false
    lookedAt = now
    call(SlurmCommands.look, .look(since: now), at: now)
  }

  /// What a look has shown. `since` is when it began: what was submitted later may not be in it.
  func looked(_ answer: SlurmAnswer, since: Nanoseconds, at now: Nanoseconds) {
    isLooking = false
    guard answer.isSuccess else {
      let sentence = answer.refusal ?? slurmSentence(answer.errors)
      return sayAway(sentence.isEmpty ? "squeue did not answer" : sentence)
    }
    // A queue that takes long to list is asked for less often: looks take at most a hundredth of the time.
    lookInterval = min((now - since) * 100, Self.longestLookInterval)
    if isAway {
      isAway = false
      news.append(.event(.notice(SlurmMessage.back)))
    }
    scan(at: now)
    let known = [home].compactMap(\.self) + earlierHomes.values.sorted { $0.folder < $1.folder }
    for home in known {
      let listing = home.listing(answer.output)
      for task in home.tasks.values.sorted(by: { $0.number < $1.number }) {
        examine(task, listing.job(of: task.number, known: task.job), since: since, at: now)
      }
      // Slurm has put them back into its queue although they have a result: some would be held there for ever.
      unwanted += listing.jobs.keys.filter(home.settled.contains).sorted()
        .flatMap { listing.jobs[$0] ?? [] }.filter { $0.state == .pending }.map(\.id)
    }
  }

  private func examine(
    _ task: SlurmTask, _ job: QueuedJob?, since: Nanoseconds, at now: Nanoseconds
  ) {
    switch task.phase {
    case .held, .submitting: return
    case .submitted(let time) where time >= since: return
    case .unsure(let time) where time >= since: return
    case .examined where task.startedAt > since: return
    case .submitted, .unsure, .examined: break
    }
    guard let job else { return missed(task, at: now) }
    if task.job != job.id { note(job.id, of: task) }
    if case .submitted = task.phase {} else { task.phase = .submitted(since: since - 1) }
    if job.isLive { live(task, job, at: now) } else { ended(task, job, at: now) }
  }

  private func live(_ task: SlurmTask, _ job: QueuedJob, at now: Nanoseconds) {
    task.missedSince = nil
    let isNews = task.seen != job
    task.seen = job
    if job.isHeldAfterFailure {
      unwanted.append(job.id)
      return conclude(task, .neverStarted("job \(job.id): \(job.reason)"), at: now)
    }
    if job.waitsForItsTime { call(SlurmCommands.immediateStart(of: job.id), .other, at: now) }
    if isNews {
      let waits = job.state == .pending && job.reason != "None" ? job.reason : nil
      tell(CommandPlace(job: job.id, node: job.node, reason: waits), of: task)
    }
    if job.isStuck, task.toldReason != job.reason {
      task.toldReason = job.reason
      news.append(.event(.notice(SlurmMessage.stuck(task.step, job))))
    }
  }

  /// The queue does not know a job of the task.
  private func missed(_ task: SlurmTask, at now: Nanoseconds) {
    if task.stopSignal != nil, !hasClaim(task) { return conclude(task, .cancelled(nil), at: now) }
    switch task.phase {
    case .held, .submitting: return
    case .examined:
      // Its submission may still be under way: the claim makes it safe to repeat it.
      if hasClaim(task) { return awaitResult(of: task, at: now) }
      makeOwnIfDamaged(task)
      return hold(task, at: now)
    case .unsure: return putBackOrWait(task, at: now)
    case .submitted:
      guard !hasClaim(task) else { return awaitResult(of: task, at: now) }
      guard task.againCount < task.request.infrastructureRetries else {
        return conclude(task, .vanished, at: now)
      }
      // The controller has lost it: the claim makes it safe to submit the same task again.
      task.againCount += 1
      putBack(task, at: now)
    }
  }

  private func putBackOrWait(_ task: SlurmTask, at now: Nanoseconds) {
    if hasClaim(task) { awaitResult(of: task, at: now) } else { putBack(task, at: now) }
  }

  /// The job was there, and is gone: its result may not be seen here yet.
  private func awaitResult(of task: SlurmTask, at now: Nanoseconds) {
    task.phase = .submitted(since: -1)
    task.seen = nil
    let since = task.missedSince ?? now
    task.missedSince = since
    if now >= since + plan.fileWait { conclude(task, .vanished, at: now) }
  }

  /// The job has ended, and there is no result.
  private func ended(_ task: SlurmTask, _ job: QueuedJob, at now: Nanoseconds) {
    task.seen = job
    task.missedSince = task.missedSince ?? now
    decideIfDue(task, at: now)
  }

  /// Decides about a task whose job has ended without a result, if none can be expected any more.
  func decideIfDue(_ task: SlurmTask, at now: Nanoseconds) {
    guard let due = task.decisionDue(plan, hasSeenClaim: hasSeenClaim), due <= now else { return }
    guard let job = task.seen else { return conclude(task, .vanished, at: now) }
    switch job.state {
    case .cancelled: conclude(task, .cancelled(job), at: now)
    case .timeLimit: conclude(task, .timeLimit(job), at: now)
    case .outOfMemory: conclude(task, .outOfMemory(job), at: now)
    case .preempted: conclude(task, .lostNode("job \(job.id) was preempted"), at: now)
    case .nodeFailed: conclude(task, .lostNode(SlurmMessage.nodeFailed(job)), at: now)
    case .bootFailed: conclude(task, .neverStarted("job \(job.id) could not be started"), at: now)
    case .ended, .failed: conclude(task, .noResult(job), at: now)
    case .pending, .running, .other: break
    }
  }

  func hasClaim(_ task: SlurmTask) -> Bool {
    // A claim that cannot be read was made.
    guard (try? task.home.files.claim(of: task.number)) != .some(nil) else { return false }
    hasSeenClaim = true
    return true
  }
}

extension SlurmTask {
  /// When it is decided what the end of its job means; nil if that has not ended.
  func decisionDue(_ plan: SlurmPlan, hasSeenClaim: Bool) -> Nanoseconds? {
    guard let missedSince else { return nil }
    // A job that fails before any of the run was seen here cannot reach the directory: that is no matter of waiting.
    if seen?.state == .failed, !hasSeenClaim {
      return missedSince + min(plan.fileWait, 5 * SlurmExecutor.second)
    }
    guard let seen, seen.state != .ended, seen.state != .failed, !seen.isLive else {
      return missedSince + (stopSignal == nil ? plan.fileWait : SlurmExecutor.second)
    }
    return missedSince + SlurmExecutor.second
  }
}
