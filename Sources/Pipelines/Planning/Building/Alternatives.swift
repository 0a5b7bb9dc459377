// Tells which steps cannot both run in one run, because they demand different ends of another step.
// If both of them declare a file, that is no collision.

import Plans
import Scheduling

/// Compares the demands of steps on those that they depend on, directly or through others.
final class Alternatives {
  /// The conditions on a run in which a step runs.
  private struct Demands {
    /// Steps that must have failed, or for which an expression may demand that.
    var failures: Set<OperationID> = []
    /// Steps that must not have failed.
    var successes: Set<OperationID> = []
    /// Groups in which only allowed failures may have happened.
    var intact: Set<OperationID> = []
    /// Steps whose conditions, which only the run knows, must be true.
    var conditions: Set<OperationID> = []
  }

  /// An operation that comes before a step which runs.
  private struct Visit: Hashable {
    let operation: OperationID
    /// True if the operation must have run. Otherwise it may also have been skipped, but not blocked.
    let mustRun: Bool
  }

  private let planner: Planner
  private let numbers: Renumbering
  private let plan: Plan
  private var known: [OperationID: Demands] = [:]
  private var allowing: [OperationID: Bool] = [:]
  /// The number of edges that may still be followed.
  private var budget = 2_000_000

  /// Prepares the comparison; `planner` is in its state after the plan has been made.
  init(_ planner: Planner, _ numbers: Renumbering, _ plan: Plan) {
    self.planner = planner
    self.numbers = numbers
    self.plan = plan
  }

  /// False if the two exclude each other, or if only the run can tell.
  func mayBothRun(_ first: OperationID, _ second: OperationID) -> Bool {
    let (one, other) = (demands(of: first), demands(of: second))
    // If the conditions of one of them hold, those of the other must hold, too.
    let isCertain =
      one.conditions.isSubset(of: other.conditions) || other.conditions.isSubset(of: one.conditions)
    return isCertain && budget > 0
      && one.failures.isDisjoint(with: other.successes)
      && other.failures.isDisjoint(with: one.successes)
  }

  private func demands(of operation: OperationID) -> Demands {
    if let known = known[operation] { return known }
    var demands = Demands()
    let start = Visit(operation: operation, mustRun: true)
    var seen: Set<Visit> = [start]
    var open = [start]
    while let next = open.popLast() {
      let hasCondition = next.mustRun && step(next.operation)?.late?.condition != nil
      if hasCondition { demands.conditions.insert(next.operation) }
      for edge in planner.graph.dependencies(of: next.operation) {
        budget -= 1
        if budget <= 0 { return demands }
        guard let visit = visit(edge, from: next, hasCondition, &demands),
          seen.insert(visit).inserted
        else { continue }
        open.append(visit)
      }
    }
    known[operation] = demands
    return demands
  }

  /// Adds the demands of an edge; nil if the end of its source does not matter.
  private func visit(
    _ edge: Graph.Edge, from next: Visit, _ hasCondition: Bool, _ demands: inout Demands
  ) -> Visit? {
    let source = edge.from
    guard let step = step(source) else { return nil }
    switch edge.condition {
    case .ready: break
    case .ok: demandOK(step, source, &demands)
    case .succeeded:
      demands.successes.insert(source)
      return Visit(operation: source, mustRun: next.mustRun)
    case .failed:
      if next.mustRun { demands.failures.insert(source) }
      return Visit(operation: source, mustRun: next.mustRun)
    case .done, .readyOrDone:
      // A group that has not failed has no member that has failed.
      guard edge.condition == .done, hasMembers(next.operation) else {
        if hasCondition { demands.failures.insert(source) }
        return nil
      }
      guard
        demands.successes.contains(next.operation) || demands.intact.contains(next.operation)
      else { return nil }
      demandOK(step, source, &demands)
    }
    return Visit(operation: source, mustRun: false)
  }

  /// The step of an operation; nil if it is not part of the plan.
  private func step(_ operation: OperationID) -> PlannedStep? {
    numbers[operation.index].map { plan.steps[$0.index] }
  }

  /// True if dependents of the step may run although it has failed.
  private func mayFail(_ step: PlannedStep, _ operation: OperationID) -> Bool {
    step.settings.allowFailure != .never || step.late?.allowance != nil
      || step.late?.parts.expansion?.allowance != nil
      || numbers[operation.index].flatMap { plan.groups[$0] }?.allowsFailure == true
  }

  /// Adds the demand that a step has not failed, or that only allowed failures have happened in it.
  private func demandOK(
    _ step: PlannedStep, _ operation: OperationID, _ demands: inout Demands
  ) {
    if mayFail(step, operation) { return }
    if holdsAllowedFailure(operation) {
      demands.intact.insert(operation)
    } else {
      demands.successes.insert(operation)
    }
  }

  /// True if a member may fail so that the group has failed, too, and its dependents still run.
  private func holdsAllowedFailure(_ group: OperationID) -> Bool {
    guard let members = planner.group(group.index)?.members, !members.isEmpty else { return false }
    if let known = allowing[group] { return known }
    var isAllowing = false
    for member in members where !isAllowing {
      let operation = OperationID(member)
      guard let step = self.step(operation) else { continue }
      isAllowing = mayFail(step, operation) || holdsAllowedFailure(operation)
    }
    allowing[group] = isAllowing
    return isAllowing
  }

  /// True if the operation stands for others: then all edges to it that wait for any end come from these.
  private func hasMembers(_ operation: OperationID) -> Bool {
    planner.group(operation.index)?.members.isEmpty == false
  }
}
