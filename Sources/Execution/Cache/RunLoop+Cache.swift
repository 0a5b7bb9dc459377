// Steps that are up to date: the cache is asked at their gates, and keeps their results when they
// have succeeded. Processes of oprun read and copy the files, so that the loop goes on.
// docs/design-cache.md.

import Caching
import Diagnostics
import Expressions
import Glibc
import Masking
import Plans
import RunFiles
import Running
import Scheduling

/// The answer of the cache about a step.
enum CachedAnswer {
  /// The answer will be known later.
  case later
  case hit(CacheHit)
  case runs
  /// The step is not cached.
  case unknown
}

extension RunLoop {
  /// The answer to whether the step need not run.
  func cached(_ operation: OperationID, _ id: String, _ step: ReadyStep) -> CachedAnswer {
    guard let caching, let asked = CacheableStep(id, step) else { return .unknown }
    let lookup: CacheLookup
    if let known = caching.lookups[operation] {
      lookup = known
    } else if caching.cache.isOff || builder.isTraced(id) {
      lookup = caching.cache.bypass(id, asked.settings)
      caching.lookups[operation] = lookup
    } else {
      let upstream = upstream(of: operation, step.settings.workingDirectory, caching)
      let isBeingMade = !earlierRuns(of: id).isEmpty
      if !isBeingMade,
        let hit = caching.cache.unchanged(asked, upstream: upstream)
      {
        caching.unchanged.insert(operation)
        return .hit(hit)
      }
      lookup = caching.cache.lookup(asked, upstream: upstream)
      lookup.isBeingMade = isBeingMade
      caching.lookups[operation] = lookup
    }
    switch caching.cache.advance(lookup) {
    case .ask(let jobs):
      caching.await(jobs, by: operation)
      return .later
    case .locked:
      caching.awaitLock(of: operation, at: now)
      return .later
    case .hit(let hit):
      tellOfDamage(to: lookup, operation, runs: false)
      return .hit(hit)
    case .miss:
      caching.cache.release(lookup)
      tellOfMiss(lookup, operation)
      return lookup.isBypass || lookup.fault != nil ? .unknown : .runs
    }
  }

  /// Says why a step runs, unless its inputs are the reason, and which variables it does not get.
  func tellOfMiss(_ lookup: CacheLookup, _ operation: OperationID) {
    if let refusal = lookup.refusal {
      let step = quoted(machine.steps[operation].id)
      say("the outputs of step \(step) are not restored: \(refusal.message)")
    }
    if let fault = lookup.fault { tellOfFault(fault, operation) }
    tellOfDamage(to: lookup, operation, runs: true)
    for name in lookup.withheld {
      let step = quoted(machine.steps[operation].id)
      say(
        "step \(step) uses $\(name), which cached steps do not get: name it in 'env' of its 'cache'",
        onceFor: "$" + name)
    }
  }

  /// The files that the step may have got from cached steps. Outputs of other steps are among its
  /// inputs or in its command.
  private func upstream(
    of operation: OperationID, _ directory: String?, _ caching: RunCache
  ) -> Upstream {
    var upstream = Upstream(of: directory, in: builder.workspace)
    for step in stepsBefore(operation) {
      if let result = caching.result(of: step, id: { machine.steps[step].id }) {
        upstream.add(result, of: machine.steps[step].id, declaration(of: step))
      } else {
        upstream.addOutputs(of: declaration(of: step))
      }
    }
    // As long as no command has run and nothing was restored, all files are what they were when
    // their steps were asked about.
    if caching.hasChangedFiles { caching.cache.lookAgain(at: &upstream, Int(turnTime)) }
    return upstream
  }

  /// The settings with which the step runs, as far as its cache is concerned.
  func declaration(of step: OperationID) -> StepSettings {
    findings.declarations[step] ?? machine.steps[step].settings
  }

  /// The steps that an operation depends on. Groups are replaced by their members.
  func stepsBefore(_ operation: OperationID) -> [OperationID] {
    added.dependencies(of: operation).flatMap { steps(in: $0) }
  }

  private func steps(in operation: OperationID) -> [OperationID] {
    let members =
      machine.groups.members(of: operation) + (machine.copies(of: operation)?.map(\.0) ?? [])
    if members.isEmpty { return machine.groupPlan(operation) == nil ? [operation] : [] }
    return members.flatMap { steps(in: $0) }
  }

  // MARK: Jobs

  /// Starts jobs; returns false if the machine has nothing new to do.
  func askCache(at time: Nanoseconds) -> Bool {
    guard let caching else { return false }
    var isChanged = false
    while let (slot, job) = caching.jobs.takeNext(at: time) {
      guard let reply = ask(slot, job, caching) else { continue }
      isChanged = true
      take(reply, from: slot, caching, at: time)
    }
    return useAnswers(at: time) || isChanged
  }

