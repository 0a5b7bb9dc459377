// What resuming a run will come to, as far as the plan and the record say: what people are told
// first, and what a selection leaves out. A step with values that are known only while running may
// still turn out otherwise.

import Masking
import Plans
package import Scheduling

/// What the cache says of the cached steps of a run that is resumed: it decides about them.
package struct CachedSteps {
  /// They run, because the cache has no result of what they are now.
  package var stale: Set<OperationID> = []
  /// They do not run, whatever the record says.
  package var fresh: Set<OperationID> = []
  /// The others: what they are is known only while running.
  package var undecided: Set<OperationID> = []

  package init() {}
}

package struct Foresight {
  /// Steps that run again although nothing has changed.
  package private(set) var forced: Set<OperationID> = []
  /// Steps that do not run although they would, and why.
  private(set) var leftOut: [OperationID: String] = [:]
  /// Those that the selection leaves out by name.
  private var skipped: Set<OperationID> = []
  /// Services that are needed again.
  private(set) var neededServices: Set<OperationID> = []
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
  /// The instances of steps whose matrix is known only while running.
  private(set) var instances: [OperationID: ForeseenInstances] = [:]
  /// The names of those that are kept.
  private(set) var keptInstances: Set<String> = []
  /// More may run than is known.
  package private(set) var isUncertain = false

  let plan: Plan
  let earlier: EarlierRun
  let selection: ResumeSelection
  private let masker: Masker?
  let lateInstances: LateInstances
  package let cached: CachedSteps

  init(
    _ earlier: EarlierRun, _ plan: Plan, _ selection: ResumeSelection, _ masker: Masker?,
    cached: CachedSteps
  ) {
    self.masker = masker
    self.cached = cached
    self.selection = selection
    self.plan = plan
    self.earlier = earlier
    lateInstances = LateInstances(plan, earlier)
    let core = core(of: selection)
    if !selection.from.isEmpty || !selection.only.isEmpty { forced = core }
    skipped = operations(of: selection.skipped)
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

  private func operations(of ids: [String]) -> Set<OperationID> {
    Set(ids.lazy.flatMap(operations))
  }

  /// The operations of a step: its own, and everything inside it.
  func operations(of id: String) -> Set<OperationID> {
    let name = StepName(id)
    return Set(
      plan.steps.indices.lazy.filter { name.covers(plan.steps[$0].id) }.map { OperationID($0) })
  }

  /// What a selection is about; empty if there is none.
  private func core(of selection: ResumeSelection) -> Set<OperationID> {
    if !selection.from.isEmpty { return withDependents(operations(of: selection.from)) }
    if !selection.only.isEmpty { return operations(of: selection.only) }
    // What a group came to because of a member, the member stands for.
    return selection.isOfFailed ? failed.filter { !hasOutcomeOfMember($0) } : []
  }

  private var failed: Set<OperationID> {
    Set(plan.steps.indices.lazy.map { OperationID($0) }.filter { outcome($0)?.isFailure == true })
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

  private func hasOutcomeOfMember(_ group: OperationID) -> Bool {
    plan.groups[group]?.members.contains { outcome($0) == outcome(group) } ?? false
  }

  private func withDependents(_ operations: Set<OperationID>) -> Set<OperationID> {
    var found = operations
    var open = Array(operations)
    while let operation = open.popLast() {
      plan.graph.forEachDependent(of: operation) { edge in
        if found.insert(edge.to).inserted { open.append(edge.to) }
      }
    }
    return found
  }

  /// Goes through the steps, dependencies first.
  private mutating func foresee() {
    var fingerprints = Fingerprints(masker)
    for number in plan.graph.dependenciesFirst() {
      let operation = OperationID(Int(number))
      if let group = plan.groups[operation], !group.members.isEmpty {
        if group.members.allSatisfy(staysAsItWas),
          !owesHooks(operation, named: plan.steps[operation.index].id)
        {
          keptSteps.insert(operation)
        }
        continue
      }
      let step = plan.steps[operation.index]
      let late = lateInstances.names(of: operation)
      if !late.isEmpty {
        foresee(operation, late, fingerprints.written(step))
        continue
      }
      foresee(operation, step, record(of: operation), fingerprints.written(step))
    }
  }

  private mutating func foresee(
    _ operation: OperationID, _ step: PlannedStep, _ before: EarlierStep?, _ written: Int
  ) {
    let isFresh = cached.fresh.contains(operation) && !forced.contains(operation)
    guard let before else {
      if isFresh { replaced.insert(operation) }
      return
    }
    let isUpstreamUnchanged = plan.graph.dependencies(of: operation).allSatisfy {
      isUnchanged($0.from)
    }
    if before.outcome.ending.outcome == .blocked,
      plan.graph.dependencies(of: operation).allSatisfy({ staysAsItWas($0.from) })
    {
      blockedSteps.insert(operation)
    }
    if skipped.contains(operation) {
      // What depends on it had its success, or had none.
      if before.wasSkipped { keptSteps.insert(operation) }
    } else if before.isKeepable {
      let isSame = before.written == written && isUpstreamUnchanged
      if isFresh {
        if isSame { keptSteps.insert(operation) } else { replaced.insert(operation) }
      } else if before.written != written {
        edited.append(operation)
      } else if cached.stale.contains(operation) {
        if !forced.contains(operation) { outdated.append(operation) }
      } else if !isUpstreamUnchanged {
        if !forced.contains(operation) { downstream.append(operation) }
      } else if before.hasSecretOutput {
        secretGivers.append(operation)
      } else if step.late?.parts.usesRunName == true {
        if !forced.contains(operation) { runNamers.append(operation) }
      } else if !forced.contains(operation) {
        keptSteps.insert(operation)
        isUncertain = isUncertain || cached.undecided.contains(operation)
      }
    } else if isFresh {
      replaced.insert(operation)
    } else if before.wasSkipped {
      if before.outcome.isLeftOut, step.late?.skipReason == nil {
        if !forced.contains(operation) { omitted.append(operation) }
      } else if isUpstreamUnchanged, !cached.stale.contains(operation), !forced.contains(operation)
      {
        keptSteps.insert(operation)
      }
    }
  }

  /// Whether the instances of a step use the name of the run.
  private func usesRunName(_ operation: OperationID) -> Bool {
    guard let parts = plan.steps[operation.index].late?.parts else { return false }
    return (parts.expansion?.parts ?? parts).usesRunName
  }

  private func staysAsItWas(_ operation: OperationID) -> Bool {
    keptSteps.contains(operation) || blockedSteps.contains(operation)
  }

  /// Whether the hooks of a group, which is a used pipeline, did not come to their end, or failed.
  func owesHooks(_ group: OperationID, named name: String) -> Bool {
    guard !plan.steps[group.index].settings.hooks.isEmpty,
      case .nested? = plan.groups[group]?.kind
    else { return false }
    guard let before = earlier.steps[name] else { return true }
    return before.isFailedHook || before.outcome.ending.outcome == .cancelled
  }

  /// Does the same for the instances of a step of which a matrix is known only while running: each waits for those of
  /// its own instance of the group.
  private mutating func foresee(_ operation: OperationID, _ late: [String], _ written: Int) {
    let done = late.compactMap { earlier.steps[$0] }.filter(\.isKeepable)
    var found = ForeseenInstances(kept: 0, others: late.count)
    if skipped.contains(operation) {
      // What depends on it had its success.
    } else if done.contains(where: { $0.written != written }) {
      edited.append(operation)
    } else if done.contains(where: \.hasSecretOutput) {
      secretGivers.append(operation)
    } else if !done.isEmpty, usesRunName(operation) {
      runNamers.append(operation)
    } else if !forced.contains(operation) {
      let kept = late.filter { isKept($0, operation) }
      keptInstances.formUnion(kept)
      found = ForeseenInstances(kept: kept.count, others: late.count - kept.count)
      if kept.count < done.count { downstream.append(operation) }
      // One that had not ended may have had instances that had not begun.
      let hasEnded = record(of: operation) != nil
      isUncertain = isUncertain || !hasEnded
      if found.others == 0, hasEnded { keptSteps.insert(operation) }
    }
    instances[operation] = found
  }

  private func isKept(_ instance: String, _ operation: OperationID) -> Bool {
    guard let before = earlier.steps[instance],
      before.isKeepable || before.outcome.ending.outcome.isOfNothing && !before.outcome.isLeftOut
    else { return false }
    return plan.graph.dependencies(of: operation).allSatisfy { edge in
      if isUnchanged(edge.from) { return true }
      let other = lateInstances.name(of: edge.from, in: instance, operation, plan)
      return other.map(keptInstances.contains) ?? false
    }
  }

  /// Whether what depends on it need not run again because of it. Services are only company, and of a
  /// group in the background the other steps count.
  func isUnchanged(_ operation: OperationID) -> Bool {
    if keptSteps.contains(operation) { return true }
    if plan.graph.takesSlot(operation) { return false }
    return plan.groups[operation]?.members.allSatisfy(isUnchanged) ?? true
  }

  private mutating func apply(_ selection: ResumeSelection, _ core: Set<OperationID>) {
    for id in selection.skipped {
      for operation in operations(of: id) { leftOut[operation] = "--skip \(id)" }
    }
    guard let words = selection.words else { return }
    var needed = selection.only.isEmpty ? withDependencies(core) : core
    if selection.isOfFailed { needed.formUnion(failed) }
    for index in plan.steps.indices {
      let operation = OperationID(index)
      let wasSkipped = record(of: OperationID(index))?.wasSkipped == true
      if !needed.contains(operation), !keptSteps.contains(operation) || wasSkipped {
        leftOut[operation] = words
      }
    }
    // Without their group there would be no instances to keep or to run.
    for (group, about) in plan.groups where about.isExpanding {
      let members = about.pattern?.operations ?? []
      if !members.allSatisfy({ leftOut[$0] != nil && instances[$0]?.kept ?? 0 == 0 }) {
        leftOut[group] = nil
      }
    }
  }

  /// What is needed, as far as it is not kept.
  private func withDependencies(_ operations: Set<OperationID>) -> Set<OperationID> {
    var found = operations
    var open = Array(operations)
    while let operation = open.popLast() {
      for edge in plan.graph.dependencies(of: operation) where !keptSteps.contains(edge.from) {
        if found.insert(edge.from).inserted { open.append(edge.from) }
      }
    }
    return found
  }

  /// A service starts again if anything that depends on it may run.
  private mutating func findServices() {
    guard plan.graph.hasServices else { return }
    // What needs a service comes after it, and a group after its members.
    for number in plan.graph.dependenciesFirst().reversed() {
      let service = OperationID(Int(number))
      if plan.graph.takesSlot(service) { continue }
      var isNeeded = neededServices.contains(service)
      plan.graph.forEachDependent(of: service) { edge in
        if plan.groups[edge.to]?.members.contains(service) == true { return }
        let mayRun = !isCertain(edge.to) && leftOut[edge.to] == nil
        if mayRun || neededServices.contains(edge.to) { isNeeded = true }
      }
      guard isNeeded, !skipped.contains(service) else { continue }
      neededServices.insert(service)
      leftOut[service] = nil
      let members = plan.groups[service]?.members ?? []
      neededServices.formUnion(members.filter { !plan.graph.takesSlot($0) })
    }
  }

  /// Whether the step will be kept, whatever conditions and late values turn out to be.
  private func isCertain(_ operation: OperationID) -> Bool {
    guard keptSteps.contains(operation) else { return false }
    let members = plan.groups[operation]?.members ?? []
    if !members.isEmpty { return members.allSatisfy(isCertain) }
    return plan.steps[operation.index].late == nil
      && record(of: operation)?.isKeepable == true
  }

  /// What a selection of single steps needs, and is not kept; nil if nothing is missing.
  package var missingUpstream: (needed: OperationID, by: OperationID)? {
    for operation in forced.sorted() {
      for edge in plan.graph.dependencies(of: operation)
      where !forced.contains(edge.from) && !isUnchanged(edge.from) {
        return (edge.from, operation)
      }
    }
    return nil
  }

  private mutating func count() {
    for index in plan.steps.indices where !plan.standsForOthers(OperationID(index)) {
      let operation = OperationID(index)
      if let instances = instances[operation] { keptCount += instances.kept }
      if leftOut[operation] != nil { continue }
      if let instances = instances[operation] {
        runCount += instances.others
      } else if replaced.contains(operation) {
        keptCount += 1
      } else if keptSteps.contains(operation), !neededServices.contains(operation) {
        // What was skipped, and will be again, is neither.
        if outcome(operation) != .skipped { keptCount += 1 }
      } else if !blockedSteps.contains(operation) {
        runCount += 1
      }
    }
  }
}

extension ResumeSelection {
  /// Why a step is left out; nil if the selection is all of it.
  var words: String? {
    if !from.isEmpty { return "not needed for \(Self.shown("--from", from))" }
    if !only.isEmpty { return "not in \(Self.shown("--only", only))" }
    return isOfFailed ? "did not fail (--failed)" : nil
  }

  /// The option as it was given, with the first few of its steps: the words are kept for each step.
  private static func shown(_ flag: String, _ steps: [String]) -> String {
    let most = 3
    let words = steps.prefix(most).map { "\(flag) \($0)" }.joined(separator: " ")
    return steps.count > most ? "\(words) and \(steps.count - most) more" : words
  }
}
