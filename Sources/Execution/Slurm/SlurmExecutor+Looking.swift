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
    guard QueueListing.isListing(answer.output) else {
      return sayAway("squeue printed something other than the queue")
    }
    if isAway {
      isAway = false
      news.append(.event(.notice(SlurmMessage.back)))
    }
    scan(at: now, isThorough: true)
    let known = [home].compactMap(\.self) + earlierHomes.values.sorted { $0.folder < $1.folder }
    for home in known { examine(home, home.listing(answer.output), since: since, at: now) }
    // A queue that takes long to list is asked for less often: looks take at most a twentieth of the time, because a
    // busy machine makes any of them long, and one part in 300 of a processor, or in 100 while jobs begin and end.
    let isMoving = hasMoved || counts.changes != changesSeen
    hasMoved = false
    changesSeen = counts.changes
    lookInterval = min(
      max((now - since) * 20, answer.processorTime * (isMoving ? 100 : 300)),
      Self.longestLookInterval)
  }

  private func examine(
    _ home: TaskHome, _ listing: QueueListing, since: Nanoseconds, at now: Nanoseconds
  ) {
    // Nothing has moved, here or there.
    if home.quietAt == counts.changes { return }
    var isQuiet = true
    var stuck = StuckJobs()
    for number in home.tasks.keys.sorted() {
      guard let task = home.tasks[number] else { continue }
      let job = listing.job(of: number, known: task.job)
      if job == nil, listing.isIncomplete { continue }
      if !examine(task, job, since: since, at: now) { isQuiet = false }
      if job?.isStuck == true { stuck.add(task) }
    }
    news += stuck.messages.map { .event(.notice($0)) }
    // Slurm has put them back into its queue although they have a result: some would be held there for ever.
    let settled = listing.jobs.keys.filter(home.settled.contains).sorted()
      .flatMap { listing.jobs[$0] ?? [] }.filter { $0.state == .pending }.map(\.id)
    unwanted += settled
    cancelForbidden(in: home, listing)
    home.quietAt = isQuiet && settled.isEmpty && home.forbidden.isEmpty ? counts.changes : nil
  }

  private func cancelForbidden(in home: TaskHome, _ listing: QueueListing) {
    if listing.isIncomplete { return wantsLook = wantsLook || !home.forbidden.isEmpty }
    for (number, task) in home.forbidden.sorted(by: { $0.key < $1.key }) {
      let live = (listing.jobs[number] ?? []).filter(\.isLive).map(\.id)
      if live.isEmpty {
        home.forbidden[number] = nil
        endedNumbers.append(task.own)
      } else {
        if !task.isSeen { unwanted += live }
        home.forbidden[number]?.isSeen = true
        wantsLook = true
      }
    }
  }

  /// Returns false if there may be something to do the next time even if all looks the same.
  private func examine(
    _ task: SlurmTask, _ job: QueuedJob?, since: Nanoseconds, at now: Nanoseconds
  ) -> Bool {
    switch task.phase {
    case .held, .submitting: return true
    case .submitted(let time) where time >= since: return false
    case .unsure(let time) where time >= since: return false
    case .examined where task.startedAt > since: return false
    case .submitted, .unsure, .examined: break
    }
    guard let job else {
      missed(task, at: now)
      return false
    }
    if task.job != job.id { note(job.id, of: task) }
    if task.seen?.state != job.state { hasMoved = true }
    if case .submitted = task.phase {} else { task.phase = .submitted(since: since - 1) }
    if job.isLive { return live(task, job, at: now) }
    ended(task, job, at: now)
    return false
  }

  private func live(_ task: SlurmTask, _ job: QueuedJob, at now: Nanoseconds) -> Bool {
    task.missedSince = nil
    let isNews = task.seen != job
    // It is put back before Slurm says why it waits, which may take until Slurm's next round.
    let isPutBack =
      task.seen?.state == .running && job.state == .pending && job.reason == "None"
    task.seen = job
    if job.isHeldAfterFailure {
      unwanted.append(job.id)
      conclude(task, .neverStarted("job \(job.id): \(job.reason)"), at: now)
      return false
    }
    if isPutBack { task.forgetLog() }
    // Somebody may have said when it is to begin for the first time.
    if isPutBack || job.waitsForItsTime && hasClaim(task) {
      call(SlurmCommands.immediateStart(of: job.id), .other, at: now)
    }
    if isNews {
      if job.state == .running { noticed.insert(task.key) }
      let waits = job.state == .pending && job.reason != "None" ? job.reason : nil
      tell(CommandPlacement(job: job.id, node: job.node, reason: waits), of: task)
    }
    return !job.waitsForItsTime
  }

  /// The queue does not know a job of the task.
  private func missed(_ task: SlurmTask, at now: Nanoseconds) {
    if task.stopSignal != nil, forbid(task) || !hasClaim(task) {
      return conclude(task, .cancelled(nil), at: now)
    }
    switch task.phase {
    case .held, .submitting: return
    case .examined:
      // Its submission may still be under way: the claim makes it safe to repeat it.
      if (try? task.home.files.claim(of: task.number)) == NodeFiles.nobody {
        return conclude(task, .neverStarted("its task was given up"), at: now)
      }
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
  func awaitResult(of task: SlurmTask, at now: Nanoseconds) {
    task.phase = .submitted(since: -1)
    task.seen = nil
    let since = task.missedSince ?? now
    task.missedSince = since
    noticed.insert(task.key)
    if now >= since + plan.fileWait { conclude(task, .vanished, at: now) }
  }

  /// The job has ended, and there is no result.
  private func ended(_ task: SlurmTask, _ job: QueuedJob, at now: Nanoseconds) {
    task.seen = job
    task.missedSince = task.missedSince ?? now
    noticed.insert(task.key)
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

  /// Takes the task away from jobs that have not begun with it; false if one has.
  func forbid(_ task: SlurmTask) -> Bool {
    (try? task.home.files.claim(task.number, for: NodeFiles.nobody)) == NodeFiles.nobody
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

/// The jobs that wait for a reason that does not go away by itself, and of which that was not said. Those of one array are
/// told of together.
private struct StuckJobs {
  private var steps: [String: (first: String, job: QueuedJob, count: Int)] = [:]
  private var order: [String] = []

  mutating func add(_ task: SlurmTask) {
    guard let job = task.seen, task.toldReason != job.reason else { return }
    task.toldReason = job.reason
    let key = "\(JobName(job.id).array) \(job.reason)"
    if steps[key] == nil { order.append(key) }
    steps[key, default: (task.step, job, 0)].count += 1
  }

  var messages: [String] {
    order.compactMap { steps[$0] }.map { SlurmMessage.stuck($0.first, $0.job, count: $0.count) }
  }
}