  /// Gives a job to a process; returns the answer if there is one already.
  private func ask(_ slot: Int, _ job: CacheJob, _ caching: RunCache) -> CacheReply? {
    switch job {
    case .fetch where !caching.cache.readsShared: return .transferred(.absent)
    case .store where !caching.cache.writesShared: return .transferred(.absent)
    case .inspect, .tool, .restore, .keep, .fetch, .store: break
    }
    do throws(SystemError) {
      let worker = try worker(slot, caching)
      if worker.ask(job) { return nil }
      closeWorker(slot, caching)
      throw SystemError("cannot ask a process of the cache", errno: EPIPE)
    } catch {
      return .fault(CacheFailure(refusalMessage(error)))
    }
  }

  private func worker(_ slot: Int, _ caching: RunCache) throws(SystemError) -> CacheWorker {
    if let worker = caching.workers[slot] { return worker }
    let worker = try CacheWorker.start(caching.cache.folder, caching.cache.shared)
    waiting.ownProcesses.insert(worker.processID)
    caching.workers[slot] = worker
    try waiting.add(worker.output, for: .caching, number: slot)
    return worker
  }

  private func closeWorker(_ slot: Int, _ caching: RunCache) {
    guard let worker = caching.workers.removeValue(forKey: slot) else { return }
    waiting.remove(worker.output)
    if caching.jobs.isIdle(slot) { worker.dismiss() }
    endedHashers.append(worker.processID)
  }

  /// Reads an answer of a process of the cache.
  func takeReply(_ slot: Int, at time: Nanoseconds) {
    guard let caching, let reply = caching.workers[slot]?.take() else { return }
    if caching.workers[slot]?.isGone == true { closeWorker(slot, caching) }
    take(reply, from: slot, caching, at: time)
  }

  private func take(
    _ reply: CacheReply, from slot: Int, _ caching: RunCache, at time: Nanoseconds
  ) {
    switch reply {
    case .transferred(let end):
      let message =
        if let taken = caching.jobs.fetchTime(slot, at: time) {
          caching.cache.hear(end, after: taken)
        } else { caching.cache.hear(end) }
      if let message { say(message) }
    case .restored(nil, _, _), .restored(_, hasChanged: true, _), .fault:
      caching.hasChangedFiles = true
    case .inspected, .tool, .restored, .kept: break
    }
    switch caching.jobs.finish(slot, reply, at: time) {
    case .keeping(let command): seal(command, reply, caching, at: time)
    case .step(let operation): freeOutputs(of: operation, caching, at: time)
    case .tool, .sharing, nil: break
    }
  }

  /// Gives back the lock of a step that has ended, once no process of this run writes its outputs any more: another
  /// run may write them from then on, and so may the steps that come next.
  private func giveBackLock(of operation: OperationID, _ caching: RunCache, at time: Nanoseconds) {
    guard let lookup = caching.lookups[operation] else { return }
    switch caching.jobs.withdraw(.step(operation)) {
    case .none: caching.cache.release(lookup)
    case .dropped: freeOutputs(of: operation, caching, at: time)
    case .running(let slot): caching.workers[slot]?.end()
    }
  }

  /// Releases the lock of a step after nothing restores its outputs any more: the step has ended
  /// otherwise, or was begun anew.
  private func freeOutputs(of operation: OperationID, _ caching: RunCache, at time: Nanoseconds) {
    if let lookup = caching.lookups[operation] { caching.cache.release(lookup) }
    let waiting = caching.goOn(.step(operation))
    caching.forget(operation)
    decideAgain(waiting, at: time)
  }

  /// Lets steps at their gates go on with the answers; false if there are none to use yet.
  @discardableResult
  func useAnswers(at time: Nanoseconds) -> Bool {
    guard let caching else { return false }
    let answers = caching.jobs.takeAnswers(at: time)
    for (key, reply) in answers {
      switch key {
      case .tool(let command): caching.cache.take(reply, ofTool: command)
      case .step(let operation): caching.lookups[operation]?.take(reply)
      case .keeping, .sharing: break
      }
    }
    machine.holdStarts()
    for (key, _) in answers { decideAgain(caching.goOn(key), at: time) }
    machine.startHeld(at: time)
    return !answers.isEmpty
  }

  private func decideAgain(_ operations: [OperationID], at time: Nanoseconds) {
    for operation in operations {
      if let question = machine.question(about: operation) { decide(operation, question, at: time) }
    }
  }

  /// Ends the processes of the cache and of hashing.
  func endCaching() {
    guard let caching else { return }
    for slot in Array(caching.workers.keys) { closeWorker(slot, caching) }
    endHashing()
    caching.cache.end()
  }

  /// Waits for a while until results are stored in the shared cache, and says so if that takes
  /// long. A signal ends the wait.
  func finishStoring(after end: RunEnd) {
    guard let caching, [nil, .noOutputs].contains(end.stopReason) || end.isDetached
    else { return }
    let deadline = now + Self.storingTime
    var tellingDue: Nanoseconds? = now + Self.silentStoringTime
    while caching.jobs.isStoring, now < deadline {
      _ = askCache(at: now)
      guard caching.jobs.isStoring else { return }
      if let due = tellingDue, now >= due {
        tellingDue = nil
        tellOfStoring()
      }
      let ready = waiting.wait(until: tellingDue ?? deadline)
      if ready.contains(where: { $0.owner == .signals || $0.owner == .watcher }) { break }
      let time = now
      for item in ready { pass(item, at: time) }
    }
    guard caching.jobs.isStoring else { return }
    say("not all results could be stored in the shared cache")
  }

