// What will happen to each step of a resumed run, and why, for people who look before they resume.

package import Plans
package import Scheduling

/// What will happen to a step of a resumed run.
package enum ForeseenStep: Hashable {
  /// The step is kept; that is not certain if the cache will decide about it.
  case kept(isCertain: Bool)
  /// It was skipped, and will be again unless its condition has changed; or it was blocked by what is kept, or given up
  /// because of it.
  case didNotRun(String)
  case leftOut(String)
  /// An option names it.
  case selected(String)
  case runs(String)
}

/// How many instances are kept, and how many run again.
struct ForeseenInstances {
  let kept: Int
  let others: Int
}

extension Foresight {
  /// Why a service does not run.
  static let unneeded = "no step needs it"

  /// Foresees what will happen to the step, with a reason in a few words.
  package func step(_ operation: OperationID) -> ForeseenStep {
    if let words = leftOut[operation] { return .leftOut(words) }
    let reason: ReasonToRun
    switch fate(of: operation) {
    case .kept, .idle: return stepThatIsKept(operation)
    case .blockedAgain: return .didNotRun("was blocked")
    case .unneeded: return .didNotRun(Self.unneeded)
    // Its dependencies and the cache are asked first, so this is seen only if they say otherwise.
    case .skippedAnew, .replaced: reason = .itself
    case .runs(let known): reason = known
    }
    if let option = selection.option(naming: plan.steps[operation.index].id) {
      return .selected(option)
    }
    return .runs(words(for: reason, operation))
  }

  private func stepThatIsKept(_ operation: OperationID) -> ForeseenStep {
    switch outcome(operation) {
    case .skipped: return .didNotRun("was skipped")
    case .cancelled:
      let hasBegun = record(of: operation)?.didNotRun == false
      return .didNotRun(hasBegun ? "was cancelled" : "did not start")
    case .succeeded, .cached, .failed, .timedOut, .blocked, nil:
      return .kept(isCertain: !unsure.contains(operation) || isOutside(operation))
    }
  }

  private func words(for reason: ReasonToRun, _ operation: OperationID) -> String {
    switch reason {
    case .edited: "changed"
    case .givesSecret: "gave a secret"
    case .usesRunName: "uses the name of the run"
    case .needed: "needed again"
    case .downstream, .selected:
      changedDependency(of: operation).map {
        "\(plan.steps[$0.index].id) \(change(of: $0, before: operation).rawValue)"
      } ?? "runs again"
    case .outdated, .omitted, .hooks, .innerHooks, .itself: recordInWords(operation)
    }
  }

  private func recordInWords(_ operation: OperationID) -> String {
    if let instances = instances[operation], instances.kept > 0 {
      // How many there are is not known if the step had not ended.
      if outcome(operation) == nil {
        return instances.kept == 1
          ? "1 instance is up to date" : "\(instances.kept) instances are up to date"
      }
      return "\(instances.others) of \(instances.kept + instances.others) instances"
    }
    if record(of: operation)?.outcome.isLeftOut == true {
      return "was left out"
    }
    return outcome(operation)?.reasonToRun ?? "did not run"
  }

  /// The steps that succeeded and run again because of others, by what has become of these.
  package var downstreamByChange: [(change: UpstreamChange, operations: [OperationID])] {
    let downstream = operations(toRun: .downstream)
    let changes = downstream.map { operation in
      changedDependency(of: operation).map { change(of: $0, before: operation) } ?? .runsAgain
    }
    return UpstreamChange.allCases.map { change in
      (change, zip(downstream, changes).filter { $0.1 == change }.map(\.0))
    }
  }

  private func changedDependency(of operation: OperationID) -> OperationID? {
    let start = record(of: operation)?.start ?? .last
    return plan.graph.dependencies(of: operation).first { !isUnchanged($0, since: start) }?.from
  }

  /// How an operation has changed since one that waits for it began. The change of a group is that of its first changed
  /// member.
  private func change(of operation: OperationID, before other: OperationID) -> UpstreamChange {
    let start = record(of: other)?.start ?? .last
    if let member = plan.groups[operation]?.members.first(where: {
      !isUnchanged($0, since: start)
    }) {
      return change(of: member, before: other)
    }
    if leftOut[operation] != nil { return .isLeftOut }
    switch fate(of: operation) {
    case .idle, .blockedAgain, .unneeded, .skippedAnew: return .isSkipped
    case .replaced: return .hasChanged
    case .kept:
      let isOfSameRun = settled[operation]?.run == record(of: other)?.origin
      return isOfSameRun ? .hadNotEnded : .ranSince
    case .runs: return hasRun(operation) ? .runsAgain : .runs
    }
  }

