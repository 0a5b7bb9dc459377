// The hooks of a used pipeline, which are for its own steps.

package import Plans
package import Scheduling

extension RunMachine {
  /// Called before a command in groups: the first one starts their time limits, and from then on
  /// their hooks will run, so that they end by their members alone.
  mutating func beginGroups(around operation: OperationID, at now: Nanoseconds) {
    beginLimits(around: operation, at: now)
    for group in groups.around(operation) {
      guard case .idle = groupStates[group].hooks else { continue }
      groupStates[group].hooks = .owed(since: now)
      gather(group)
    }
  }

  /// Sets which hooks run for a group whose members have all ended. Owed hooks count as the first
  /// command in the groups around it.
  package mutating func setDuty(
    _ duty: GroupHookDuty, of group: OperationID, at now: Nanoseconds
  ) {
    switch duty {
    case .asUsual: break
    case .owed:
      guard case .idle = groupStates[group].hooks else { return }
      groupStates[group].hooks = .owed(since: now)
      beginGroups(around: group, at: now)
    case .notOfSuccess: groupStates[group].isUnfinished = true
    }
  }

  /// Makes the group end by its members alone from now on.
  private mutating func gather(_ group: OperationID) {
    scheduler.detach(group)
    let unended = groups.members(of: group).count { !scheduler.state(of: $0).hasEnded }
    setGate(of: group, to: .gathering(unendedCount: unended))
    if unended == 0 { gathered(group) }
  }

  /// Called before all waiting operations end: groups end after their members, with the worst of
  /// their endings. A group whose members all did well waits for something else, and is ended with
  /// everything that waits.
  mutating func keepGroups() {
    for group in groups.all where scheduler.state(of: group) == .waiting {
      let hasUnended = groups.members(of: group).contains { !scheduler.state(of: $0).hasEnded }
      if hasUnended || blocksDependents(group) { gather(group) }
    }
  }

  /// Runs the hooks of a group whose members have all ended; false if it has none to run.
  mutating func runHooks(
    of group: OperationID, _ ending: Ending, _ cause: Cause, at now: Nanoseconds
  ) -> Bool {
    guard case .owed(let start) = groupStates[group].hooks else { return false }
    groupStates[group].hooks = .none
    // Its hooks belong to the run that sees the end of what goes on in the group.
    if left.contains(group) || isOvertaken { return false }
    let state = ActiveOperation(settings: steps[group].settings)
    // Hooks that are owed run for steps that succeeded in an earlier run.
    let hasSucceeded = ending.outcome == .cached || isSuccess(group, cause)
    state.ending = hasSucceeded ? Ending(.succeeded) : ending
    state.cause = cause
    let outcome = state.ending?.outcome ?? ending.outcome
    state.planHooks(for: Ending(outcome == .blocked ? .failed : outcome))
    if groupStates[group].isUnfinished { state.hooksLeft.removeAll { $0.kind == .onSuccess } }
    if state.hooksLeft.isEmpty { return false }
    setGate(of: group, to: nil)
    groupStates[group].hooks = .due(after: now - start)
    dueGroupHooks.append((group, state))
    return true
  }

  /// True if a run of the pipeline by itself would have succeeded: every failure in it was allowed
  /// by the step that failed. The hooks see a success; for other steps it is an allowed failure.
  private func isSuccess(_ group: OperationID, _ cause: Cause) -> Bool {
    guard case .dependency = cause else { return false }
    return failures(in: group).isEmpty
  }

  /// The ending of a group that fails by itself.
  func ownFailure(of group: OperationID, _ outcome: Outcome = .failed) -> Ending {
    let isAllowed =
      groups.forgives(group) || steps[group].settings.allowFailure == .always
    return Ending(outcome, isAllowed: isAllowed)
  }

  /// Ends a group that fails by itself, after its hooks.
  mutating func endByItself(
    _ group: OperationID, as ending: Ending, _ cause: Cause, at now: Nanoseconds
  ) {
    if !runHooks(of: group, ending, cause, at: now) { end(group, as: ending, cause, at: now) }
  }

  mutating func startDueHooks(at now: Nanoseconds) {
    while !dueGroupHooks.isEmpty, hasRoom {
      let (group, state) = dueGroupHooks.removeFirst()
      continueHooks(of: group, state, at: now)
    }
  }

  /// Settles a group whose hooks have ended.
  mutating func settleGroup(
    _ group: OperationID, _ ending: Ending, _ cause: Cause, at now: Nanoseconds
  ) {
    groupStates[group].hooks = .none
    let isAllowed = ending.isAllowed || groups.forgives(group)
    var ending = Ending(ending.outcome, isAllowed: isAllowed)
    if case .dependency = cause, ending.outcome == .succeeded {
      ending = groups.ending(of: group, in: scheduler).ending
    }
    scheduler.settle(group, as: ending, cause: cause)
    tellSettled()
    switch cause {
    case .hook, .condition, .timeLimit: noteFailure(of: group, ending, at: now)
    case .itself, .dependency, .wait, .service, .notReady, .stopped, .stoppedEarlier: break
    }
  }

  /// Settles groups without their hooks: oprun ends at once.
  mutating func settleGroups() {
    let open = gates.keys.filter { endsByItsMembers($0) } + dueGroupHooks.map { $0.group }
    groupStates.forgetOwedHooks()
    dueGroupHooks = []
    // A group ends before those around it.
    let depths = open.map { (depth: groups.around($0).count, group: $0) }
    for (_, group) in depths.sorted(by: { ($1.depth, $0.group) < ($0.depth, $1.group) })
    where !scheduler.state(of: group).hasEnded {
      setGate(of: group, to: nil)
      endByMembers(group)
    }
    tellSettled()
  }

  /// True if the operation will end by itself, after its members.
  func endsByItsMembers(_ operation: OperationID) -> Bool {
    switch gates[operation] {
    case .gathering, .asked(.join): true
    case .asked, .waiting, .starting, .unexpanded, .held, .deferred, nil: false
    }
  }

  /// The steps of the group that failed and were not allowed to (in a strict run, all that failed),
  /// and groups in it that failed by themselves.
  func failures(in group: OperationID) -> [OperationID] {
    var found: [OperationID] = []
    var rest = Array(groups.members(of: group).reversed())
    while let member = rest.popLast() {
      guard let ending = scheduler.ending(of: member) else { continue }
      if ending.isAllowed && !rules.isStrict { continue }
      let members = groups.members(of: member)
      rest += members.reversed()
      let isOwn = members.isEmpty || ending != groups.ending(of: member, in: scheduler).ending
      if isOwn, ending.outcome.isFailure { found.append(member) }
    }
    return found
  }
}
