// Decides what happens next in a run: attempts, time limits, stop sequences, hooks, the end. Pure:
// it is told what happened and when, and answers what to do. It starts nothing and reads no clock.

package import Plans
package import Scheduling

/// The decisions of one run.
///
/// Frequent queries are `mutating` although they change nothing: a caller in another module would
/// otherwise copy the whole value first.
package struct RunMachine {
  package enum Action: Hashable, Sendable {
    /// Start the command, unless `mayStart` is false by then: earlier events must be recorded first.
    case start(CommandKey)
    /// Ask the command to end.
    case stop(CommandKey, signal: Int32)
    /// End the command now.
    case kill(CommandKey)
    /// Answer the question about the operation, in the same turn or any later one: `decided`.
    case decide(OperationID, Question)
    /// Read the outputs of the service, which is ready apart from that; the answer is `published`.
    case publish(CommandKey)
    case tell(RunEvent.Kind)
  }

  /// How far the run has come.
  enum Course {
    case underWay
    /// Every operation has its outcome since this time, and the run's own hooks follow.
    case concluding(since: Nanoseconds)
    case over(RunEnd)
  }

  package let plan: Plan
  /// The steps; their number grows when steps are expanded.
  package internal(set) var steps: RunSteps
  let rules: RunRules
  /// True if a queue may be resumed or widened from outside during the run: a run that can start
  /// nothing because one was paused then waits for that, instead of ending.
  package var canBeChangedFromOutside = false
  /// True if an event has reported that the run waits for such a change.
  var hasToldWaiting = false
  /// True if steps share a mutex with other runs.
  let hasHostMutexes: Bool
  /// The numbers of the last attempts of ended steps that may be run again.
  var lastAttempts: [OperationID: Int] = [:]
  /// The number of times that each ended step was run again.
  var reopenings: [OperationID: Int] = [:]
  package internal(set) var scheduler: Scheduler
  var queuesOpenedByName: Set<QueueID> = []
  var active: [OperationID: ActiveOperation] = [:]
  /// The gates, changed only by `setGate`.
  private(set) var gates: [OperationID: Gate] = [:]
  /// The number of gates about which news will come.
  private(set) var expectedCount = 0
  /// Probes of conditions that nothing waits for any more; their ends are still to come.
  var abandonedProbes: Set<CommandKey> = []
  package internal(set) var groups: Groups
  var groupStates: GroupStates
  /// Groups whose steps have ended, in this order; their hooks start as soon as there is room.
  var dueGroupHooks: [(group: OperationID, state: ActiveOperation)] = []
  var services: Services
  var patterns: Patterns
  var instanceLimits: InstanceLimits
  var waits = WaitWatch()
  /// The number of probes whose commands have not ended.
  var probeCount = 0
  var timers = Timers()
  var startHold = StartHold()
  private(set) var actions: [Action] = []
  /// Steps that do not start here, and whose jobs of an earlier run are to end.
  var endingElsewhere: Set<OperationID> = []
  /// Steps whose jobs of an earlier run go on, until they start here or end.
  var goingOn: Set<OperationID> = []
  /// Operations whose commands were left to go on, with all groups around them.
  var left: Set<OperationID> = []
  /// True if another run goes on with this one, and runs its hooks.
  var isOvertaken = false
  /// The first reason to end the run early.
  package internal(set) var stopReason: StopReason?
  package internal(set) var signalCount = 0
  /// Messages about what could not be kept; each is told once.
  var stateFailures: Set<String> = []
  /// Operations that failed without permission (in a strict run, all that failed), and those that somebody cancelled.
  var failedSteps: [OperationID] = []
  private(set) var course = Course.underWay
  /// True while the outputs of the pipeline are being made, before the hooks of the run.
  var asksForOutputs = false
  private var random: RandomSource

  /// The time after which a hook is killed while the run is being stopped for another reason than a
  /// failure, or after its operation was cancelled.
  package static let hookLimit: Nanoseconds = 30_000_000_000

  package init(plan: Plan, rules: RunRules = RunRules(), seed: UInt64 = 1) {
    self.plan = plan
    self.rules = rules
    steps = RunSteps(plan)
    hasHostMutexes = rules.sharesHostMutexes && plan.pools.contains(where: \.isGranted)
    let pools = rules.sharesHostMutexes ? plan.pools : plan.pools.map(\.alwaysOpen)
    var graph = plan.graph
    if rules.gatesAll { for index in 0..<graph.count { graph.setGated(OperationID(index)) } }
    scheduler = Scheduler(graph: graph, queues: plan.queues, pools: pools)
    groups = Groups(plan)
    groupStates = GroupStates(plan)
    services = Services(plan, groups)
    patterns = Patterns(plan)
    instanceLimits = InstanceLimits(plan, idle: rules.idleSteps.planned)
    random = RandomSource(seed: seed)
  }

  // MARK: Told

  package mutating func begin(at now: Nanoseconds) {
    if let timeout = plan.timeout {
      timers.set(
        Timer(
          at: now + timeout, operation: .run, purpose: .runTimeLimit, phase: 0))
    }
    startReady(at: now)
  }

  /// Called when a command that was started has ended, or could not be started. `stateFailure` stops the
  /// run before anything else starts.
  package mutating func ended(
    _ key: CommandKey, _ end: CommandEnd, stateFailure: String? = nil, at now: Nanoseconds
  ) {
    switch key.role {
    case .attempt: attemptEnded(key, end, at: now)
    case .hook(let kind, _, _): hookEnded(key, kind, end, at: now)
    case .probe: probeEnded(key, end, nil, at: now)
    }
    if let stateFailure { stateFailed(stateFailure, at: now) }
    startReady(at: now)
  }

  /// The state of the operation of a command that has ended.
  mutating func state(of key: CommandKey) -> ActiveOperation {
    guard let state = active[key.operation], state.role == key.role else {
      preconditionFailure("the command is not what runs for its operation")
    }
    return state
  }

  /// Handles everything that is due by now.
  package mutating func advance(to now: Nanoseconds) {
    while let timer = timers.earliest, timer.at <= now {
      timers.removeEarliest()
      fire(timer, at: now)
    }
    startReady(at: now)
  }

  // MARK: Asked

  package mutating func takeActions() -> [Action] {
    startHold.heard()
    if actions.isEmpty { return [] }
    defer { actions.removeAll(keepingCapacity: true) }
    return actions
  }

  // MARK: Attempts

  /// True if one more command may run.
  var hasRoom: Bool { scheduler.runningCount + probeCount < rules.commandLimit }

  /// True if one more attempt may run. Services never take the last place, which is for the
  /// commands that look after them.
  private var hasRoomForAttempt: Bool {
    services.isEmpty
      ? hasRoom : scheduler.runningCount + probeCount + 1 < max(2, rules.commandLimit)
  }

  mutating func startReady(at now: Nanoseconds) {
    if startHold.postpones() { return }
    // Groups that end at their gates may have been the last to need a service.
    repeat {
      endReleased(at: now)
      askAtGates()
    } while services.hasReleased
    if startHold.postpones() { return }
    startDueHooks(at: now)
    while hasRoomForAttempt, let operation = scheduler.next() {
      if !asksFirst(about: operation) { startAttempt(of: operation, at: now) }
    }
    watchWaits(at: now)
    guard !awaitsNews, end == nil else { return }
    let isStill = isStill
    guard isStill || !services.isEmpty && isIdle else { return }
    if isStill, scheduler.isFinished { return concludeRun(at: now) }
    // After a stop, only hooks are ready, beside services.
    guard stopReason == nil || !isStill && scheduler.hasReady() else { return }
    // Promises do not hold up operations that are paused or wait for another run.
    if !waitsForOtherRuns, !isHeldBySuspension, scheduler.breakPromises() {
      return startReady(at: now)
    }
    if !scheduler.hasReady(), instanceLimits.releaseOneMore() { return startReady(at: now) }
    if waitsForOtherRuns || waitsForChange() { return }
    if !isStill { return endStandstill(at: now) }
    // Nothing runs, nothing waits for a timer, and still nothing may start.
    cancelRun(isHeldBySuspension ? .suspended : .noWidth, at: now)
    startReady(at: now)
  }

  mutating func startAttempt(of operation: OperationID, at now: Nanoseconds) {
    goingOn.remove(operation)
    let state =
      active[operation]
      ?? ActiveOperation(
        settings: steps.ready(operation).settings, after: attempts(of: operation))
    if state.ending != nil { return continueHooks(of: operation, state, at: now) }
    if groupStates.hasIdle { beginGroups(around: operation, at: now) }
    state.attempt += 1
    start(.attempt(state.attempt), of: operation, state)
    // A job enforces its own time limit, because it first waits in a queue of Slurm.
    if let limit = state.settings.timeout, state.settings.slurm == nil {
      set(.timeLimit, at: now + limit, operation, state)
    }
    active[operation] = state
    waits.changeCount += 1
    if isService(operation) { serviceStarted(operation, at: now) }
  }

  private mutating func attemptEnded(
    _ key: CommandKey, _ end: CommandEnd, at now: Nanoseconds
  ) {
    let state = state(of: key)
    let end = state.marked(end)
    say(.ended(key.operation, key.role, end))
    state.attemptEnd = end
    var outcome = state.outcome(of: end)
    let isService = isService(key.operation)
    if isService { judgeService(key.operation, state, &outcome) }
    if state.settings.retry.covers(outcome, end), mayTryAgain(key.operation, state) {
      wait(for: key.operation, state, at: now)
    } else {
      let ending = Ending(outcome, isAllowed: state.settings.allowFailure.allows(end))
      state.ending = ending
      if isService { serviceFell(key.operation, ending) }
      if outcome == .cancelled, let reason = state.cancelReason ?? stopReason {
        state.cause = .stopped(reason)
      }
      state.planHooks(for: Ending(outcome))
      continueHooks(of: key.operation, state, at: now)
    }
  }

  private func mayTryAgain(_ operation: OperationID, _ state: ActiveOperation) -> Bool {
    guard state.attemptsOfRetry <= state.settings.retry.limit, stopReason == nil,
      state.cancelReason == nil, !(isService(operation) && services.isReady(operation))
    else { return false }
    return !groups.around(operation).contains { groupStates[$0].startsNothing }
  }

  /// Releases slot, mutex and resources until the next attempt.
  private mutating func wait(
    for operation: OperationID, _ state: ActiveOperation, at now: Nanoseconds
  ) {
    let policy = state.settings.retry
    var delay = policy.delay(afterAttempt: state.attemptsOfRetry)
    if policy.hasJitter { delay = random.next(upTo: delay) }
    state.begin(nil)
    state.cause = .itself
    if delay > 0 { set(.retryDue, at: now + delay, operation, state) }
    scheduler.pause(operation)
    // Without a delay the operation competes for the slot that it frees.
    if delay == 0 { scheduler.resume(operation) }
    say(.retrying(operation, nextAttempt: state.attempt + 1, delay: delay))
  }

  // MARK: Outcomes

  mutating func settle(
    _ operation: OperationID, _ state: ActiveOperation, at now: Nanoseconds
  ) {
    guard let ending = state.ending else { preconditionFailure("settled without an ending") }
    if operation == .run { return finishRun(state) }
    if groupStates.durationBeforeHooks(of: operation) != nil {
      return settleGroup(operation, ending, state.cause, at: now)
    }
    noteAttempts(of: operation, state)
    if scheduler.state(of: operation) == .running {
      scheduler.finish(operation, as: ending)
      tell(operation, ending, state.cause)
    } else {
      scheduler.settle(operation, as: ending, cause: state.cause)
      tellSettled()
    }
    noteFailure(of: operation, ending, at: now)
  }

  /// Ends an operation at its gate because of its own fault.
  mutating func end(
    _ operation: OperationID, as ending: Ending, _ cause: Cause, at now: Nanoseconds
  ) {
    scheduler.settle(operation, as: ending, cause: cause)
    tellSettled()
    noteFailure(of: operation, ending, at: now)
  }

  /// Applies the consequences of a failure for the rest of the run.
  mutating func noteFailure(
    of operation: OperationID, _ ending: Ending, at now: Nanoseconds
  ) {
    defer { tellSettled() }
    guard ending.outcome.isFailure else { return }
    let isAllowed = noteFailed(operation, ending)
    if ending.isAllowed { return }
    if !isAllowed { followPolicy(operation, at: now) }
    tellSettled()
    failFast(operation, at: now)
  }

  /// Reports operations that ended without running: blocked, skipped, or cancelled before they
  /// could.
  mutating func tellSettled() {
    while true {
      let settlements = scheduler.takeSettlements()
      if settlements.isEmpty { return }
      for settlement in settlements {
        tell(settlement.operation, settlement.ending, settlement.cause)
      }
    }
  }

  /// The one door of endings: reports each of them.
  private mutating func tell(_ operation: OperationID, _ ending: Ending, _ cause: Cause) {
    say(.settled(operation, asReported(ending, of: operation), cause))
    setGate(of: operation, to: nil)
    if goingOn.remove(operation) != nil { endsElsewhere(operation) }
    steps.end(operation)
    if ending.outcome == .cancelled { noteCancelled(operation, cause) }
    noteFault(of: operation, ending, cause)
    waits.changeCount += 1
    if !services.isEmpty { noteServices(operation, ending) }
    if !instanceLimits.isEmpty { instanceLimits.ended(operation, groups) }
    memberEnded(operation)
  }

  /// Called when every operation has its outcome; false if that was known already.
  mutating func concludes(at now: Nanoseconds) -> Bool {
    guard case .underWay = course else { return false }
    course = .concluding(since: now)
    return true
  }

  mutating func finish(_ end: RunEnd) {
    course = .over(end)
    say(.finished(end))
  }

  // MARK: Doors

  /// The one door of gates: changes each of them. A probe that still runs when nothing waits for
  /// its condition any more is ended.
  mutating func setGate(of operation: OperationID, to gate: Gate?) {
    let old = gates[operation]
    if old == nil, gate == nil { return }
    if let probing = old?.probing, probing.isRunning, gate?.probing == nil {
      let key = probing.key(for: operation)
      abandonedProbes.insert(key)
      perform(.kill(key))
    }
    if old?.expectsNews == true { expectedCount -= 1 }
    if gate?.expectsNews == true { expectedCount += 1 }
    gates[operation] = gate
  }

  mutating func start(
    _ role: CommandRole, of operation: OperationID, _ state: ActiveOperation
  ) {
    state.begin(role)
    say(.started(operation, role))
    actions.append(.start(CommandKey(operation: operation, role: role)))
  }

  func gate(of operation: OperationID) -> Gate? { gates[operation] }

  /// True if every operation has its outcome, or the run has ended without.
  var hasConcluded: Bool { if case .underWay = course { false } else { true } }

  /// The end of the run; nil until then.
  var end: RunEnd? { if case .over(let end) = course { end } else { nil } }

  mutating func perform(_ action: Action) { actions.append(action) }

  mutating func say(_ event: RunEvent.Kind) { actions.append(.tell(event)) }

  mutating func set(
    _ purpose: Timer.Purpose, at time: Nanoseconds, _ operation: OperationID,
    _ state: ActiveOperation
  ) {
    timers.set(Timer(at: time, operation: operation, purpose: purpose, phase: state.phase))
  }
}
