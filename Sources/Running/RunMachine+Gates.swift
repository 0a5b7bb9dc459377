// Handles operations between met dependencies and readiness: conditions, expansion, groups.

import Plans
package import Scheduling

extension RunMachine {
  mutating func askAtGates() {
    receiveReached()
    // The event that ended an operation may also have stopped the run, before the operations that
    // depend on it were processed.
    if let stopReason, !gates.isEmpty {
      cancelGated(stopReason)
      tellSettled()
    }
  }

  /// Gives a gate to every operation that has reached one. Groups that end thereby may let others reach theirs.
  mutating func receiveReached() {
    while true {
      var reached = scheduler.takeReached()
      if !instanceLimits.isEmpty { reached += instanceLimits.takeReleased() }
      if reached.isEmpty { return }
      for operation in reached where !scheduler.state(of: operation).hasEnded {
        receive(operation)
      }
      tellSettled()
    }
  }

  private mutating func receive(_ operation: OperationID) {
    let isWholeGroup =
      groupPlan(operation).map { !$0.isExpanding || $0.pattern != nil } ?? false
    let pattern = openPattern(around: operation)
    // All members of a group here have ended. An empty group in an unexpanded group is copied like
    // a step.
    if isWholeGroup, pattern == nil || !groups.members(of: operation).isEmpty {
      gathered(operation)
    } else if let group = pattern {
      awaitInstances(of: group, operation)
    } else if !instanceLimits.isEmpty, !instanceLimits.admits(operation, groups) {
      setGate(of: operation, to: .held)
    } else {
      ask(.entry, about: operation)
    }
  }

  /// Called when all members of the group have ended. One that blocks its dependents has no outputs
  /// to give, so it ends at once; other groups are asked for theirs.
  mutating func gathered(_ group: OperationID) {
    guard blocksDependents(group), !rules.gatesAll, groupStates[group].endsPlainly else {
      return ask(.join, about: group)
    }
    setGate(of: group, to: nil)
    endByMembers(group)
  }

  /// True if the members of the group that have ended block the steps that depend on it by default.
  func blocksDependents(_ group: OperationID) -> Bool {
    !EdgeCondition.ok.isSatisfied(by: groups.ending(of: group, in: scheduler).ending)
  }

  mutating func ask(_ question: Question, about operation: OperationID) {
    groupStates.withdrawQuestion(to: operation)
    setGate(of: operation, to: .asked(question))
    put(question, about: operation)
  }

  mutating func put(_ question: Question, about operation: OperationID) {
    startHold.asked()
    perform(.decide(operation, question))
  }

  /// The unanswered question about the operation; nil if there is none.
  package func question(about operation: OperationID) -> Question? {
    if operation == .run { return asksForOutputs ? .join : nil }
    if case .asked(let question) = gates[operation] { return question }
    return groupStates.isAsked(operation) ? .ready : nil
  }

  /// True if the question is not answered yet. Called for every step; mutating, because other calls
  /// would copy the machine.
  package mutating func isOpen(_ question: Question, about operation: OperationID) -> Bool {
    self.question(about: operation) == question
  }

  /// The answer to `.decide`. It is ignored if the operation has ended meanwhile: a stop, `fail_fast` or a skipped group
  /// does not wait for answers.
  package mutating func decided(
    _ operation: OperationID, _ decision: Decision, at now: Nanoseconds
  ) {
    if operation == .run { return concluded(decision, at: now) }
    guard case .asked(let question) = gates[operation] else {
      if groupStates.isAsked(operation) { return offered(operation, decision, at: now) }
      precondition(scheduler.state(of: operation).hasEnded, "an answer that was not asked for")
      return
    }
    if question == .start {
      decidedAtStart(operation, decision, at: now)
      tellSettled()
      return startReady(at: now)
    }
    if let pattern = groupPlan(operation)?.pattern, question == .entry {
      decided(operation, pattern, decision, at: now)
      tellSettled()
      return startReady(at: now)
    }
    if !instanceLimits.isEmpty, decision.mayRun, !instanceLimits.admitsToRun(operation, groups) {
      setGate(of: operation, to: .held)
      return startReady(at: now)
    }
    switch decision {
    case .run(let step): run(operation, as: step)
    case .fail(let reason): fail(group: operation, because: reason, at: now)
    case .skip(let reason):
      scheduler.settle(operation, as: Ending(.skipped), cause: .condition(reason))
    case .skipGroup(let group, let reason, let held):
      skipMembers(of: group, reason, except: held)
    case .expand(let operations): expand(operation, to: operations)
    case .keep(let ending, let cause): keep(operation, as: ending, cause)
    case .join: join(operation, at: now)
    case .later: preconditionFailure("only what could start is deferred")
    case .wait(let probes, let step):
      probe(operation, for: Probing(step: step, probes: probes), at: now)
    }
    tellSettled()
    startReady(at: now)
  }

  /// Ends an operation as it ended in an earlier run. Nothing follows from that here: the consequences took place in
  /// that run.
  private mutating func keep(_ operation: OperationID, as ending: Ending, _ cause: Cause) {
    scheduler.settle(operation, as: ending, cause: cause)
    noteFailed(operation, ending)
  }

