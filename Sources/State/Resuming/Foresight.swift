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
  /// Steps that run again although nothing has changed.
  package private(set) var forced: Set<OperationID> = []
  /// Steps that do not run although they would, and why.
  var leftOut: [OperationID: String] = [:]
  /// The operations that the selection leaves out by name.
  private(set) var skipped: Set<OperationID> = []
  /// Services that are needed again.
  var neededServices: Set<OperationID> = []
  /// Services that have no success to keep, and do not run for their own sake.
  var unneededServices: Set<OperationID> = []
  package private(set) var keptCount = 0
  package private(set) var runCount = 0
  /// Steps that succeeded and were edited since.
  package private(set) var edited: [OperationID] = []
  /// Steps that succeeded and run again because of others.
  package private(set) var downstream: [OperationID] = []
  /// Steps that succeeded, and whose outputs held a secret.
  package private(set) var secretGivers: [OperationID] = []
  /// Steps that succeeded, and run something else in each run, because they use its name.
  package private(set) var runNamers: [OperationID] = []
  /// Cached steps that succeeded, were not edited, and are not up to date.
  package private(set) var outdated: [OperationID] = []
  /// Steps that a selection left out of the earlier run, and that run now.
  package private(set) var omitted: [OperationID] = []
  /// Cached steps that do not run, but have another result than in the earlier run.
  private(set) var replaced: Set<OperationID> = []
  /// Operations that are kept, or were skipped and will be again.
  private(set) var keptSteps: Set<OperationID> = []
  /// Steps that were blocked by what is kept, as in a group that may fail, and will be again.
  private(set) var blockedSteps: Set<OperationID> = []
  /// Steps that did run, and are skipped now because of what is kept.
  private(set) var skippedAnew: Set<OperationID> = []
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
  /// Operations that did not run and will not, such as groups of which no step did.
  var idle: Set<OperationID> = []
  /// When each of those that are kept had its outcome, or the last in a group. If it ran before and not since, when that
  /// began.
  private(set) var settled: [OperationID: Moment] = [:]
  /// The operations that are kept unless a file, or a value that another step gives again, turns out to be another one,
  /// or the cache decides otherwise.
  private(set) var unsure: Set<OperationID> = []
  /// Used pipelines that are kept, and whose hooks run again.
  private(set) var owedHooks: [OperationID] = []
  /// Used pipelines whose hooks run again only because those of a pipeline inside do.
  private(set) var hooksAround: [OperationID] = []
  /// Groups in which nothing but hooks of used pipelines runs again.
  private var rehooked: Set<OperationID> = []
  /// True if more may run than is known.
  package private(set) var isUncertain = false
  /// The operations that a selection is about: nothing else runs.
  private(set) var inside: Set<OperationID> = []
  /// Why nothing else does; nil if there is no selection.
  let selectionInWords: String?
  /// Services that are known to start again.
  let restarting: Set<OperationID>

  let plan: Plan
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
    let silent = Set(leftOut.keys)
    for list in [
      \Self.edited, \.downstream, \.secretGivers, \.runNamers, \.outdated, \.omitted,
    ] {
      self[keyPath: list].removeAll(where: silent.contains)
    }
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

  /// Goes through the steps, dependencies first.
  private mutating func foresee() {
    var fingerprints = Fingerprints(masker)
    changingNames = namesOfServices
    for number in plan.graph.dependenciesFirst() {
      let operation = OperationID(Int(number))
      let step = plan.steps[operation.index]
      if let group = plan.groups[operation], !group.members.isEmpty {
        foresee(operation, group, fingerprints.written(step))
      } else {
        let late = lateInstances.names(of: operation)
        if late.isEmpty {
          foresee(operation, step, record(of: operation), fingerprints.written(step))
        } else {
          foresee(operation, late, fingerprints.written(step))
        }
      }
      // A step that was skipped is skipped again if its condition is the same.
      let isUndecided = cached.undecided.contains(operation) && outcome(operation) != .skipped
      if keptSteps.contains(operation), isUndecided || isUnsure(operation, step) {
        unsure.insert(operation)
        isUncertain = isUncertain || !isOutside(operation) && !plan.standsForOthers(operation)
      }
    }
  }

  private mutating func foresee(_ operation: OperationID, _ group: GroupPlan, _ written: Int) {
    guard group.members.allSatisfy({ staysAsItWas($0) || rehooked.contains($0) }) else { return }
    let newest = group.members.compactMap { settled[$0] }.max()
    if group.members.allSatisfy(idle.contains) {
      idle.insert(operation)
    } else if owesHooks(
      operation, named: recordedName(of: operation),
      newest: max(newest?.run ?? 0, lastRun(ofHooksIn: group)))
    {
      owedHooks.append(operation)
      if !isOutside(operation) { rehooked.insert(operation) }
      return
    } else if !rehooked.isDisjoint(with: group.members) {
      rehooked.insert(operation)
      if hasHooks(operation) { hooksAround.append(operation) }
      return
    }
    keptSteps.insert(operation)
    settled[operation] = newest
    // Its outputs may be other ones, although its steps are the same.
    if mayGiveOther(operation, written) { changingNames.insert(ownName(of: operation)) }
  }

  private mutating func foresee(
    _ operation: OperationID, _ step: PlannedStep, _ before: EarlierStep?, _ written: Int
  ) {
    let isFresh = cached.fresh.contains(operation) && !forced.contains(operation)
    if isUnneeded(operation, before) {
      unneededServices.insert(operation)
      idle.insert(operation)
      settled[operation] = before.map { $0.didNotRun ? .first : $0.settled } ?? .last
      return
    }
    guard let before else {
      if isFresh { replaced.insert(operation) }
      return
    }
    let isUpstreamUnchanged = isUpstreamUnchanged(of: operation, since: before.start)
    if before.outcome.ending.outcome == .blocked, effectOfUpstream(on: operation) == .blocks {
      blockedSteps.insert(operation)
      passOver(operation)
    }
    if skipped.contains(operation) {
      // For the steps that depend on it, this is a change if they had its success, and none if it was skipped.
      if before.wasSkipped { skipAgain(operation) }
    } else if !before.wasSkipped, effectOfUpstream(on: operation) == .skips {
      skippedAnew.insert(operation)
    } else if isKeepable(before, operation) {
      if isFresh {
        let isSame =
          before.written == written && isUpstreamUnchanged
          && cached.results[operation] ?? before.resolved == before.resolved
        if isSame { keep(operation, before) } else { replaced.insert(operation) }
      } else if before.written != written {
        edited.append(operation)
      } else if cached.stale.contains(operation), !isOutside(operation) {
        if !forced.contains(operation) { outdated.append(operation) }
      } else if before.outcome.isLeftOut {
        if !forced.contains(operation) { omitted.append(operation) }
      } else if !isUpstreamUnchanged {
        if !forced.contains(operation) { downstream.append(operation) }
      } else if before.hasSecretOutput {
        secretGivers.append(operation)
      } else if step.late?.parts.usesRunName == true {
        if !forced.contains(operation) { runNamers.append(operation) }
      } else if !forced.contains(operation) {
        keep(operation, before)
      }
    } else if isFresh {
      replaced.insert(operation)
    } else if before.wasSkipped {
      if before.outcome.isLeftOut, step.late?.skipReason == nil {
        if !forced.contains(operation) { omitted.append(operation) }
      } else if !forced.contains(operation), isSkippedAgain(operation, step, before, written) {
        skipAgain(operation)
      }
    }
  }

  private mutating func keep(_ operation: OperationID, _ before: EarlierStep) {
    keptSteps.insert(operation)
    settled[operation] = before.settled
  }

  private mutating func skipAgain(_ operation: OperationID) {
    keptSteps.insert(operation)
    passOver(operation)
  }

  private mutating func passOver(_ operation: OperationID) {
    idle.insert(operation)
    // For other steps it is no change if a service does not run.
    guard plan.graph.takesSlot(operation) else { return }
    settled[operation] = earlier.passedOver[recordedName(of: operation)]
  }

  /// A step is skipped because of an edge, which is seen, or by its condition, which is assumed to have the same result
  /// as long as it is the same and what it looks at is.
  private func isSkippedAgain(
    _ operation: OperationID, _ step: PlannedStep, _ before: EarlierStep, _ written: Int
  ) -> Bool {
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

  /// Whether hooks of a used pipeline run again in the group, and nothing else.
  func runsHooksAgain(_ group: OperationID) -> Bool { rehooked.contains(group) }

  /// Whether the instances of a step use the name of the run.
  private func usesRunName(_ operation: OperationID) -> Bool {
    guard let parts = plan.steps[operation.index].late?.parts else { return false }
    return (parts.expansion?.parts ?? parts).usesRunName
  }

  /// Does the same for the instances of a step of which a matrix is known only while running: each waits for those of
  /// its own instance of the group.
  private mutating func foresee(_ operation: OperationID, _ late: [String], _ written: Int) {
    let done = late.compactMap { earlier.steps[$0] }.filter { isKeepable($0, operation) }
    var found = ForeseenInstances(kept: 0, others: late.count)
    if skipped.contains(operation) {
      // The steps that depend on it had its success.
    } else if done.contains(where: { $0.written != written }) {
      edited.append(operation)
    } else if done.contains(where: \.outcome.isLeftOut) {
      if !forced.contains(operation) { omitted.append(operation) }
    } else if done.contains(where: \.hasSecretOutput) {
      secretGivers.append(operation)
    } else if !done.isEmpty, usesRunName(operation) {
      runNamers.append(operation)
    } else if !forced.contains(operation) {
      let kept = late.filter { isKept($0, operation) }
      keptInstances.formUnion(kept)
      found = ForeseenInstances(kept: kept.count, others: late.count - kept.count)
      if kept.count < done.count {
        if record(of: operation)?.isLeftOut == true {
          omitted.append(operation)
        } else {
          downstream.append(operation)
        }
      }
      // A step that had not ended may have had instances that had not begun.
      let hasEnded = record(of: operation) != nil
      isUncertain = isUncertain || !hasEnded
      if found.others == 0, hasEnded {
        keptSteps.insert(operation)
        settled[operation] = kept.map { settled(ofRecorded: $0) }.max()
        if done.isEmpty { idle.insert(operation) }
      }
    }
    instances[operation] = found
  }

  private func isKept(_ instance: String, _ operation: OperationID) -> Bool {
    guard let before = earlier.steps[instance],
      isKeepable(before, operation)
        || before.outcome.ending.outcome.isOfNothing && !before.outcome.isLeftOut
    else { return false }
    return plan.graph.dependencies(of: operation).allSatisfy { edge in
      if isUnchanged(edge, since: before.start) { return true }
      guard let other = lateInstances.name(of: edge.from, in: instance, operation, plan) else {
        return false
      }
      return keptInstances.contains(other) && settled(ofRecorded: other) <= before.start
    }
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
      if let instances = instances[operation] { keptCount += instances.kept }
      if leftOut[operation] != nil || isSkippedByPlan(operation, groups) { continue }
      if let instances = instances[operation] {
        runCount += instances.others
      } else if replaced.contains(operation) {
        keptCount += 1
      } else if keptSteps.contains(operation), !neededServices.contains(operation) {
        // A step that was skipped, and will be again, counts as neither.
        if outcome(operation) != .skipped { keptCount += 1 }
      } else if !blockedSteps.contains(operation), !skippedAnew.contains(operation),
        !unneededServices.contains(operation)
      {
        runCount += 1
      }
    }
  }
}
