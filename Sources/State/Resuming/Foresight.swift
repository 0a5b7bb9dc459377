// Foresees what resuming a run will do, as far as the plan and the record tell: people are told
// before, and a selection leaves steps out accordingly. A step with values that are known only
// while running may still turn out otherwise.

import Masking
import Plans
package import Scheduling

/// The cached steps of a run that is resumed, as the cache sees them: it decides whether they run.
package struct CachedSteps {
  /// They run, because the cache has no result of what they are now.
  package var stale: Set<OperationID> = []
  /// They do not run, whatever the record says.
  package var fresh: Set<OperationID> = []
  /// The others: what they are is known only while running.
  package var undecided: Set<OperationID> = []
  /// Cached steps that do not run, and of which nothing is to be put back.
  package var intact: Set<OperationID> = []
  /// The numbers of the results of those that do not run.
  package var results: [OperationID: Int] = [:]

  package init() {}
}

package struct Foresight {
  /// What becomes of each operation, by its number.
  private var fates: [Fate]
  /// When each of those that do not run had its outcome, or the last in a group. If it ran before and not since, when that
  /// began.
  private(set) var settled: [OperationID: Moment] = [:]
  /// The operations that are kept unless a file, or a value that another step gives again, turns out to be another one,
  /// or the cache decides otherwise.
  private(set) var unsure: Set<OperationID> = []
  /// Steps that do not run although they would, and why: this comes before their fate.
  var leftOut: [OperationID: String] = [:]
  /// Steps that run again although nothing has changed.
  package private(set) var forced: Set<OperationID> = []
  /// The operations that the selection leaves out by name.
  private(set) var skipped: Set<OperationID> = []
  /// Services that are needed again.
  var neededServices: Set<OperationID> = []
  package private(set) var keptCount = 0
  package private(set) var runCount = 0
  /// The instances of steps whose matrix is known only while running.
  private(set) var instances: [OperationID: ForeseenInstances] = [:]
  /// The names of those that are kept.
  private(set) var keptInstances: Set<String> = []
  /// The names of recorded steps that the plan does not have any more.
  private(set) var lostNames: [String] = []
  /// The names of those whose failure was allowed, and is not any more.
  private(set) var intolerable: Set<String> = []
  /// The names of services and of kept groups that may give something else.
  private(set) var changingNames: Set<String> = []
  /// True if more may run than is known.
  package private(set) var isUncertain = false
  /// The operations that a selection is about: nothing else runs.
  private(set) var inside: Set<OperationID> = []
  /// Why nothing else does; nil if there is no selection.
  let selectionInWords: String?
  /// Services that are known to start again.
  let restarting: Set<OperationID>

  let plan: Plan
  /// The operations, dependencies first.
  let order: [OperationID]
  let earlier: EarlierRun
  let selection: ResumeSelection
  let masker: Masker?
  /// The operations in groups that may fail, or of which it is not known whether they may.
  let forgiven: Set<OperationID>
  let lateInstances: LateInstances
  package let cached: CachedSteps

  init(
    _ earlier: EarlierRun, _ plan: Plan, _ selection: ResumeSelection, _ masker: Masker?,
    cached: CachedSteps
  ) {
    self.init(earlier, plan, selection, masker, cached: cached, restarting: [])
    // A step that waits for the end of a service runs again with it, and may need other services.
    while true {
      let followed = neededServices.filter(isFollowed)
      if followed.isSubset(of: restarting) { return }
      self = Foresight(
        earlier, plan, selection, masker, cached: cached, restarting: followed.union(restarting))
    }
  }

  private init(
    _ earlier: EarlierRun, _ plan: Plan, _ selection: ResumeSelection, _ masker: Masker?,
    cached: CachedSteps, restarting: Set<OperationID>
  ) {
    self.masker = masker
    self.cached = cached
    self.selection = selection
    self.plan = plan
    self.earlier = earlier
    self.restarting = restarting
    selectionInWords = selection.words
    order = plan.graph.dependenciesFirst().map { OperationID(Int($0)) }
    fates = [Fate](repeating: .runs(.itself), count: plan.steps.count)
    lateInstances = LateInstances(plan, earlier)
    forgiven = plan.forgiven
    let core = core(of: selection)
    if !selection.from.isEmpty || !selection.only.isEmpty { forced = core }
    skipped = operations(of: selection.skipped)
    inside = inside(core)
    lostNames = findLostNames()
    intolerable = findIntolerable()
    foresee()
    apply(selection, core)
    findServices()
    count()
  }

  /// The name under which an operation of the plan is recorded, without secrets.
  func recordedName(of operation: OperationID) -> String {
    let id = plan.steps[operation.index].id
    return masker?.name(id, number: operation.index) ?? id
  }

  func record(of operation: OperationID) -> EarlierStep? {
    earlier.steps[recordedName(of: operation)]
  }

  func outcome(_ operation: OperationID) -> Outcome? {
    record(of: operation)?.outcome.ending.outcome
  }

  func fate(of operation: OperationID) -> Fate { fates[operation.index] }

  /// The operations that run for this reason, dependencies first.
  package func operations(toRun reason: ReasonToRun) -> [OperationID] {
    order.filter { fate(of: $0) == .runs(reason) && leftOut[$0] == nil }
  }

  /// Goes through the steps, dependencies first.
  private mutating func foresee() {
    var fingerprints = Fingerprints(masker)
    changingNames = namesOfServices
    for operation in order {
      let step = plan.steps[operation.index]
      let fate = foresee(operation, step, fingerprints.written(step))
      fates[operation.index] = fate
      // A step that was skipped is skipped again if its condition is the same.
      let isUndecided = cached.undecided.contains(operation) && outcome(operation) != .skipped
      if fate.isKept, isUndecided || isUnsure(operation, step) {
        unsure.insert(operation)
        isUncertain = isUncertain || !isOutside(operation) && !plan.standsForOthers(operation)
      }
    }
  }

  private mutating func foresee(
    _ operation: OperationID, _ step: PlannedStep, _ written: Int
  ) -> Fate {
    if let group = plan.groups[operation], !group.members.isEmpty {
      return fateOfGroup(operation, group, written)
    }
    let late = lateInstances.names(of: operation)
    if !late.isEmpty { return unlessForced(fateOfInstances(operation, late, written), operation) }
    let before = record(of: operation)
    let fate = unlessForced(fateOfStep(operation, step, before, written), operation)
    settled[operation] = moment(of: operation, fate, before)
    return fate
  }

  private mutating func fateOfGroup(
    _ operation: OperationID, _ group: GroupPlan, _ written: Int
  ) -> Fate {
    guard group.members.allSatisfy({ fate(of: $0).staysAsItWas || runsHooksAgain($0) }) else {
      return .runs(.itself)
    }
    let newest = group.members.compactMap { settled[$0] }.max()
    let isIdle = group.members.allSatisfy { fate(of: $0).isIdle }
    if !isIdle {
      let newestRun = max(newest?.run ?? 0, lastRun(ofHooksIn: group))
      if owesHooks(operation, named: recordedName(of: operation), newest: newestRun) {
        return .runs(.hooks)
      }
      if group.members.contains(where: runsHooksAgain) { return .runs(.innerHooks) }
    }
    settled[operation] = newest
    // Its outputs may be other ones, although its steps are the same.
    if mayGiveOther(operation, written) { changingNames.insert(ownName(of: operation)) }
    return isIdle ? .idle : .kept
  }

  private func fateOfStep(
    _ operation: OperationID, _ step: PlannedStep, _ before: EarlierStep?, _ written: Int
  ) -> Fate {
    let isFresh = cached.fresh.contains(operation) && !forced.contains(operation)
    if isUnneeded(operation, before) { return .unneeded }
    guard let before else { return isFresh ? .replaced : .runs(.itself) }
    let effect = effectOfUpstream(on: operation)
    if before.outcome.ending.outcome == .blocked, effect == .blocks { return .blockedAgain }
    // For the steps that depend on it, this is a change if they had its success, and none if it was skipped.
    if skipped.contains(operation) { return before.wasSkipped ? .idle : .runs(.itself) }
    if !before.wasSkipped, effect == .skips { return .skippedAnew }
    guard isKeepable(before, operation) else {
      if isFresh { return .replaced }
      if before.isLeftOut, step.late?.skipReason == nil { return .runs(.omitted) }
      return isSkippedAgain(operation, step, before, written) ? .idle : .runs(.itself)
    }
    let isUpstreamUnchanged = isUpstreamUnchanged(of: operation, since: before.start)
    if isFresh {
      let hasSameResult = cached.results[operation] ?? before.resolved == before.resolved
      return before.written == written && isUpstreamUnchanged && hasSameResult ? .kept : .replaced
    }
    if before.written != written { return .runs(.edited) }
    if cached.stale.contains(operation), !isOutside(operation) { return .runs(.outdated) }
    if before.outcome.isLeftOut { return .runs(.omitted) }
    if !isUpstreamUnchanged { return .runs(.downstream) }
    if before.hasSecretOutput { return .runs(.givesSecret) }
    return step.late?.parts.usesRunName == true ? .runs(.usesRunName) : .kept
  }

  /// The fate of a step, which runs if a selection says so.
  private func unlessForced(_ fate: Fate, _ operation: OperationID) -> Fate {
    guard forced.contains(operation), !skipped.contains(operation) else { return fate }
    switch fate {
    case .kept, .idle: return .runs(.selected)
    case .blockedAgain, .unneeded, .skippedAnew, .replaced: return fate
    case .runs(.edited), .runs(.givesSecret): return fate
    case .runs: return .runs(.selected)
    }
  }

  /// When a step that does not run had its outcome, or was passed over; nil if that is no change for any other.
  private func moment(of operation: OperationID, _ fate: Fate, _ before: EarlierStep?) -> Moment? {
    switch fate {
    case .kept: before?.settled
    case .unneeded: before.map { $0.didNotRun ? .first : $0.settled } ?? .last
    case .idle, .blockedAgain:
      // For other steps it is no change if a service does not run.
      plan.graph.takesSlot(operation) ? earlier.passedOver[recordedName(of: operation)] : nil
    case .skippedAnew, .replaced, .runs: nil
    }
  }

  /// A step is skipped because of an edge, which is seen, or by its condition, which is assumed to have the same result
  /// as long as it is the same and what it looks at is.
  private func isSkippedAgain(
    _ operation: OperationID, _ step: PlannedStep, _ before: EarlierStep, _ written: Int
  ) -> Bool {
    guard before.wasSkipped else { return false }
    switch effectOfUpstream(on: operation) {
    case .skips: return true
    case .blocks: return false
    case .runs, nil: break
    }
    let parts = step.late?.parts
    let maySkip =
      parts?.conditions.isEmpty == false || parts?.expansion != nil
      || plan.groups[operation] != nil || lateInstances.hasGroup(operation)
    return maySkip && before.written == written
      && isUpstreamUnchanged(of: operation, since: before.start)
  }

  /// Whether the instances of a step use the name of the run.
  private func usesRunName(_ operation: OperationID) -> Bool {
    guard let parts = plan.steps[operation.index].late?.parts else { return false }
    return (parts.expansion?.parts ?? parts).usesRunName
  }

  /// Does the same for the instances of a step of which a matrix is known only while running: each waits for those of
  /// its own instance of the group.
  private mutating func fateOfInstances(
    _ operation: OperationID, _ late: [String], _ written: Int
  ) -> Fate {
    let done = late.compactMap { earlier.steps[$0] }.filter { isKeepable($0, operation) }
    instances[operation] = ForeseenInstances(kept: 0, others: late.count)
    // The steps that depend on it had its success.
    if skipped.contains(operation) { return .runs(.itself) }
    if done.contains(where: { $0.written != written }) { return .runs(.edited) }
    if done.contains(where: \.outcome.isLeftOut) { return .runs(.omitted) }
    if done.contains(where: \.hasSecretOutput) { return .runs(.givesSecret) }
    if !done.isEmpty, usesRunName(operation) { return .runs(.usesRunName) }
    if forced.contains(operation) { return .runs(.selected) }
    let kept = late.filter { isKept($0, operation) }
    keptInstances.formUnion(kept)
    instances[operation] = ForeseenInstances(kept: kept.count, others: late.count - kept.count)
    let before = record(of: operation)
    // A step that had not ended may have had instances that had not begun.
    isUncertain = isUncertain || before == nil
    if kept.count < done.count { return .runs(before?.isLeftOut == true ? .omitted : .downstream) }
    if before == nil || kept.count < late.count { return .runs(.itself) }
    settled[operation] = kept.map { settled(ofRecorded: $0) }.max()
    return done.isEmpty ? .idle : .kept
  }

  /// Whether the plan says already that it is skipped.
  func isSkippedByPlan(_ operation: OperationID, _ groups: Groups) -> Bool {
    if plan.groups[operation]?.members.isEmpty == true, plan.groups[operation]?.isExpanding == false
    {
      return true
    }
    return plan.steps[operation.index].late?.skipReason != nil
      || groups.around(operation).contains { plan.steps[$0.index].late?.skipReason != nil }
  }

  private mutating func count() {
    let groups = Groups(plan)
    for index in plan.steps.indices where !plan.standsForOthers(OperationID(index)) {
      let operation = OperationID(index)
      let instances = instances[operation]
      keptCount += instances?.kept ?? 0
      if leftOut[operation] != nil || isSkippedByPlan(operation, groups) { continue }
      if let instances {
        runCount += instances.others
        continue
      }
      switch fate(of: operation) {
      case .kept, .replaced: keptCount += 1
      case .idle, .blockedAgain, .unneeded, .skippedAnew: break
      case .runs: runCount += 1
      }
    }
  }

  /// Has a service run that is needed again, although it was to be kept, or left out.
  mutating func start(_ service: OperationID) {
    neededServices.insert(service)
    let wasLeftOut = leftOut.removeValue(forKey: service) != nil
    switch fate(of: service) {
    case .kept, .idle, .unneeded, .replaced, .runs(.itself): fates[service.index] = .runs(.needed)
    // What it depends on decides, or its hooks run besides.
    case .blockedAgain, .skippedAnew, .runs(.hooks), .runs(.innerHooks): break
    case .runs: if wasLeftOut { fates[service.index] = .runs(.needed) }
    }
  }
}
