// Requests from outside while the run goes on: queues that are paused or get another width, steps
// that are cancelled, run again or get another priority.

package import Plans
package import Scheduling

/// The answer to a request.
package enum ControlAnswer: Hashable, Sendable {
  case done
  /// Nothing had to be changed; the string says why.
  case unchanged(String)
  /// Nothing was changed; the strings say why, and what would help.
  case refused(String, help: String? = nil)
}

extension RunMachine {
  /// Changes the run as requested. The consequences are reported after the change itself.
  package mutating func control(_ note: ControlNote, at now: Nanoseconds) -> ControlAnswer {
    if let answer = objection(to: note.action) { return answer }
    say(.controlled(note))
    hasToldWaiting = false
    waits.changeCount += 1
    switch note.action {
    case .pause(let queue): for queue in queues(queue) { scheduler.suspend(queue) }
    case .proceed(let queue):
      if let queue { queuesOpenedByName.insert(queue) }
      for queue in queues(toResume: queue) { scheduler.resume(queue) }
    case .cancelRun: endRequested(by: note.user, at: now)
    case .cancel(let operation): cancel(operation, .request(note.user), at: now)
    case .cancelQueue(let queue): cancelSteps(of: queue, .request(note.user), at: now)
    case .retry(let operation): retry(operation)
    case .setWidth(let queue, let width): scheduler.setWidth(width, of: queue)
    case .setPriority(let operation, let priority):
      scheduler.changePriority(priority, of: steps(of: operation))
    }
    tellSettled()
    advance(to: now)
    return .done
  }

  private mutating func objection(to action: ControlAction) -> ControlAnswer? {
    if end != nil { return .refused("the run has ended") }
    if case .cancelRun = action { return nil }
    if hasConcluded { return .refused("the run is ending: every step has ended") }
    if stopReason != nil {
      let isCancel = if case .cancel = action { true } else { false }
      if !isCancel { return .refused("the run is being stopped: no step can start") }
    }
    switch action {
    case .pause(let queue):
      if queues(queue).allSatisfy({ scheduler[$0].isSuspended }) {
        return .unchanged("\(subject(queue)) already paused")
      }
    case .proceed(let queue):
      if queues(toResume: queue).allSatisfy({ !scheduler[$0].isSuspended }) {
        let closed = queue == nil ? queues(nil).first(where: isClosed) : nil
        return .unchanged(closed.map(gateWords) ?? "\(subject(queue)) not paused")
      }
    case .setWidth(let queue, let width):
      if scheduler[queue].width == width {
        return .unchanged("max_parallel is already \(width)")
      }
    case .cancel(let operation):
      if scheduler.state(of: operation).hasEnded {
        return .refused("'\(steps[operation].id)' has ended")
      }
      return objection(toCancelling: operation)
    case .setPriority(let operation, _):
      if steps(of: operation).allSatisfy({ scheduler.state(of: $0).hasEnded }) {
        return .refused("'\(steps[operation].id)' has ended")
      }
    case .retry(let operation): return objection(toRetrying: operation)
    case .cancelRun, .cancelQueue: break
    }
    return nil
  }

  /// The answer if everything in the operation that has not ended is being stopped already, so that
  /// cancelling it changes nothing; nil otherwise.
  private func objection(toCancelling operation: OperationID) -> ControlAnswer? {
    let unended = unendedParts(of: operation).filter {
      groups.members(of: $0).isEmpty || active[$0] != nil
    }
    let states = unended.compactMap { active[$0] }
    guard !states.isEmpty, states.count == unended.count, states.allSatisfy(isEnding) else {
      return nil
    }
    let name = "'\(steps[operation].id)'"
    return states.contains { $0.stopCause == .cancelled }
      ? .unchanged("\(name) is already being cancelled")
      : .refused("\(name) is already being stopped: no step needs it")
  }

  private func subject(_ queue: QueueID?) -> String {
    queue.map { "the queue '\(scheduler[$0].name)' is" }
      ?? (plan.queues.count == 1 ? "the run is" : "all queues are")
  }

  /// The given queue, or all queues of the plan.
  private func queues(_ queue: QueueID?) -> [QueueID] {
    queue.map { [$0] } ?? plan.queues.indices.map { QueueID($0) }
  }

  /// The queues to resume. One that began suspended is a gate: only its name opens it.
  private func queues(toResume queue: QueueID?) -> [QueueID] {
    queue.map { [$0] } ?? queues(nil).filter { !isClosed($0) }
  }

  private func isClosed(_ queue: QueueID) -> Bool {
    plan.queues[queue.index].isSuspended && !queuesOpenedByName.contains(queue)
  }

  private func gateWords(_ queue: QueueID) -> String {
    let name = scheduler[queue].name
    return
      "nothing is paused; 'oprun continue --queue \(name)' opens the queue '\(name)', which starts suspended"
  }

  /// The operation itself, or all steps in the group, including those of groups inside it.
  func steps(of operation: OperationID) -> [OperationID] {
    let members = groups.members(of: operation)
    return members.isEmpty ? [operation] : members.flatMap { steps(of: $0) }
  }

  private mutating func cancelSteps(
    of queue: QueueID, _ reason: StopReason, at now: Nanoseconds
  ) {
    let steps = (0..<steps.count).reversed().map { OperationID($0) }.filter {
      [graph = scheduler.graph, groups] in
      graph.queue(of: $0) == queue && groups.members(of: $0).isEmpty
    }
    cancel(steps, reason, at: now)
  }

