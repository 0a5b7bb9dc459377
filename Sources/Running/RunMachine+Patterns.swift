// Groups of steps whose matrix becomes known during the run: each instance gets copies of the steps,
// which then stand for their copies. docs/design-planning.md, “Patterns”.

package import Expressions
package import Plans
package import Scheduling

/// The patterns, and the copies that were made of them.
struct Patterns {
  /// Groups that have no instances yet.
  var open: Set<OperationID> = []
  /// The original of each copy.
  var originals: [OperationID: OperationID] = [:]
  /// All operations that are, or will be, copied, with the group that they are in.
  private(set) var groups: [OperationID: OperationID] = [:]
  /// The values of the instances of each group.
  var matrices: [OperationID: [ValueMap]] = [:]
  /// Operations that were cancelled before they had copies; the copies are cancelled, too.
  var cancelled: [OperationID: StopReason] = [:]
  /// The plans of groups that are copies.
  var copiedGroups: [OperationID: GroupPlan] = [:]

  init(_ plan: Plan) {
    // A group comes after those inside it, which are copied with it.
    for (group, plan) in plan.groups.sorted(by: { $0.key < $1.key }) { add(group, plan) }
  }

  mutating func add(_ group: OperationID, _ plan: GroupPlan) {
    guard let pattern = plan.pattern else { return }
    open.insert(group)
    for operation in pattern.operations { groups[operation] = group }
  }
}

// Asked.
extension RunMachine {
  /// The plan of a group, also of one that is a copy; nil for a step.
  package mutating func groupPlan(_ operation: OperationID) -> GroupPlan? {
    plan.groups[operation] ?? copiedGroup(operation)
  }

  private func copiedGroup(_ operation: OperationID) -> GroupPlan? {
    patterns.copiedGroups.isEmpty ? nil : patterns.copiedGroups[operation]
  }

  /// The copies of an operation with the values of their matrices; empty if there are none yet, nil if
  /// it is in no pattern.
  package mutating func copies(of operation: OperationID) -> [(OperationID, ValueMap)]? {
    guard let group = patterns.groups[operation] else { return nil }
    guard let matrices = patterns.matrices[group] else { return [] }
    let copies = groups.members(of: operation)
    guard copies.first.map({ patterns.originals[$0] == operation }) == true else { return [] }
    return zip(copies, matrices).flatMap { copy, matrix in
      self.copies(of: copy) ?? [(copy, matrix)]
    }
  }

  /// True if the group is a pattern without instances so far.
  package mutating func isUnexpanded(_ group: OperationID) -> Bool {
    patterns.open.contains(group)
  }
}

// Told.
extension RunMachine {
  /// The outermost group around the operation that has no instances yet.
  func openPattern(around operation: OperationID) -> OperationID? {
    if patterns.open.isEmpty { return nil }
    var found: OperationID?
    var next = groups.group(of: operation)
    while let group = next {
      if patterns.open.contains(group) { found = group }
      next = groups.group(of: group)
    }
    return found
  }

  /// Called when a step of a pattern could start: now the instances are made.
  mutating func awaitInstances(of group: OperationID, _ operation: OperationID) {
    setGate(of: operation, to: .unexpanded)
    // A stop has ended the group with what waits, and ends what is at its gate next.
    if gates[group] != nil || scheduler.state(of: group).hasEnded { return }
    ask(.entry, about: group)
  }

  /// Skips the members of a group that does not run.
  mutating func skipPattern(_ group: OperationID, _ reason: String) {
    setGate(of: group, to: nil)
    skipMembers(of: group, reason)
  }

  /// Fails a group whose matrix cannot be made.
  mutating func failPattern(_ group: OperationID, _ reason: String, at now: Nanoseconds) {
    let ending = ownFailure(of: group)
    end(
      pattern: group, as: (ending, .condition(reason)),
      steps: (Ending(.blocked), .dependency(group)))
    noteFailure(of: group, ending, at: now)
  }

  /// Ends a group as in an earlier run, in which the consequences took place; nothing in it runs.
  mutating func keepPattern(_ group: OperationID, _ ending: Ending, _ cause: Cause) {
    end(pattern: group, as: (ending, cause), steps: (Ending(.cached), .itself))
    noteFailed(group, ending)
  }

  private mutating func end(
    pattern group: OperationID, as own: (ending: Ending, cause: Cause),
    steps shared: (ending: Ending, cause: Cause)
  ) {
    let steps = groups.unendedSteps(of: group, in: scheduler).reversed()
    setGate(of: group, to: nil)
    scheduler.settle(group, as: own.ending, cause: own.cause)
    let unended = steps.filter { !scheduler.state(of: $0).hasEnded }
    scheduler.settle(unended, as: shared.ending, cause: shared.cause)
    tellSettled()
  }