  /// Ends operations that have not begun as they ended in an earlier run, where all were cancelled at once for the same
  /// reason: none of them is blocked by another.
  package mutating func keepGivenUp(_ operations: [OperationID], _ cause: Cause) {
    scheduler.settle(operations, as: Ending(.cancelled), cause: cause)
    tellSettled()
  }

  /// Fails an operation at its gate: it cannot be decided about, or the outputs of the group cannot be made.
  private mutating func fail(
    group: OperationID, because reason: String, at now: Nanoseconds
  ) {
    endByItself(group, as: ownFailure(of: group), .condition(reason), at: now)
  }

  private mutating func decided(
    _ group: OperationID, _ pattern: GroupPattern, _ decision: Decision, at now: Nanoseconds
  ) {
    // A group whose steps have all ended meanwhile, as cancelled, is asked the next question.
    if groups.unendedSteps(of: group, in: scheduler).isEmpty { return }
    switch decision {
    case .skip(let reason): skipPattern(group, reason)
    case .skipGroup(let outer, let reason, let held):
      setGate(of: group, to: nil)
      let own = groups.unendedSteps(of: group, in: scheduler)
      skipMembers(of: outer, reason, except: held.subtracting(own))
    case .fail(let reason): failPattern(group, reason, at: now)
    case .expand(let instances): expand(group, pattern, to: instances, at: now)
    case .keep(let ending, let cause): keepPattern(group, ending, cause)
    case .join: break
    case .run, .wait, .later: preconditionFailure("a group runs nothing")
    }
  }

  private mutating func run(_ operation: OperationID, as step: ReadyStep) {
    setGate(of: operation, to: nil)
    var command: String?
    if case .late = steps[operation].work { command = step.action?.commandText }
    let name = step.settings.name
    let isNamed = name != steps[operation].settings.name
    if command != nil || isNamed {
      say(.resolved(operation, command: command, name: isNamed ? name : nil))
    }
    steps.resolve(operation, as: step)
    scheduler.resume(operation)
  }

  private mutating func expand(_ group: OperationID, to operations: [NewOperation]) {
    var members: [OperationID] = []
    for operation in operations {
      var spec = operation.spec
      spec.isGated = spec.isGated || rules.gatesAll
      let id = scheduler.append(spec)
      steps.append(operation.step, as: id)
      noteIdle(id)
      members.append(id)
      if !services.isEmpty { services.add(member: id, of: group) }
      say(.appended(id, id: operation.step.id, group: group))
    }
    groups.set(members, of: group)
    if !services.isEmpty { services.release(group) }
    if members.isEmpty { return ask(.join, about: group) }
    setGate(of: group, to: .gathering(unendedCount: members.count))
  }

  /// Called when a step was made.
  mutating func noteIdle(_ step: OperationID) {
    guard !instanceLimits.isEmpty, !rules.idleSteps.late.isEmpty,
      rules.idleSteps.late.contains(steps[step].id)
    else { return }
    instanceLimits.expectNothing(of: step)
  }

  private mutating func join(_ group: OperationID, at now: Nanoseconds) {
    let state = groupStates[group]
    if state.limit == .over { return endExpired(group, at: now) }
    if case .refused(let reason) = state.offer {
      groupStates[group].offer = .none
      return fail(group: group, because: reason, at: now)
    }
    let end = groups.ending(of: group, in: scheduler)
    if runHooks(of: group, end.ending, cause(of: group, end), at: now) { return }
    endByMembers(group)
  }

  /// Ends a group with the worst ending of its members.
  mutating func endByMembers(_ group: OperationID) {
    let end = groups.ending(of: group, in: scheduler)
    scheduler.settle(group, as: end.ending, cause: cause(of: group, end))
  }

  private func cause(of group: OperationID, _ end: GroupEnding) -> Cause {
    groups.cause(of: end, in: scheduler, stop: groupStates[group].cancelReason ?? stopReason)
  }

  /// Skips the steps in a group, none of which has started, except those in `held`, which are asked
  /// when their turn comes. The groups among its members end by themselves, after their own
  /// members.
  mutating func skipMembers(
    of group: OperationID, _ reason: String, except held: Set<OperationID> = []
  ) {
    let steps = groups.unendedSteps(of: group, in: scheduler).filter { !held.contains($0) }
    for step in steps { withdraw(step) }
    scheduler.settle(steps, as: Ending(.skipped), cause: .condition(reason))
  }

  /// Called when an operation has ended: the group that was expanded to it, and the operation that
  /// it is a copy of, may end with it.
  mutating func memberEnded(_ member: OperationID) {
    if groups.isEmpty { return }
    if !standsForCopies(member), let group = groups.group(of: member) {
      endOneMember(of: group)
    }
    if let original = patterns.originals[member] { endOneMember(of: original) }
  }

  private mutating func endOneMember(of group: OperationID) {
    guard case .gathering(let count) = gates[group] else { return }
    if count == 1 { return gathered(group) }
    setGate(of: group, to: .gathering(unendedCount: count - 1))
  }

  /// Settles operations at their gates after a stop; the scheduler has ended those that were ready.
  mutating func cancelGated(_ reason: StopReason) {
    for operation in gates.keys.sorted()
    where gates[operation]?.isOpen == false && !endsByItsMembers(operation) {
      withdraw(operation)
      setGate(of: operation, to: nil)
      scheduler.settle(operation, as: Ending(.cancelled), cause: .stopped(reason))
    }
  }
}
