// Services: commands that go on while others need them. Decides when one is ready, when it is
// stopped, and how its end affects the steps that count on it.

import Plans
package import Scheduling

// Getting ready.
extension RunMachine {
  /// The time after which a service without conditions is ready: one that cannot be started, or is
  /// called wrongly, has ended by then.
  package static let settlingTime: Nanoseconds = 50_000_000

  package func isService(_ operation: OperationID) -> Bool {
    services.isEmpty ? false : services.isService(operation)
  }

  /// True if the attempt that is about to start is that of a service. Mutating, because a call that
  /// changes nothing would copy the machine.
  package mutating func startsService(_ operation: OperationID) -> Bool { isService(operation) }

  /// The ending that a ready service, or a ready group in the background, has for others while it
  /// goes on; nil for anything else.
  package mutating func endingWhileReady(of operation: OperationID) -> Ending? {
    services.isEmpty ? nil : services.readyEnding(of: operation)
  }

  /// Called when an attempt of a service was started.
  mutating func serviceStarted(_ operation: OperationID, at now: Nanoseconds) {
    guard let state = active[operation] else {
      preconditionFailure("a service runs once it was started")
    }
    state.serviceStart = now
    let step = steps.ready(operation)
    if step.readiness.isEmpty {
      return set(.readyDue, at: now + RunMachine.settlingTime, operation, state)
    }
    let probing = Probing(step: step, probes: step.readiness, attempt: state.attempt)
    setGate(of: operation, to: .starting(probing))
    probe(operation, for: probing, at: now)
  }

  /// Called when all conditions of a service hold. Its outputs are read before the steps that depend on it start.
  mutating func conditionsOfServiceHold(_ operation: OperationID) {
    setGate(of: operation, to: nil)
    guard let role = active[operation]?.role, case .attempt = role else {
      preconditionFailure("only a service that runs is asked whether it is ready")
    }
    perform(.publish(CommandKey(operation: operation, role: role)))
  }

  /// The answer to `.publish`: the outputs of the service were taken, or `refusal` says why they
  /// cannot be used. It is ignored if the service has ended meanwhile, or was asked to.
  package mutating func published(
    _ key: CommandKey, refusal: String? = nil, at now: Nanoseconds
  ) {
    precondition(isService(key.operation), "only a service publishes")
    guard let state = active[key.operation], state.role == key.role, state.stop == .none else {
      return
    }
    if let refusal {
      fail(key.operation, because: refusal, at: now)
    } else {
      say(.ready(key.operation))
      services.becameReady(key.operation)
      scheduler.announce(key.operation)
      settleMember(key.operation, as: Ending(.succeeded))
      tellSettled()
    }
    startReady(at: now)
  }

  /// Stops a service that will not be ready: it has failed.
  mutating func fail(_ service: OperationID, because words: String, at now: Nanoseconds) {
    guard let state = active[service] else {
      preconditionFailure("only a service that runs can fail to become ready")
    }
    state.cause = .notReady(words)
    state.notReadyAfter = now - state.serviceStart
    askToEnd(service, .notReady, at: now)
  }
}

// Its end.
extension RunMachine {
  /// Judges the end of the attempt of a service. Ending by itself is a failure, unless it is an
  /// endless service, whose exit status counts.
  mutating func judgeService(
    _ service: OperationID, _ state: ActiveOperation, _ outcome: inout Outcome
  ) {
    if case .starting = gates[service] { setGate(of: service, to: nil) }
    guard let end = state.attemptEnd, state.isUndisturbed(by: end), !services.isEndless(service)
    else { return }
    outcome = .failed
    if case .notStarted = end.status { return }
    state.cause = .service("the service ended before \(earliestEnd(of: service))")
  }

  /// In words, the moment before which a service may not end.
  private func earliestEnd(of service: OperationID) -> String {
    if !services.isReady(service) { return "it was ready" }
    return services.hasUsers(service)
      ? "the steps that depend on it" : "the other steps of its pipeline"
  }

  /// Called when a service has ended: if it was ready and failed, steps that have not started cannot count on it.
  mutating func serviceFell(_ service: OperationID, _ ending: Ending) {
    guard services.isReady(service), !EdgeCondition.ready.isSatisfied(by: ending) else { return }
    blockUnstarted(after: service, ending, root: service)
    memberFell(service, ending, root: service)
    tellSettled()
  }

  /// Fails the groups of a ready member that has failed; a group that may fail goes on without it.
  private mutating func memberFell(
    _ member: OperationID, _ ending: Ending, root: OperationID
  ) {
    for group in services.groups(of: member) where !groups.forgives(group) {
      if services.isReady(group) {
        blockUnstarted(after: group, ending, root: root)
        memberFell(group, ending, root: root)
      } else if services.giveUp(group) {
        groupFailed(group, as: ending, root: root)
      }
    }
  }