  private func hasRun(_ operation: OperationID) -> Bool {
    if !lateInstances.names(of: operation).isEmpty { return true }
    if earlier.cutOff.contains(recordedName(of: operation)) { return true }
    guard let before = record(of: operation) else { return false }
    return !before.didNotRun
  }
}

extension Foresight {
  /// The edited steps that are what they were according to another plan of the same file: only what differs between the
  /// two has changed them.
  package func edited(onlySince former: Plan) -> Set<OperationID> {
    let steps = Dictionary(former.steps.map { ($0.id, $0) }) { first, _ in first }
    return Set(
      operations(toRun: .edited).filter { operation in
        guard let step = steps[plan.steps[operation.index].id] else { return false }
        let names = [recordedName(of: operation)] + lateInstances.names(of: operation)
        return !names.contains { earlier.isEdited($0, step, masker) }
      })
  }

  /// The edited steps by the number of the run in which they ran, the last one of a step with instances, in the order of
  /// these runs.
  package var editedByRun: [(run: Int, operations: [OperationID])] {
    let edited = operations(toRun: .edited)
    let runs = edited.map { operation in
      recordedNames(of: operation).compactMap { earlier.steps[$0]?.origin }.max() ?? 0
    }
    return Set(runs).sorted().map { run in (run, zip(edited, runs).filter { $0.1 == run }.map(\.0))
    }
  }

  /// The steps that have changed or are new; of a group that was edited only its members, if these have changed.
  package var differing: [OperationID] {
    let all = plan.steps.indices.lazy.map { OperationID($0) }
    let found = Set(all.filter(isDifferent))
    return found.sorted().filter { operation in
      found.isDisjoint(with: plan.groups[operation]?.members ?? [])
    }
  }

  /// Whether a group has changed.
  package func isEdited(_ group: OperationID) -> Bool {
    earlier.isEdited(recordedName(of: group), plan.steps[group.index], masker)
  }

  private func isDifferent(_ operation: OperationID) -> Bool {
    let names = [recordedName(of: operation)] + lateInstances.names(of: operation)
    let step = plan.steps[operation.index]
    if names.contains(where: { earlier.isEdited($0, step, masker) }) { return true }
    return !names.contains { earlier.steps[$0] != nil || InstanceName.isMasked($0) }
      && !plan.isCopied(operation) && !plan.standsForOthers(operation)
  }
}

/// How a step has changed in a resumed run, as the steps that depend on it see it.
package enum UpstreamChange: String, CaseIterable {
  case runsAgain = "runs again"
  /// It did so in a later run, in which the turn of what depends on it did not come.
  case ranSince = "ran again since"
  /// It ran in the same run, beside what depends on it only now.
  case hadNotEnded = "had not ended before"
  /// It did not run in the earlier run.
  case runs
  case isLeftOut = "is left out"
  /// It ran in the earlier run, and does not now.
  case isSkipped = "is skipped"
  /// It is up to date, but not as it was.
  case hasChanged = "has changed"
}

extension ResumeSelection {
  /// The option that names the step, or what it is part of; nil if none does.
  fileprivate func option(naming id: String) -> String? {
    for (flag, names) in [("--from", from), ("--only", only)] {
      if let name = names.first(where: { StepName($0).covers(id) }) { return "\(flag) \(name)" }
    }
    return nil
  }
}

extension Outcome {
  fileprivate var reasonToRun: String {
    switch self {
    case .succeeded, .cached: "runs again"
    case .failed, .timedOut, .cancelled, .skipped, .blocked: pastTense
    }
  }
}

/// The recorded instances of steps whose matrix is known only while running.
struct LateInstances {
  private var names: [OperationID: [String]] = [:]
  /// The outermost group that is expanded, of each of its steps and of itself.
  private let groups: [OperationID: OperationID]
  /// The innermost group that is expanded around each of its steps, and around such a group in another one.
  private let around: [OperationID: OperationID]

  /// Takes time for each such step and each recorded step in the same group.
  init(_ plan: Plan, _ earlier: EarlierRun) {
    groups = Self.groups(plan)
    around = Self.groupsAround(plan)
    if groups.isEmpty { return }
    let ended = earlier.steps.filter { !$0.value.outcome.isOfGroup }.keys
    let recorded = (Array(ended) + earlier.unfinished).sorted()
    let inner = Self.innerGroups(plan)
    for (operation, group) in groups
    where !plan.standsForOthers(operation) {
      let id = plan.steps[group.index].id
      let name = StepName(plan.steps[operation.index].id)
      let found = recorded.names(beginningWith: id + "[").filter(name.covers)
      let present = found.filter { earlier.steps[$0]?.wasPresent != false }
      let isKnown = inner[operation] == group && Self.isKnown(earlier.steps[id], present)
      names[operation] = isKnown ? present : found
    }
  }