  mutating func expand(
    _ group: OperationID, _ pattern: GroupPattern, to instances: [NewOperation],
    at now: Nanoseconds
  ) {
    let count = instances.count * (pattern.operations.count + 1)
    guard steps.count + count <= Self.maxOperationCount else {
      let words = "its matrix makes more than 1,000,000 steps, which is the limit"
      return failPattern(group, words, at: now)
    }
    setGate(of: group, to: nil)
    if instances.isEmpty {
      skipMembers(of: group, GroupPlan.emptyMatrix)
      return groups.set([], of: group)
    }
    patterns.open.remove(group)
    patterns.matrices[group] = instances.map { $0.step.late?.scope.matrix ?? ValueMap() }
    var draft = InstanceDraft(first: steps.count)
    for instance in instances { add(instance, of: group, pattern, to: &draft) }
    scheduler.append(draft.additions)
    for (index, step) in draft.steps.enumerated() {
      let operation = OperationID(draft.first + index)
      steps.append(step, as: operation)
      noteIdle(operation)
      let addition = draft.additions[index]
      say(
        .appended(
          operation, id: step.id, group: draft.originals[index],
          after: addition.dependencies.map(\.0), isGroup: copiedGroup(operation) != nil))
    }
    gather(draft, of: group, pattern)
    if !services.isEmpty {
      noteCopies(
        draft.originals.enumerated().map { (OperationID(draft.first + $0.offset), $0.element) })
    }
    for (index, original) in draft.originals.enumerated() {
      guard let reason = patterns.cancelled[original] else { continue }
      cancel(OperationID(draft.first + index), reason, at: now)
    }
  }

  private static let maxOperationCount = 1_000_000

  /// Adds an instance: copies of the steps, then the group of them.
  private mutating func add(
    _ instance: NewOperation, of group: OperationID, _ pattern: GroupPattern,
    to draft: inout InstanceDraft
  ) {
    var operations: [OperationID: OperationID] = [:]
    for (index, operation) in pattern.operations.enumerated() {
      operations[operation] = OperationID(draft.next + index)
    }
    let own = OperationID(draft.next + pattern.operations.count)
    operations[group] = own
    var pools: [PoolID: PoolID] = [:]
    for pool in pattern.pools { pools[pool] = scheduler.addPool(scheduler[pool]) }
    var copier = PatternCopier(
      from: (group, steps[group]), to: instance.step, operations: operations, pools: pools,
      pipelines: pattern.pipelines)
    for operation in pattern.operations {
      if let plan = groupPlan(operation) {
        register(copier.copy(operation), copier.copy(plan), steps[operation])
      }
      let dependencies = scheduler.graph.dependencies(of: operation).map {
        (copier.copy($0.from), $0.condition)
      }
      draft.append(
        copier.copy(steps[operation]), copier.copy(scheduler.graph[operation]), dependencies,
        from: operation)
    }
    let plan = copier.copy(pattern.group).allowing(instance.allowsFailure)
    register(own, plan, instance.step)
    let step = PlannedStep(
      id: instance.step.id, span: instance.step.span, work: .none,
      settings: instance.step.settings, late: instance.step.late.map { copier.copy($0) })
    // Besides its members, the instance waits for commands of `vars` that its outputs name.
    let commands = scheduler.graph.dependencies(of: group).filter {
      $0.condition == .done && !pattern.group.members.contains($0.from)
    }
    let dependencies = plan.members + commands.map { copier.copy($0.from) }
    draft.append(step, instance.spec, dependencies.map { ($0, .done) }, from: group)
  }

  private mutating func register(
    _ group: OperationID, _ plan: GroupPlan, _ step: PlannedStep
  ) {
    groupStates.add(group, plan, step)
    instanceLimits.add(group, plan)
    patterns.copiedGroups[group] = plan
    patterns.add(group, plan)
    groups.set(plan.members, of: group)
    if plan.allowsFailure { groups.forgive(group) }
  }

  /// Makes the originals stand for their copies, and the group for its instances.
  private mutating func gather(
    _ draft: InstanceDraft, of group: OperationID, _ pattern: GroupPattern
  ) {
    var copies: [OperationID: [OperationID]] = [:]
    for (index, original) in draft.originals.enumerated() {
      copies[original, default: []].append(OperationID(draft.first + index))
    }
    groups.set(copies[group] ?? [], of: group)
    hold(group)
    for operation in pattern.operations where !scheduler.state(of: operation).hasEnded {
      groups.set(copies: copies[operation] ?? [], of: operation)
      for copy in copies[operation] ?? [] { patterns.originals[copy] = operation }
      hold(operation)
    }
  }

  private mutating func hold(_ operation: OperationID) {
    if scheduler.state(of: operation) == .waiting { scheduler.detach(operation) }
    setGate(of: operation, to: .gathering(unendedCount: groups.members(of: operation).count))
  }

  /// True if the operation stands for its copies.
  package mutating func standsForCopies(_ operation: OperationID) -> Bool {
    patterns.groups[operation].map { patterns.matrices[$0] != nil } ?? false
  }
}

/// The operations that the instances of a group become.
private struct InstanceDraft {
  /// The number of the first operation.
  let first: Int
  private(set) var steps: [PlannedStep] = []
  private(set) var additions: [Scheduler.Addition] = []
  private(set) var originals: [OperationID] = []

  init(first: Int) { self.first = first }

  var next: Int { first + steps.count }

  mutating func append(
    _ step: PlannedStep, _ spec: OperationSpec, _ dependencies: [(OperationID, EdgeCondition)],
    from original: OperationID
  ) {
    steps.append(step)
    additions.append(Scheduler.Addition(spec, after: dependencies))
    originals.append(original)
  }
}

extension GroupPlan {
  /// The plan with failures allowed or not; nil means as planned.
  fileprivate func allowing(_ allowsFailure: Bool?) -> GroupPlan {
    guard let allowsFailure else { return self }
    return GroupPlan(
      kind: kind, members: members, isFailFast: isFailFast, combinations: combinations,
      timeout: timeout, allowsFailure: allowsFailure, failurePolicy: failurePolicy,
      width: width, pattern: pattern)
  }
}
