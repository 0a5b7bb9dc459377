// What happens between met dependencies and readiness: conditions, expansion, groups.

import Pipelines
import Scheduling

/// What becomes of an operation at its gate.
enum Decision {
  /// It is ready, as this step.
  case run(PlannedStep)
  /// It has failed before it could start; in words, why.
  case fail(String)
  /// It does not run; in words, why.
  case skip(String)
  /// The step that it is in does not run: none of its steps does.
  case skipGroup(OperationID, String)
  /// Instances take its place; none is possible.
  case expand([NewOperation])
  /// All members of the group have ended.
  case join
  /// It waits for these, one after the other; then it is asked about again.
  case wait([Probe])
}

/// An operation that is added while running.
struct NewOperation {
  let step: PlannedStep
  let spec: OperationSpec
}

extension RunMachine {
  mutating func askAtGates() {
    for operation in scheduler.takeReached() {
      gated.insert(operation)
      perform(.decide(operation))
    }
  }

  /// The answer to `.decide`. Too late after a stop, which has settled the operation.
  mutating func decided(_ operation: OperationID, _ decision: Decision, at now: Nanoseconds) {
    guard gated.contains(operation) else { return }
    switch decision {
    case .run(let step): run(operation, as: step)
    case .fail(let reason): end(operation, as: Ending(.failed), .condition(reason), at: now)
    case .skip(let reason):
      scheduler.settle(operation, as: Ending(.skipped), cause: .condition(reason))
    case .skipGroup(let group, let reason): skipMembers(of: group, reason)
    case .expand(let operations): expand(operation, to: operations)
    case .join: join(operation, at: now)
    case .wait(let probes): beginWait(of: operation, probes, at: now)
    }
    tellSettled()
    startReady(at: now)
  }

  private mutating func run(_ operation: OperationID, as step: PlannedStep) {
    gated.remove(operation)
    if let late = plan.steps[operation.index].late, late.changesCommand {
      say(.resolved(operation, command: step.action.commandText))
    }
    plan.steps[operation.index] = step
    scheduler.resume(operation)
  }

  private mutating func expand(_ group: OperationID, to operations: [NewOperation]) {
    var members: [OperationID] = []
    for operation in operations {
      let id = scheduler.append(operation.spec)
      plan.steps.append(operation.step)
      members.append(id)
      say(.appended(id, id: operation.step.id, group: group))
    }
    groups.expand(group, to: members)
    if members.isEmpty { perform(.decide(group)) }
  }

  /// A failure of a member is the member's: the group is settled because of it.
  private mutating func join(_ group: OperationID, at now: Nanoseconds) {
    let (ending, member) = groups.ending(of: group, in: scheduler)
    let cause: Cause =
      switch ending.outcome {
      case .failed, .timedOut: member.map { .dependency($0) } ?? .itself
      case .blocked: member.flatMap { scheduler.root(of: $0) }.map { .dependency($0) } ?? .itself
      case .cancelled: stopReason.map { .stopped($0) } ?? .itself
      case .skipped:
        .condition(
          groups.members(of: group).isEmpty ? "its matrix is empty" : "all of it was skipped")
      case .succeeded, .cached: .itself
      }
    scheduler.settle(group, as: ending, cause: cause)
  }

  /// The last ones first: none is blocked by another that was skipped.
  private mutating func skipMembers(of group: OperationID, _ reason: String) {
    for member in groups.members(of: group).reversed() where !scheduler.state(of: member).hasEnded {
      scheduler.settle(member, as: Ending(.skipped), cause: .condition(reason))
    }
  }

  /// A stop settles what is at its gate.
  mutating func cancelGated(_ reason: StopReason) {
    for operation in gated.sorted() {
      endWait(of: operation)
      scheduler.settle(operation, as: Ending(.cancelled), cause: .stopped(reason))
    }
    gated = []
  }

  /// `fail_fast`: the other members of the group are cancelled.
  mutating func failFast(_ operation: OperationID, at now: Nanoseconds) {
    guard let group = groups.failFastGroup(of: operation), stopReason == nil else { return }
    let reason = StopReason.failure(operation)
    for member in groups.members(of: group) {
      switch scheduler.state(of: member) {
      case .ended: continue
      case .running:
        active[member]?.cancelReason = reason
        if case .attempt = active[member]?.trial { askToEnd(member, .cancelled, at: now) }
      case .paused where active[member] != nil: cancelRetry(of: member, reason, at: now)
      case .waiting, .ready, .paused:
        endWait(of: member)
        scheduler.settle(member, as: Ending(.cancelled), cause: .stopped(reason))
      }
    }
    tellSettled()
  }
}