  /// Whether the instances of a group became known in that run, so that what only runs before had are no instances any
  /// more. `present` are those of a step that it had.
  private static func isKnown(_ group: EarlierStep?, _ present: [String]) -> Bool {
    guard let group, group.hadTurn else { return false }
    if group.failedToExpand { return true }
    return group.wasSkipped ? !group.outcome.isLeftOut : !present.isEmpty
  }

  /// Knows no names of recorded instances.
  init(_ plan: Plan) {
    groups = Self.groups(plan)
    around = Self.groupsAround(plan)
  }

  private static func groups(_ plan: Plan) -> [OperationID: OperationID] {
    // Groups come after their members, so the outermost is the last to say.
    groups(plan) { $0 < $1 }
  }

  /// The innermost group that is expanded, of each of its steps and of itself.
  private static func innerGroups(_ plan: Plan) -> [OperationID: OperationID] {
    groups(plan) { $0 > $1 }
  }

  private static func groups(
    _ plan: Plan, by isBefore: (OperationID, OperationID) -> Bool
  ) -> [OperationID: OperationID] {
    var groups: [OperationID: OperationID] = [:]
    for (group, about) in plan.groups.sorted(by: { isBefore($0.key, $1.key) })
    where about.isExpanding {
      for operation in [group] + (about.pattern?.operations ?? []) { groups[operation] = group }
    }
    return groups
  }

  private static func groupsAround(_ plan: Plan) -> [OperationID: OperationID] {
    var around: [OperationID: OperationID] = [:]
    for (group, about) in plan.groups.sorted(by: { $0.key > $1.key }) where about.isExpanding {
      for operation in about.pattern?.operations ?? [] { around[operation] = group }
    }
    return around
  }

  /// Whether it is made anew for each instance of a group, or is such a group.
  func hasGroup(_ operation: OperationID) -> Bool { groups[operation] != nil }

  /// Whether two operations are made anew together, for each instance of a group.
  func areTogether(_ first: OperationID, _ second: OperationID) -> Bool {
    groups[first].map { $0 == groups[second] } ?? false
  }

  func names(of operation: OperationID) -> [String] { names[operation] ?? [] }

  /// The names of what an instance waits for in particular; nil if that is what its step waits for. `operation` is
  /// that in the plan.
  func dependencies(of instance: String, _ operation: OperationID, _ plan: Plan) -> [String]? {
    guard let group = groups[operation] else { return nil }
    if group == operation {
      let count = plan.steps[group.index].id.utf8.count
      return plan.groups[group]?.pattern?.operations.map {
        instance + String(decoding: plan.steps[$0.index].id.utf8.dropFirst(count), as: UTF8.self)
      }
    }
    var isInside = false
    let names = plan.graph.dependencies(of: operation).map { edge in
      let name = name(of: edge.from, in: instance, operation, plan)
      isInside = isInside || name != nil
      return name ?? plan.steps[edge.from.index].id
    }
    return isInside ? names : nil
  }

  /// The name that another step has in the instance of a group in which `operation`, or an instance of it, has this name;
  /// nil if it is not in such a group.
  func name(
    of other: OperationID, in instance: String, _ operation: OperationID, _ plan: Plan
  ) -> String? {
    var (name, place) = (instance, operation)
    while let group = around[place] {
      let count = plan.steps[group.index].id.utf8.count
      let own = Array(plan.steps[place.index].id.utf8.dropFirst(count))
      if plan.groups[place]?.isExpanding == true, !name.utf8.suffix(own.count).elementsEqual(own) {
        name = InstanceName.group(of: name)
      }
      guard name.utf8.count > own.count, name.utf8.suffix(own.count).elementsEqual(own) else {
        return nil
      }
      name = String(decoding: name.utf8.dropLast(own.count), as: UTF8.self)
      if isInside(other, group) {
        return name
          + String(decoding: plan.steps[other.index].id.utf8.dropFirst(count), as: UTF8.self)
      }
      place = group
    }
    return nil
  }

  private func isInside(_ operation: OperationID, _ group: OperationID) -> Bool {
    around[operation].map { $0 == group || isInside($0, group) } ?? false
  }
}

extension [String] {
  /// The sorted names that begin with a prefix; they lie together.
  func names(beginningWith prefix: String) -> ArraySlice<String> {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < prefix { low = middle + 1 } else { high = middle }
    }
    return self[low...].prefix { $0.utf8.starts(with: prefix.utf8) }
  }
}
