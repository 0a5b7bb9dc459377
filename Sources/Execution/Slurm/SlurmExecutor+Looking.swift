// Looks at Slurm's queue: one call for all jobs, at most every `poll`. A look decides nothing about the end
// of a command as long as a result may come.

import Diagnostics
import Plans
import Running
import Scheduling

extension SlurmExecutor {
  /// When the next look at the queue is due; nil if it would tell nothing.
  var lookDue: Nanoseconds? {
    looks.due(
      isAwaited: isWatching || earlierHomes.values.contains { !$0.forbidden.isEmpty },
      mayShowJobs: counts.open > 0)
  }

  func look(at now: Nanoseconds) {
    looks.begin(at: now)
    call(SlurmCommands.look, .look(since: now), at: now)
  }

  /// Handles the answer to a look. `since` is when it began: a later submission may not be in it.
  func looked(_ answer: SlurmAnswer, since: Nanoseconds, at now: Nanoseconds) {
    looks.end()
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
    tellEnded()
    lookAtWatched(answer.output, since: since, at: now)
    looks.learn(
      duration: now - since, processorTime: answer.processorTime, changes: counts.changes)
  }

  private func examine(
    _ home: TaskHome, _ listing: QueueListing, since: Nanoseconds, at now: Nanoseconds
  ) {
    // Nothing has changed, here or there.
    if home.quietAt == counts.changes { return }
    var isQuiet = true
    var stuck = StuckJobs()
    var delayed: [String] = []
    for number in home.tasks.keys.sorted() {
      guard let task = home.tasks[number] else { continue }
      let job = listing.job(of: number, known: task.job)
      if job == nil, listing.isIncomplete { continue }
      let seen = examine(task, job, since: since, at: now)
      if !seen.isQuiet { isQuiet = false }
      if seen.isDelayed, let job { delayed.append(job.id) }
      if job?.isStuck == true { stuck.add(task) }
    }
    startAtOnce(delayed, at: now)
    news += stuck.messages.map { .event(.notice($0)) }
    // Slurm has requeued jobs although their tasks have results: some would be held there for ever.
    let settled = listing.jobs.keys.filter(home.settled.contains).sorted()
      .flatMap { listing.jobs[$0] ?? [] }.filter { $0.state == .pending }.map(\.id)
    stops.cancel(settled)
    cancelForbidden(in: home, listing, at: now)
    home.quietAt = isQuiet && settled.isEmpty && home.forbidden.isEmpty ? counts.changes : nil
  }

  /// Asks for the end of forbidden jobs, at each look again, because Slurm may not have heard it.
  private func cancelForbidden(in home: TaskHome, _ listing: QueueListing, at now: Nanoseconds) {
    if listing.isIncomplete {
      if !home.forbidden.isEmpty { looks.want() }
      return
    }
    for (number, own) in home.forbidden.sorted(by: { $0.key < $1.key }) {
      let live = (listing.jobs[number] ?? []).filter(\.isLive).map(\.id)
      if live.isEmpty {
        home.forbidden[number] = nil
        ends.addDecided([own])
        held.noteEnd(at: now)
      } else {
        stops.cancel(live)
        looks.want()
        tellWhoWaits(for: number, in: home, live)
      }
    }
  }

  private func tellWhoWaits(for number: Int, in home: TaskHome, _ jobs: [String]) {
    for task in held.keys.compactMap({ tasks[$0] }) where !task.hasToldOfBlocker {
      guard task.blockers.contains(where: { $0.home === home && $0.number == number }) else {
        continue
      }
      task.hasToldOfBlocker = true
      news.append(.event(.notice(SlurmMessage.waitsForEarlier(task.step, jobs[0]))))
    }
  }

  /// Lets requeued jobs start at once: they would wait for two minutes.
  private func startAtOnce(_ jobs: [String], at now: Nanoseconds) {
    for start in stride(from: 0, to: jobs.count, by: SlurmCommands.jobsPerCall) {
      let part = jobs[start..<min(start + SlurmCommands.jobsPerCall, jobs.count)]
      call(SlurmCommands.immediateStart(of: Array(part)), .other, at: now)
    }
  }

  /// The work that a look at a job leaves.
  private struct Examined {
    /// False if there may be something to do the next time even if the listing is the same.
    var isQuiet = false
    /// True if Slurm has requeued the job and delays it.
    var isDelayed = false
  }

