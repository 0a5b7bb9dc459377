// Foresees what happens to the operations that a step depends on.

import Diagnostics
import Plans
package import Scheduling

extension Foresight {
  /// Whether nothing that it depends on runs again, or had its outcome only after that moment.
  func isUpstreamUnchanged(of operation: OperationID, since start: Moment) -> Bool {
    plan.graph.dependencies(of: operation).allSatisfy { isUnchanged($0, since: start) }
  }

  /// A step that waits for the end of a service comes after all that needs the service, so it runs again with it. For
  /// others services are only company.
  func isUnchanged(_ edge: Graph.Edge, since start: Moment) -> Bool {
    // A service that only had to be ready may have ended later.
    if edge.condition.waitsForReadiness { return isUnchanged(edge.from, since: start.endOfRun) }
    if plan.graph.takesSlot(edge.from) { return isUnchanged(edge.from, since: start) }
    return !restarting.contains(edge.from) && fate(of: edge.from).staysAsItWas
      && settled[edge.from] ?? .first <= start
  }

  /// When a recorded step had its outcome; if it did not run, when that began: before every run, or in a run that went on
  /// with the earlier one.
  func settled(ofRecorded name: String) -> Moment {
    guard let before = earlier.steps[name], !before.outcome.ending.outcome.isOfNothing else {
      return earlier.passedOver[name] ?? .first
    }
    return before.settled
  }

  /// Whether what depends on it need not run again because of it. Of a group in the background the steps count that are
  /// no services.
  func isUnchanged(_ operation: OperationID, since start: Moment = .last) -> Bool {
    if !plan.graph.takesSlot(operation) {
      return plan.groups[operation]?.members.allSatisfy { isUnchanged($0, since: start) } ?? true
    }
    return fate(of: operation).isKept && settled[operation] ?? .first <= start
  }

  /// Whether a step runs because of what was done in runs that went on with the earlier one: it was cut off or failed
  /// there, or something that it depends on ran.
  package var isBehindSuccessors: Bool {
    let groups = Groups(plan)
    return earlier.hasRunSince
      && plan.steps.indices.contains { isBehind(OperationID($0), groups) }
  }

  private func isBehind(_ operation: OperationID, _ groups: Groups) -> Bool {
    guard plan.graph.takesSlot(operation), !plan.standsForOthers(operation),
      case .runs = step(operation), !isSkippedByPlan(operation, groups)
    else { return false }
    let names = recordedNames(of: operation)
    if names.contains(where: earlier.cutOff.contains) { return true }
    guard let run = names.compactMap({ earlier.steps[$0]?.origin }).min() else { return false }
    return plan.graph.dependencies(of: operation).contains { hasRun($0.from, after: run) }
  }

  /// Its own name, and those of its instances that become known only while running.
  func recordedNames(of operation: OperationID) -> [String] {
    [recordedName(of: operation)] + lateInstances.names(of: operation)
  }

  /// Whether an operation, or one in that group, ran in a later run than this one, or was passed over there.
  private func hasRun(_ operation: OperationID, after run: Int) -> Bool {
    recordedNames(of: operation).contains { settled(ofRecorded: $0).run > run }
      || plan.groups[operation]?.members.contains { hasRun($0, after: run) } == true
  }

  /// Whether something waits for its end.
  func isFollowed(_ service: OperationID) -> Bool {
    var isFollowed = false
    plan.graph.forEachDependent(of: service) { edge in
      if edge.condition.waitsForReadiness { return }
      if plan.groups[edge.to]?.members.contains(service) != true { isFollowed = true }
    }
    return isFollowed
  }

  /// The effect that the ends of all its dependencies have on an operation; nil if they are not all known.
  func effectOfUpstream(on operation: OperationID) -> EdgeEffect? {
    var worst = EdgeEffect.runs
    for edge in plan.graph.dependencies(of: operation) where !edge.condition.waitsForReadiness {
      guard let ending = foreseenEnding(of: edge.from) else { return nil }
      let effect = edge.condition.effect(of: ending)
      if effect.rawValue > worst.rawValue { worst = effect }
    }
    return worst
  }

  /// The endings of operations that have not changed, and did not succeed.
  package var unusualEndings: [OperationID: Ending] {
    var endings: [OperationID: Ending] = [:]
    for operation in order
    where fate(of: operation).isKept || fate(of: operation) == .blockedAgain {
      guard leftOut[operation] == nil, let ending = foreseenEnding(of: operation) else { continue }
      switch ending.outcome {
      case .succeeded, .cached: break
      case .failed, .timedOut, .cancelled, .skipped, .blocked: endings[operation] = ending
      }
    }
    return endings
  }

