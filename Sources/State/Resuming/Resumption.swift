// Which steps of an earlier run are kept. A step is kept if it succeeded, is still what it was, and
// everything that it depends on is kept, too: decided for each step when its turn comes, and
// foreseen for all of them before the run, as far as possible. docs/design-state.md.

import Diagnostics
package import Masking
package import Plans
import Scheduling

/// A step as it would run now.
struct RememberedStep: Hashable {
  let id: String
  let written: Int
  /// Nil for a cached step of which the cache says nothing, and nothing was decided while running: then it does not count.
  let resolved: Int?
  /// The failures of its own that are allowed.
  let allowance: AllowFailure
}

/// The memory of one run that resumes another one.
package final class Resumption {
  package let earlier: EarlierRun
  let plan: Plan
  package let foreseen: Foresight
  /// The executions behind the ends of operations, by number; nil for those that have not ended.
  private var freshness: [Freshness?]
  private let added: AddedOperations
  /// The operations that are copied for each instance of a group.
  private let copied: Set<OperationID>
  private var keeping: Set<OperationID> = []
  /// The operations that are kept because a selection does not name them, although they have changed.
  private(set) var held: Set<OperationID> = []
  /// The operations that are not kept, and whose turn has come.
  private var reached: Set<OperationID> = []
  /// The operations that ended before their turn came.
  private var unreached: Set<OperationID> = []
  /// The operations that somebody had run again.
  private var repeated: Set<OperationID> = []
  /// The operations by the names under which they are recorded; nil until one is looked up.
  private var operations: [String: OperationID]?

  var runNumber: Int { earlier.number }

  package init(
    _ earlier: EarlierRun, _ plan: Plan, _ selection: ResumeSelection, masker: Masker? = nil,
    cached: CachedSteps = CachedSteps()
  ) {
    let earlier = earlier.withoutAmbiguousNames(in: plan, masker)
    self.earlier = earlier
    self.plan = plan
    added = AddedOperations(to: plan)
    foreseen = Foresight(earlier, plan, selection, masker, cached: cached)
    copied = plan.copiedOperations
    freshness = [Freshness?](repeating: nil, count: plan.steps.count)
  }

  /// The execution that stands behind the ending of an operation.
  private enum Freshness {
    /// It was skipped or blocked, or consists only of operations that were: before every run if it was so in all of them,
    /// after all runs if it ran in the earlier one.
    case didNotRun(since: Moment)
    /// It ran in an earlier run, and had its outcome then.
    case kept(Moment)
    case ranNow
  }

  /// True from the moment when it was decided to keep the step.
  func isKeeping(_ operation: OperationID) -> Bool { keeping.contains(operation) }

  /// Outside of a selection nothing runs: what has no success that it can keep is left out.
  func reasonToLeaveOut(_ planned: OperationID, named name: String) -> String? {
    if let reason = foreseen.leftOut[planned], !foreseen.keptInstances.contains(name) {
      return reason
    }
    if foreseen.fate(of: planned) == .unneeded { return Foresight.unneeded }
    guard foreseen.isOutside(planned), usable(name, planned) == nil,
      !standsForSteps(planned, named: name)
    else { return nil }
    return foreseen.selectionInWords
  }

  /// Whether it is a group, and not an instance that runs something.
  private func standsForSteps(_ planned: OperationID, named name: String) -> Bool {
    guard let group = plan.groups[planned] else { return false }
    return !group.isExpanding || group.pattern != nil
      || name == foreseen.recordedName(of: planned)
  }

  /// Whether the step might have run if it had not been left out: before, it ran, or what skipped it has changed.
  func leavesGap(_ planned: OperationID, named name: String) -> Bool {
    guard reasonToLeaveOut(planned, named: name) != nil,
      foreseen.fate(of: planned) != .unneeded
    else { return false }
    guard let before = earlier.steps[name], before.wasSkipped, !before.outcome.isLeftOut else {
      return true
    }
    return !foreseen.fate(of: planned).isKept && !foreseen.keptInstances.contains(name)
  }

  /// The recorded result of a step, if it may take the place of running it.
  private func usable(_ name: String, _ planned: OperationID) -> EarlierStep? {
    guard let before = earlier.steps[name], foreseen.isKeepable(before, planned),
      !before.hasSecretOutput
    else { return nil }
    return before
  }

  func kept(
    _ operation: OperationID, of planned: OperationID, as step: RememberedStep
  ) -> KeptStep? {
    guard let before = usable(step.id, planned), !before.outcome.isLeftOut,
      !repeated.contains(operation),
      before.written == step.written, step.resolved.map({ $0 == before.resolved }) ?? true,
      !foreseen.forced.contains(planned), !foreseen.neededServices.contains(planned),
      isUpstreamUnchanged(of: operation, planned, since: before.start)
    else {
      reached.insert(operation)
      return nil
    }
    return keep(operation, before, step.allowance)
  }

  /// The end of a step that has changed, and keeps its result all the same because a selection does not name it; nil
  /// for any other.
  func held(
    _ operation: OperationID, of planned: OperationID, named name: String, _ allowance: AllowFailure
  ) -> KeptStep? {
    guard foreseen.isOutside(planned), !repeated.contains(operation),
      let before = usable(name, planned)
    else { return nil }
    reached.remove(operation)
    held.insert(operation)
    if plan.groups[planned]?.pattern != nil { keepMembers(of: operation, since: before.settled) }
    let kept = keep(operation, before, allowance)
    guard kept.ending.outcome.isFailure, standsForSteps(planned, named: name) else { return kept }
    // The failure was allowed for its instances, of which there are none now.
    return KeptStep(before.outcome.ending, kept.cause, outputs: kept.outputs)
  }

  /// Keeps what is in a group of which no instances are made.
  private func keepMembers(of group: OperationID, since moment: Moment) {
    for member in members(of: group) {
      keeping.insert(member)
      set(.kept(moment), of: member)
      keepMembers(of: member, since: moment)
    }
  }

  func mayHold(_ planned: OperationID, named name: String) -> Bool {
    foreseen.isOutside(planned) && usable(name, planned) != nil
  }

  private func keep(
    _ operation: OperationID, _ before: EarlierStep, _ allowance: AllowFailure
  ) -> KeptStep {
    keeping.insert(operation)
    set(.kept(before.settled), of: operation)
    let outcome = before.outcome.ending.outcome
    switch outcome {
    case .succeeded, .cached: return KeptStep(Ending(.cached), outputs: before.outputs)
    case .cancelled:
      return KeptStep(Ending(.cancelled), reason(givingUp: before), outputs: [])
    case .failed, .timedOut, .skipped, .blocked:
      // A failure that only the group allows is not allowed inside the group.
      return KeptStep(
        Ending(outcome, isAllowed: allowance.allows(before.end)), outputs: before.outputs)
    }
  }

  func operation(named name: String) -> OperationID? {
    if operations == nil {
      let names = (0..<added.count).compactMap { number in
        self.name(of: OperationID(number)).map { ($0, OperationID(number)) }
      }
      operations = Dictionary(names, uniquingKeysWith: { first, _ in first })
    }
    return operations?[name]
  }

  /// The hooks that a group, which is a used pipeline, has to run. Asked when its members have ended.
  func hooks(of group: OperationID, named name: String) -> GroupHookDuty {
    guard hasOwnHooks(group) else { return .asUsual }
    if isCutShort(group) { return .notOfSuccess }
    return owesHooks(group, name) && !foreseen.isOutside(added.planned(group)) ? .owed : .asUsual
  }

  /// Whether a group, which is a used pipeline, has not come to its end: a selection leaves something of it out, or its
  /// hooks. Asked like the hooks.
  func isUnfinished(_ group: OperationID, named name: String) -> Bool {
    guard hasOwnHooks(group) else { return false }
    return isCutShort(group) || owesHooks(group, name) && foreseen.isOutside(added.planned(group))
  }

  /// Whether it is a used pipeline with hooks; not one that stands for its copies, which have them.
  private func hasOwnHooks(_ group: OperationID) -> Bool {
    foreseen.hasHooks(added.planned(group)) && !copied.contains(group)
  }

  private func owesHooks(_ group: OperationID, _ name: String) -> Bool {
    guard case .kept(let newest) = freshness(of: members(of: group)) else { return false }
    return foreseen.owesHooks(
      added.planned(group), named: name, newest: max(newest.run, lastRun(ofHooksIn: group)))
  }

  private func lastRun(ofHooksIn group: OperationID) -> Int {
    members(of: group).reduce(0) { last, member in
      guard foreseen.hasHooks(added.planned(member)) else {
        return max(last, lastRun(ofHooksIn: member))
      }
      return max(last, name(of: member).flatMap { earlier.steps[$0]?.origin } ?? 0)
    }
  }

  /// Whether a step in the group does not run only because a selection does not name it.
  private func isCutShort(_ group: OperationID) -> Bool {
    guard foreseen.selectionInWords != nil else { return false }
    return members(of: group).contains { member in
      if held.contains(member) || isCutShort(member) { return true }
      let planned = added.planned(member)
      return name(of: member).map {
        leavesGap(planned, named: $0)
          && reasonToLeaveOut(planned, named: $0) == foreseen.selectionInWords
      } ?? false
    }
  }

  func appended(
    _ operation: OperationID, named name: String, to group: OperationID, after: [OperationID]
  ) {
    added.append(operation, id: name, from: group, after: after)
    if operations?[name] == nil { operations?[name] = operation }
  }

  /// The name under which an operation is recorded; nil if there is no such operation.
  func name(of operation: OperationID) -> String? {
    plan.steps.indices.contains(operation.index)
      ? foreseen.recordedName(of: operation) : added[operation]?.id
  }

  /// The execution behind an operation that does not run now. For a service this is no change: others only wait for its
  /// end.
  private func passedOver(_ operation: OperationID) -> Freshness {
    guard let name = name(of: operation), plan.graph.takesSlot(added.planned(operation)) else {
      return .didNotRun(since: .first)
    }
    let hasRun = earlier.steps[name].map { !$0.didNotRun } ?? false
    return .didNotRun(since: hasRun ? .last : earlier.passedOver[name] ?? .first)
  }

  /// Called when the operation begins. Returns what ended before its turn came and now counts as ended: this operation
  /// has seen it.
  func began(_ operation: OperationID) -> [OperationID] {
    reached.insert(operation)
    keeping.remove(operation)
    if unreached.isEmpty { return [] }
    var seen: [OperationID] = []
    var rest = added.dependencies(of: operation)
    while let next = rest.popLast() {
      if unreached.remove(next) != nil { seen.append(next) }
      rest += members(of: next)
    }
    return seen
  }

  /// Somebody had the operation run again, or one that it waits for: whatever is recorded of it, it runs.
  func forget(_ operation: OperationID) {
    repeated.insert(operation)
    keeping.remove(operation)
    held.remove(operation)
    unreached.remove(operation)
    if freshness.indices.contains(operation.index) { freshness[operation.index] = nil }
  }

  /// Called when an operation has ended. Returns what becomes of its earlier result.
  func settled(_ operation: OperationID, _ ending: Ending, _ cause: Cause = .itself) -> TakenOver {
    if keeping.contains(operation) { return .kept }
    let members = members(of: operation)
    if isUnreached(operation, members, ending, cause) {
      unreached.insert(operation)
      set(.ranNow, of: operation)
      return .awaiting
    }
    if members.isEmpty {
      set(ending.outcome.isOfNothing ? passedOver(operation) : .ranNow, of: operation)
    } else {
      let isHooked = name(of: operation).map { hooks(of: operation, named: $0) == .owed } ?? false
      set(isHooked ? .ranNow : freshness(of: members), of: operation)
    }
    return .forgotten
  }

  /// Whether it ended before it was decided whether it runs, because it was cancelled or what it waits for was, and
  /// nothing in it has begun. The next run decides.
  private func isUnreached(
    _ operation: OperationID, _ members: [OperationID], _ ending: Ending, _ cause: Cause
  ) -> Bool {
    let isBlockedByUnreached =
      if case .dependency(let root) = cause, ending.outcome == .blocked {
        unreached.contains(root)
      } else { false }
    guard ending.outcome == .cancelled || isBlockedByUnreached, !reached.contains(operation)
    else { return false }
    return members.allSatisfy {
      if unreached.contains($0) { return true }
      if case .ranNow = freshness(of: [$0]) { return false } else { return true }
    }
  }

  func members(of group: OperationID) -> [OperationID] {
    if let instances = added.instances(of: group) { return instances }
    if let plan = plan.groups[group] { return plan.members }
    // A group that was made while running waits for its members.
    guard let addition = added[group], plan.standsForOthers(added.planned(group)) else { return [] }
    return addition.dependencies
  }

  private func freshness(of members: [OperationID]) -> Freshness {
    var newest = Moment.first
    var hasRun = false
    for member in members {
      switch freshness.indices.contains(member.index) ? freshness[member.index] : nil {
      case .ranNow, .didNotRun(since: .last), nil: return .ranNow
      case .kept(let moment):
        newest = max(newest, moment)
        hasRun = true
      case .didNotRun(let moment): newest = max(newest, moment)
      }
    }
    return hasRun ? .kept(newest) : .didNotRun(since: newest)
  }

  private func set(_ value: Freshness, of operation: OperationID) {
    while freshness.count <= operation.index { freshness.append(nil) }
    freshness[operation.index] = value
  }

  /// Whether everything that the operation depends on had its outcome before it began, and did not run since. A copy
  /// waits for those of its own instance.
  func isUpstreamUnchanged(
    of operation: OperationID, _ planned: OperationID, since start: Moment
  ) -> Bool {
    let isCopy = operation != planned && copied.contains(planned)
    let edges = plan.graph.dependencies(of: planned).lazy.filter {
      !(isCopy && self.copied.contains($0.from))
    }
    return edges.allSatisfy { isUnchanged($0, since: start) }
      && (added[operation]?.dependencies ?? []).allSatisfy { isUnchanged($0, since: start) }
  }

  private func isUnchanged(_ edge: Graph.Edge, since start: Moment) -> Bool {
    // A service that only had to be ready may have ended later.
    if edge.condition.waitsForReadiness { return isUnchanged(edge.from, since: start.endOfRun) }
    return hasNotRun(edge.from, since: start)
  }

  /// Services are only company; of a group in the background, which may not have ended, the other steps
  /// count.
  private func isUnchanged(_ operation: OperationID, since start: Moment) -> Bool {
    guard operation.index >= plan.steps.count || plan.graph.takesSlot(operation) else {
      return plan.groups[operation]?.members.allSatisfy { isUnchanged($0, since: start) } ?? true
    }
    return hasNotRun(operation, since: start)
  }

  private func hasNotRun(_ operation: OperationID, since start: Moment) -> Bool {
    let own = freshness.indices.contains(operation.index) ? freshness[operation.index] : nil
    switch own ?? added.instances(of: operation).map({ freshness(of: $0) }) {
    case .kept(let moment), .didNotRun(let moment): return moment <= start
    case .ranNow, nil: return false
    }
  }
}