  // MARK: A run that waits

  /// True if the run can start nothing only because of a change that somebody outside can take back.
  mutating func waitsForChange() -> Bool {
    guard canBeChangedFromOutside else { return false }
    let held = plan.queues.indices.lazy.map { QueueID($0) }.filter { [scheduler, plan] queue in
      scheduler.counts(of: queue).ready > 0 || scheduler.slotlessCounts(of: queue).ready > 0
        ? scheduler[queue].isSuspended && scheduler[queue].width > 0
          || scheduler[queue].width <= 0 && plan.queues[queue.index].width > 0 : false
    }
    guard let queue = held.first else { return false }
    if !hasToldWaiting {
      hasToldWaiting = true
      say(.notice(waitingWords(queue)))
    }
    return true
  }

  private func waitingWords(_ queue: QueueID) -> String {
    let name = scheduler[queue].name
    let flag = queue == .default ? "" : " --queue \(name)"
    return scheduler[queue].isSuspended
      ? "nothing can start: the queue '\(name)' is paused until 'oprun continue\(flag)'"
      : "nothing can start: the queue '\(name)' waits for 'oprun set max_parallel=N\(flag)'"
  }

  // MARK: Steps that were cancelled

  /// Notes a cancelled step: it did not do what the run was for, so it counts as a failed one. A
  /// group is cancelled for the first reason among its members.
  mutating func noteCancelled(_ operation: OperationID, _ cause: Cause) {
    let reason: StopReason
    switch cause {
    case .stopped(let own), .stoppedEarlier(let own): reason = own
    case .itself, .dependency, .condition, .wait, .timeLimit, .service, .notReady, .hook: return
    }
    if let group = groups.group(of: operation), groupStates[group].cancelReason == nil {
      groupStates[group].cancelReason = reason
    }
    // A group without a cancelled member is itself what was cancelled: its hooks.
    let isOwn =
      groups.members(of: operation).isEmpty || groupStates[operation].cancelReason == nil
    guard case .request = reason, stopReason == nil, isOwn else { return }
    failedSteps.append(operation)
    if patterns.groups[operation] != nil { patterns.cancelled[operation] = reason }
  }

  /// Notes why a group failed by itself: it then counts beside its members.
  mutating func noteFault(of operation: OperationID, _ ending: Ending, _ cause: Cause) {
    guard ending.outcome.isFailure, cause.isOfGroupItself,
      !groups.members(of: operation).isEmpty
    else { return }
    groupStates[operation].fault = cause
  }
}

// Queries about operations, to answer somebody outside.
extension RunMachine {
  /// The role of the command that runs for the operation; nil if none does.
  package func role(of operation: OperationID) -> CommandRole? { active[operation]?.role }

  /// The number of the operation's last attempt; nil if it neither runs nor waits for another one.
  package func attempt(of operation: OperationID) -> Int? { active[operation]?.attempt }

  /// The cause of a failure of the group itself, not of a member.
  package func fault(ofGroup group: OperationID) -> Cause? { groupStates[group].fault }

  /// True if people count the members of the operation in its place.
  private func standsForOthers(_ operation: OperationID) -> Bool {
    !groups.members(of: operation).isEmpty && groupStates[operation].fault == nil
  }

  /// True if the operation runs, waits for another attempt, or has failed; a group only if it failed by itself.
  package func isOfInterest(_ operation: OperationID) -> Bool {
    guard !standsForOthers(operation) else { return false }
    return switch scheduler.state(of: operation) {
    case .running: true
    case .ended(let ending):
      ending.outcome.isFailure && !asReported(ending, of: operation).isAllowed
    case .waiting, .ready, .paused: attempt(of: operation) != nil
    }
  }

  /// The first operation of interest at an index or after it; the number of operations if there is none.
  /// Linear, without a call per operation from another module, each of which would copy the machine.
  package func nextOfInterest(from index: Int) -> Int {
    var index = index
    while index < steps.count, !isOfInterest(OperationID(index)) { index += 1 }
    return index
  }

  /// The numbers of steps in each state. A group counts only if it failed by itself; otherwise its members do.
  package struct StateCounts: Equatable, Sendable {
    package var steps = 0
    package var waiting = 0
    package var ready = 0
    package var running = 0
    /// The number of steps that failed although that is allowed.
    package var allowed = 0
    /// The numbers of all other steps that have ended, by the raw value of the outcome.
    package var ended = [Int](repeating: 0, count: Outcome.allCases.count)
  }

  /// Counts the states of all steps. Linear.
  package func countStates() -> StateCounts {
    var counts = StateCounts()
    for index in 0..<steps.count {
      let operation = OperationID(index)
      guard !standsForOthers(operation) else { continue }
      counts.steps += 1
      switch scheduler.state(of: operation) {
      case .waiting, .paused: counts.waiting += 1
      case .ready: counts.ready += 1
      case .running: counts.running += 1
      case .ended(let ending):
        if asReported(ending, of: operation).isAllowed {
          counts.allowed += 1
        } else {
          counts.ended[Int(ending.outcome.rawValue)] += 1
        }
      }
    }
    return counts
  }

  /// The number of commands that can run at the same time, whatever the queues allow.
  package var commandCapacity: Int { rules.commandLimit }
}