  /// The ending of an operation that does not run; nil if it runs, or if that is not known.
  private func foreseenEnding(of operation: OperationID) -> Ending? {
    switch fate(of: operation) {
    case .blockedAgain: return Ending(.blocked)
    case .skippedAnew, .unneeded: return Ending(.skipped)
    case .replaced: return Ending(.cached)
    case .kept, .idle: return record(of: operation).map { recordedEnding(of: operation, $0) }
    case .runs: return nil
    }
  }

  private func recordedEnding(of operation: OperationID, _ before: EarlierStep) -> Ending {
    let ending = before.outcome.ending
    guard ending.outcome.isFailure else { return ending }
    // In a group that is kept, only a service can have failed without being allowed to.
    if plan.groups[operation] != nil { return ending.isAllowed ? ending : Ending(.succeeded) }
    return Ending(ending.outcome, isAllowed: allowance(of: operation).allows(before.end))
  }

  private func allowance(of operation: OperationID) -> AllowFailure {
    let step = plan.steps[operation.index]
    return step.late?.allowance == nil ? step.settings.allowFailure : .always
  }

  /// Whether the step need not run if it is what it was: it succeeded, or its failure is still allowed.
  func isKeepable(_ before: EarlierStep, _ operation: OperationID) -> Bool {
    guard before.isKeepable else { return false }
    switch before.outcome.ending.outcome {
    case .failed, .timedOut:
      return forgiven.contains(operation) || allowance(of: operation).allows(before.end)
    case .cancelled: return before.givenUpFor.map { !intolerable.contains($0) } ?? true
    case .succeeded, .cached, .skipped, .blocked: return true
    }
  }

  /// The names of operations whose failure was allowed, and is not any more.
  func findIntolerable() -> Set<String> {
    var found: Set<String> = []
    for index in plan.steps.indices {
      let name = recordedName(of: OperationID(index))
      guard let before = earlier.steps[name], before.outcome.ending.outcome.isFailure,
        before.isKeepable, !isKeepable(before, OperationID(index))
      else { continue }
      found.insert(name)
    }
    return found
  }

  /// Whether an operation that is kept may still turn out to be something else, as it uses what is known only while
  /// running.
  func isUnsure(_ operation: OperationID, _ step: PlannedStep) -> Bool {
    let dependencies = plan.graph.dependencies(of: operation)
    if dependencies.contains(where: {
      !$0.condition.waitsForReadiness && unsure.contains($0.from)
    }) {
      return true
    }
    guard let late = step.late else { return false }
    let parts = late.parts.expansion?.parts ?? late.parts
    if parts.looksAtFiles { return true }
    return parts.stepsRead.contains(where: changingNames.contains)
  }

  /// Whether what a group gives may be something else although its steps are the same.
  func mayGiveOther(_ group: OperationID, _ written: Int) -> Bool {
    if let before = record(of: group), before.written != written { return true }
    guard case .matrix? = plan.groups[group]?.kind else { return false }
    let id = plan.steps[group.index].id
    if lateInstances.hasGroup(group) { return lostNames.contains(where: StepName(id).covers) }
    return ["[", "/"].contains { !lostNames.names(beginningWith: id + $0).isEmpty }
  }

  /// The names by which expressions near services refer to them.
  var namesOfServices: Set<String> {
    guard plan.graph.hasServices else { return [] }
    let operations = plan.steps.indices.map { OperationID($0) }
    return Set(operations.filter { !plan.graph.takesSlot($0) }.map(ownName))
  }

  /// The name by which expressions near the step refer to it.
  func ownName(of operation: OperationID) -> String {
    let id = plan.steps[operation.index].id
    return id.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(id[id.index(after: $0)...]) } ?? id
  }

  /// The names of steps in groups that are recorded and not in the plan, sorted.
  func findLostNames() -> [String] {
    guard plan.groups.values.contains(where: { $0.kind == .matrix }) else { return [] }
    let names = Set(plan.steps.indices.map { recordedName(of: OperationID($0)) })
    return earlier.steps.keys.filter { $0.hasSuffix("]") && !names.contains($0) }.sorted()
  }
}

extension Plan {
  /// The operations in groups that may fail, or of which it is not known whether they may.
  var forgiven: Set<OperationID> {
    var forgiven: Set<OperationID> = []
    // Groups come after their members.
    for (group, about) in groups.sorted(by: { $0.key > $1.key }) {
      let isLate = steps[group.index].late?.parts.expansion?.allowance != nil
      // If the matrix of a group is not known, it is its instances that may fail.
      let mayFail = about.allowsFailure || about.pattern?.group.allowsFailure == true
      guard mayFail || isLate || forgiven.contains(group) else { continue }
      forgiven.insert(group)
      forgiven.formUnion(about.members)
      forgiven.formUnion(about.pattern?.operations ?? [])
    }
    return forgiven
  }
}