  private func examine(
    _ task: SlurmTask, _ job: QueuedJob?, since: Nanoseconds, at now: Nanoseconds
  ) -> Examined {
    switch task.phase {
    case .held, .submitting: return Examined(isQuiet: true)
    case .submitted(let time) where time >= since: return Examined()
    case .unsure(let time) where time >= since: return Examined()
    case .examined where task.startedAt > since: return Examined()
    case .submitted, .unsure, .examined: break
    }
    guard let job else {
      missed(task, at: now)
      return Examined()
    }
    if task.seen?.state != job.state { looks.noteMove() }
    let wasExamined = task.phase == .examined
    if case .submitted = task.phase {} else { task.phase = .submitted(since: since - 1) }
    if task.job != job.id || wasExamined { note(job.id, of: task) }
    if job.isLive { return live(task, job, at: now) }
    ended(task, job, at: now)
    return Examined()
  }

  private func live(_ task: SlurmTask, _ job: QueuedJob, at now: Nanoseconds) -> Examined {
    task.missedSince = nil
    let isNews = task.seen != job
    // A requeued job is listed before Slurm says why it waits, which may take until Slurm's next
    // round.
    let isPutBack =
      task.seen?.state == .running && job.state == .pending && job.reason == "None"
    task.seen = job
    if job.isHeldAfterFailure {
      stops.cancel([job.id])
      // The job does not begin by itself any more.
      task.missedSince = now
      conclude(task, .neverStarted("job \(job.id): \(job.reason)"), at: now)
      return Examined()
    }
    if isPutBack { task.forgetLog() }
    if isNews {
      if job.state == .running { noticed.insert(task.key) }
      let waits = job.state == .pending && job.reason != "None" ? job.reason : nil
      tell(CommandPlacement(job: job.id, node: job.node, reason: waits), of: task)
    }
    // Somebody may have set when the job is to begin for the first time.
    let isDelayed = isPutBack || job.waitsForItsTime && holder(of: task) != .nobodyYet
    return Examined(isQuiet: !job.waitsForItsTime, isDelayed: isDelayed)
  }

  /// Handles a task whose job is not in the queue.
  private func missed(_ task: SlurmTask, at now: Nanoseconds) {
    switch task.stopSignal == nil ? holder(of: task) : takeAway(task) {
    case .nobodyYet: submitAgain(task, at: now)
    case .oprun: conclude(task, .neverStarted("its task was given up"), at: now)
    case .job, .unknown: awaitResult(of: task, at: now)
    }
  }

  /// Submits a task with which no job has begun: the claim makes it safe to submit the same task
  /// again, even if its submission is still under way.
  private func submitAgain(_ task: SlurmTask, at now: Nanoseconds) {
    switch task.phase {
    case .held, .submitting: return
    case .examined:
      makeOwnIfDamaged(task)
      hold(task, at: now)
    case .unsure: putBack(task, at: now)
    case .submitted:
      guard task.againCount < task.request.infrastructureRetries else {
        return conclude(task, .vanished, at: now)
      }
      // The controller has lost the job.
      task.againCount += 1
      putBack(task, at: now)
    }
  }

  /// Awaits the result of a job that is gone from the queue: it may not be seen here yet.
  /// `decideIfDue` concludes tasks without one.
  func awaitResult(of task: SlurmTask, at now: Nanoseconds) {
    task.phase = .submitted(since: -1)
    task.seen = nil
    task.missedSince = task.missedSince ?? now
    noticed.insert(task.key)
  }

  /// Handles a job that has ended without a result so far.
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
}

extension SlurmTask {
  /// When the end of its job is decided about; nil if the job has not ended.
  func decisionDue(_ plan: SlurmPlan, hasSeenClaim: Bool) -> Nanoseconds? {
    guard let missedSince else { return nil }
    // A job that fails before any job of the run was seen here cannot reach the directory: waiting
    // does not help.
    if seen?.state == .failed, !hasSeenClaim {
      return missedSince + min(plan.fileWait, 5 * SlurmExecutor.second)
    }
    guard let seen, seen.state != .ended, seen.state != .failed, !seen.isLive else {
      return missedSince + (stopSignal == nil ? plan.fileWait : SlurmExecutor.second)
    }
    return missedSince + SlurmExecutor.second
  }
}

/// The jobs that wait for a reason that does not go away by itself, and for which that was not
/// reported. Jobs of one array are reported together.
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
