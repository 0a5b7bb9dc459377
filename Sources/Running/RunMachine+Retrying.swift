// Retries that somebody outside asks for while the run goes on: failed steps run again, and what
// was blocked because of them waits again. docs/control.md says what can be run again, and what
// cannot.

import Plans
package import Scheduling

extension RunMachine {
  /// Runs a step again, or the failed steps of a group; a step that waits for its next attempt starts it.
  mutating func retry(_ operation: OperationID) {
    for step in steps(of: operation) where objection(toRetryingStep: step) == nil {
      if active[step] != nil {
        // The delay is over: its timer means nothing any more.
        active[step]?.phase += 1
        scheduler.resume(step)
      } else {
        reopen(step)
      }
    }
  }

  private mutating func reopen(_ step: OperationID) {
    timers.keep { $0.operation != step }
    reopenings[step, default: 0] += 1
    let reopened = scheduler.reopen(step, in: endedGroups(around: step))
    for (operation, ending) in reopened {
      failedSteps.removeAll { $0 == operation }
      if groupStates[operation].fault != nil { groupStates[operation].fault = nil }
      if let group = groups.group(of: operation), case .gathering(let count) = gate(of: group) {
        setGate(of: group, to: .gathering(unendedCount: count + 1))
      }
      say(.reopened(operation, asReported(ending, of: operation)))
    }
    if !instanceLimits.isEmpty { instanceLimits.reopened(step) }
    for group in groups.around(step) {
      if groupStates[group].cancelReason != nil { groupStates[group].cancelReason = nil }
      if groupStates[group].startsNothing { groupStates[group].startsNothing = false }
    }
  }

  /// The ending that events report: a failure in a group that may fail is allowed.
  package func asReported(_ ending: Ending, of operation: OperationID) -> Ending {
    let isForgiven = ending.outcome.isFailure && groups.isForgiven(operation)
    return isForgiven ? Ending(ending.outcome, isAllowed: true) : ending
  }

  func attempts(of operation: OperationID) -> Int {
    lastAttempts.isEmpty ? 0 : lastAttempts[operation] ?? 0
  }

  /// Records the number of the last attempt of an operation that ends: another attempt gets the next number.
  mutating func noteAttempts(of operation: OperationID, _ state: ActiveOperation) {
    if canBeChangedFromOutside, state.ending?.outcome.canBeTakenBack == true, state.attempt > 0 {
      lastAttempts[operation] = state.attempt
    }
  }

  // MARK: What cannot be run again

  /// Why nothing of the operation can be run again; nil if something can.
  func objection(toRetrying operation: OperationID) -> ControlAnswer? {
    let steps = steps(of: operation)
    let objections = steps.map { objection(toRetryingStep: $0) }
    if objections.contains(where: { $0 == nil }) { return nil }
    if steps == [operation] { return objections.first ?? nil }
    return .refused("no step of '\(self.steps[operation].id)' has failed and can be run again")
  }

  private func objection(toRetryingStep step: OperationID) -> ControlAnswer? {
    let name = "'\(steps[step].id)'"
    guard let ending = scheduler.ending(of: step) else {
      // The step waits between two attempts.
      let isWaiting = active[step].map { $0.role == nil } ?? false
      if isWaiting, scheduler.state(of: step) == .paused { return nil }
      return .refused("\(name) has not ended")
    }
    guard ending.outcome.canBeTakenBack else { return .refused(words(name, step, ending)) }
    if ending.outcome == .cancelled, attempts(of: step) == 0,
      let other = scheduler.obstacle(toStarting: step)
    {
      return .refused(
        "\(name) has not run, and cannot run because of how '\(steps[other].id)' ended: retry that step first"
      )
    }
    if awaitsAbandonedProbe(of: step) { return .refused("\(name) is still ending") }
    return objection(toReopening: step)
  }

  private func words(_ name: String, _ step: OperationID, _ ending: Ending) -> String {
    switch ending.outcome {
    case .blocked:
      let root = scheduler.root(of: step).map { "'\(steps[$0].id)'" } ?? "another step"
      return "\(name) is blocked because of \(root): retry that step"
    case .skipped:
      return "\(name) was skipped: only a step that failed or was cancelled can be retried"
    case .succeeded, .cached, .failed, .timedOut, .cancelled:
      return "\(name) has succeeded: only a step that failed or was cancelled can be retried"
    }
  }

  /// Why the step cannot run again: the run has gone on since, and some of that cannot be taken back. Nil if it can.
  private func objection(toReopening step: OperationID) -> ControlAnswer? {
    let help = "'oprun resume' runs it when this run has ended"
    let name = "'\(steps[step].id)'"
    let reopened = scheduler.reopenable(from: step, in: endedGroups(around: step))
    let known = Set(reopened)
    if !services.isEmpty {
      return .refused(
        "\(name) cannot run again: the run has services, which end with it", help: help)
    }
    for operation in reopened {
      if patterns.groups[operation] != nil || patterns.originals[operation] != nil {
        return .refused("\(name) cannot run again: it is a copy for an instance", help: help)
      }
      var next = groups.group(of: operation)
      while let group = next {
        guard canReopen(inside: group, known) else {
          return .refused("\(name) cannot run again: '\(steps[group].id)' has ended", help: help)
        }
        next = groups.group(of: group)
      }
    }
    return nil
  }

  private func canReopen(inside group: OperationID, _ reopened: Set<OperationID>) -> Bool {
    guard let plan = plan.groups[group], plan.width == nil, plan.pattern == nil,
      groupStates[group].limit != .over
    else { return false }
    switch scheduler.state(of: group) {
    case .waiting: return true
    case .paused: if case .gathering = gate(of: group) { return true } else { return false }
    case .ended: return reopened.contains(group) && isPlain(group, plan)
    case .ready, .running: return false
    }
  }

  /// True if the group ends after its steps and nothing else happens then.
  private func isPlain(_ group: OperationID, _ plan: GroupPlan) -> Bool {
    !plan.isExpanding && plan.timeout == nil && steps[group].settings.hooks.isEmpty
  }

  /// The ended groups that the step is in.
  private func endedGroups(around step: OperationID) -> [OperationID] {
    var ended: [OperationID] = []
    var next = groups.group(of: step)
    while let group = next {
      if scheduler.state(of: group).hasEnded { ended.append(group) }
      next = groups.group(of: group)
    }
    return ended
  }
}

extension Outcome {
  /// True if somebody may ask for another attempt.
  fileprivate var canBeTakenBack: Bool {
    switch self {
    case .failed, .timedOut, .cancelled: true
    case .succeeded, .cached, .skipped, .blocked: false
    }
  }
}