  private static var storingTime: Nanoseconds { 60_000_000_000 }
  private static var silentStoringTime: Nanoseconds { 1_000_000_000 }

  /// Tells the user that uploads are waited for, once the end of the run itself has been read.
  private func tellOfStoring() {
    if outlets.contains(where: { $0.pendingDescriptor != nil }) { return }
    options.tellAtOnce?("waiting for uploads to the shared cache")
  }

  /// Asks again about steps that another run is running.
  func retryLocked(at time: Nanoseconds) {
    guard let caching, let waiting = caching.takeLocked(at: time) else { return }
    for operation in waiting.long {
      let step = quoted(machine.steps[operation].id)
      say("\(step) waits for \(caching.maker(of: operation))")
      caching.withLockOfJob(operation) {
        executor.openJobs?.watchJob(making: $0, at: time)
      }
    }
    decideAgain(waiting.asked, at: time)
    machine.startDeferred(waiting.deferred, at: time)
  }

  // MARK: Results

  /// Begins to keep the result of a command; false if there is nothing to keep.
  func keepResult(of key: CommandKey, _ end: CommandEnd) -> Bool {
    guard let caching, end.status == .exited(0), let lookup = caching.lookups[key.operation],
      machine.undisturbedAttempt(of: key, end) != nil, !waitsForNothing
    else { return false }
    if end.lackedConfinement, lookup.expectsConfinement {
      tellOfFault(.unconfined, key.operation)
      return false
    }
    let log =
      options.directory.logs.contains(key.operation, key.role)
      ? "\(builder.folder)/\(builder.logName(of: key, step: machine.steps[key.operation].id))" : nil
    guard let job = caching.cache.keepJob(of: lookup, log: log) else { return false }
    caching.ends[key] = end.reportedLater
    caching.add(job, for: .keeping(key))
    return true
  }

  /// True if the run waits for nothing any more, or cannot record successes. Otherwise results are kept also while the
  /// run stops: a step whose success is recorded, and whose result is not kept, would run again.
  private var waitsForNothing: Bool {
    switch machine.stopReason {
    case nil, .failure, .noOutputs, .signal, .runTimeout, .groupTimeout, .noWidth, .suspended,
      .request:
      false
    case .left, .stateFailure, .overtaken, .died: true
    }
  }

  /// Reports the end of a command whose result is no longer to be kept; false if none was being kept.
  func dropKeeping(_ key: CommandKey, at time: Nanoseconds) -> Bool {
    guard let end = caching?.ends.removeValue(forKey: key) else { return false }
    conclude(key, end, at: time)
    return true
  }

  private func seal(
    _ key: CommandKey, _ reply: CacheReply, _ caching: RunCache, at time: Nanoseconds
  ) {
    guard let end = caching.ends.removeValue(forKey: key) else { return }
    if let lookup = caching.lookups[key.operation] {
      let published = outputs[key.operation].published.map { output in
        PublishedOutput(
          name: output.name, json: output.json,
          isMasked: masker?.finds(inJSON: output.json) == true)
      }
      do throws(CacheFailure) {
        let sealed = try lookup.seal(reply, published)
        caching.sealed[key.operation] = sealed
        options.memory?.noteResult(key.operation, sealed.digest.number)
        for pattern in lookup.unmatchedInputs {
          let step = quoted(machine.steps[key.operation].id)
          say("no file matches \(quoted(pattern)), an input of step \(step)")
        }
      } catch {
        tellOfFault(error, key.operation)
      }
    }
    conclude(key, end, at: time)
  }

  /// Learns from events: a result is kept when its step has succeeded, with its hooks.
  func learn(_ event: RunEvent.Kind, _ caching: RunCache, at time: Nanoseconds) {
    guard case .settled(let operation, let ending, _) = event else { return }
    defer { giveBackLock(of: operation, caching, at: time) }
    if ending.outcome == .cached { closeShownAgain(operation) }
    guard let sealed = caching.sealed.removeValue(forKey: operation),
      ending.outcome == .succeeded
    else { return }
    do throws(CacheFailure) {
      try caching.cache.publish(sealed)
      if caching.cache.writesShared { caching.add(sealed.storeJob, for: .sharing(operation)) }
    } catch {
      tellOfFault(error, operation)
    }
  }

  /// Writes the records of this turn to the cache.
  func writeCache(at time: Nanoseconds) {
    guard let caching else { return }
    do throws(CacheFailure) {
      try caching.cache.flush()
    } catch {
      say(error.message)
    }
  }

  func tellOfFault(_ fault: CacheFailure, _ operation: OperationID) {
    say("step \(quoted(machine.steps[operation].id)) is not cached: \(fault.message)")
  }

  /// Says something about cached steps, once for each message or subject.
  func say(_ message: String, onceFor subject: String? = nil) {
    guard let caching, caching.told.insert(subject ?? message).inserted else { return }
    if end == nil {
      tell(.notice(message), at: turnTime)
    } else {
      caching.cache.lateNotices.append(message)
    }
  }
}