  private mutating func blockUnstarted(
    after service: OperationID, _ ending: Ending, root: OperationID
  ) {
    scheduler.correct(service, as: ending)
    var unstarted: [OperationID] = []
    scheduler.graph.forEachDependent(of: service) { edge in
      if edge.condition == .ready, !hasStarted(edge.to) { unstarted.append(edge.to) }
    }
    for operation in unstarted where !scheduler.state(of: operation).hasEnded {
      setGate(of: operation, to: nil)
      scheduler.settle(operation, as: Ending(.blocked), cause: .dependency(root))
    }
  }

  private func hasStarted(_ operation: OperationID) -> Bool {
    switch scheduler.state(of: operation) {
    case .running, .ended: true
    case .waiting: false
    case .ready, .paused:
      switch gates[operation] {
      case .gathering: true
      case .asked, .waiting, .starting, .unexpanded, .held, .deferred, nil: active[operation] != nil
      }
    }
  }

  /// Called when an operation has ended: services that only it needed can be stopped, and groups in
  /// the background may be complete.
  mutating func noteServices(_ operation: OperationID, _ ending: Ending) {
    services.ended(operation, in: scheduler.graph)
    groupStates.withdrawQuestion(to: operation)
    if services.contains(operation), !services.giveUp(operation) { return }
    settleMember(operation, as: ending, root: scheduler.root(of: operation) ?? operation)
  }

  /// Stops services that nobody needs any more, or does not start them.
  mutating func endReleased(at now: Nanoseconds) {
    if services.isEmpty { return }
    while true {
      let released = services.takeReleased()
      if released.isEmpty { return }
      for service in released { endUnneeded(service, at: now) }
      tellSettled()
    }
  }

  private mutating func endUnneeded(_ service: OperationID, at now: Nanoseconds) {
    guard services.contains(service), !services.isNeeded(service) else { return }
    let members = groups.members(of: service)
    for member in members { endUnneeded(member, at: now) }
    switch scheduler.state(of: service) {
    case .ended: break
    case .running:
      if case .attempt = active[service]?.role { askToEnd(service, .unneeded, at: now) }
    case .waiting, .ready, .paused:
      // A group with members ends by itself, after them.
      guard members.isEmpty, !services.isOriginal(service) else { return }
      let cause = Cause.condition("no step needs it")
      if active[service] != nil { return giveUp(service, because: cause, at: now) }
      setGate(of: service, to: nil)
      scheduler.settle(service, as: Ending(.skipped), cause: cause)
    }
  }
}

// Standstill.
extension RunMachine {
  /// True if nothing runs, and everything else waits for a slot or a claim.
  var isStill: Bool {
    mutating get { active.allSatisfy { $1.role == nil && scheduler.state(of: $0) == .ready } }
  }

  /// True if only ready services go on, and everything else waits for a slot or a claim.
  var isIdle: Bool {
    active.allSatisfy { operation, state in
      if state.role == nil { return scheduler.state(of: operation) == .ready }
      guard case .attempt = state.role, state.stop == .none else { return false }
      return isService(operation) && services.isReady(operation)
    }
  }

  /// Resolves a standstill in which only services go on and the rest waits for them. The first
  /// ready operation gives way; if nothing is ready, services are released.
  mutating func endStandstill(at now: Nanoseconds) {
    let ready = (0..<steps.count).lazy.map { OperationID($0) }.filter { [scheduler] in
      scheduler.state(of: $0) == .ready
    }
    let first = ready.first { [scheduler] in
      let queue = scheduler[scheduler.graph.queue(of: $0)]
      return queue.width > 0 && !queue.isSuspended
    }
    if let first, active[first]?.ending != nil {
      leaveOutHooks(of: first, at: now)
    } else if let first {
      if let state = active.removeValue(forKey: first) {
        state.planHooks(for: Ending(.failed))
        if !state.hooksLeft.isEmpty { tellLeftOutHooks(of: first) }
      }
      setGate(of: first, to: nil)
      let isAllowed = steps.ready(first).settings.allowFailure == .always
      end(
        first, as: Ending(.failed, isAllowed: isAllowed), .condition(standstillWords(of: first)),
        at: now)
    } else if !ready.isEmpty {
      cancelRun(isHeldBySuspension ? .suspended : .noWidth, at: now)
    } else if !services.releaseCompany() {
      return watchServices(at: now)
    }
    startReady(at: now)
  }

  private func standstillWords(of operation: OperationID) -> String {
    let held = scheduler.obstacle(of: operation).map { scheduler[$0].name }
    let holders = active.keys.sorted().map { "'\(steps[$0].id)'" }
    let names =
      holders.prefix(3).joined(separator: ", ")
      + (holders.count > 3 ? " and \(holders.count - 3) more" : "")
    guard let held else {
      return "cannot start: running services (\(names)) are all the commands that can run at once"
    }
    return "cannot start: '\(held)' is held by running services (\(names))"
  }
}
