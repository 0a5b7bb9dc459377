// A group of steps whose matrix becomes known only during the run. The plan contains its steps
// once, as a pattern: each instance of the group gets copies of them. docs/design-planning.md,
// “Patterns”.

import Diagnostics
import Expressions
package import Scheduling

/// The operations from which each instance of a group is made. They are those of the plan, or, for
/// a group inside such a group, copies of them.
package final class GroupPattern: Sendable {
  /// All operations that are copied, in file order: steps, and groups after their members.
  package let operations: [OperationID]
  /// The pools of which each instance has its own.
  package let pools: [PoolID]
  /// The numbers of the pipeline uses that are copied; each copy has its own `vars`.
  package let pipelines: Range<Int>
  /// The group that each instance becomes; its members are among the operations.
  package let group: GroupPlan

  package init(
    operations: [OperationID], pools: [PoolID], pipelines: Range<Int> = 0..<0, group: GroupPlan
  ) {
    self.pipelines = pipelines
    self.operations = operations
    self.pools = pools
    self.group = group
  }
}

extension Plan {
  /// The operations of all patterns, which only stand for their copies.
  package var copiedOperations: Set<OperationID> {
    groups.values.reduce(into: []) { $0.formUnion($1.pattern?.operations ?? []) }
  }

  /// True if the operation belongs to a pattern, and so only stands for its copies, which are made
  /// during the run.
  package func isCopied(_ operation: OperationID) -> Bool {
    groups.values.contains { $0.pattern?.operations.contains(operation) == true }
  }
}

/// Makes the copies for one instance: references to operations of the pattern become references to
/// their copies, and references to the matrix of the group get its values.
package struct PatternCopier {
  private let group: OperationID
  private let operations: [OperationID: OperationID]
  private let pools: [PoolID: PoolID]
  private let pipelines: Range<Int>
  private let matrix: ValueMap?
  private let writtenNames: Set<ExactText>
  private let name: (old: String, new: String)
  /// The copied scopes with their originals, which are kept so that no other object gets their identity.
  private var scopes: [ObjectIdentifier: (original: LateScope, copy: LateScope)] = [:]
  private var inputs: [ObjectIdentifier: (original: LateInputs, copy: LateInputs)] = [:]
  private var vars: [ObjectIdentifier: (original: LateVars, copy: LateVars)] = [:]

  /// Prepares the copies. `old` is the group, `new` the instance of it; `operations` also contains the latter.
  package init(
    from old: (operation: OperationID, step: PlannedStep), to new: PlannedStep,
    operations: [OperationID: OperationID], pools: [PoolID: PoolID], pipelines: Range<Int>
  ) {
    self.pipelines = pipelines
    group = old.operation
    self.operations = operations
    self.pools = pools
    name = (old.step.id, new.id)
    matrix = new.late?.scope.matrix
    writtenNames = new.late?.scope.writtenNames ?? []
    if let oldScope = old.step.late?.scope, let newScope = new.late?.scope {
      scopes[ObjectIdentifier(oldScope)] = (oldScope, newScope)
    }
  }

  package func copy(_ operation: OperationID) -> OperationID {
    operations[operation] ?? operation
  }

  package mutating func copy(_ step: PlannedStep) -> PlannedStep {
    PlannedStep(
      id: name.new + step.id.dropFirst(name.old), span: step.span, work: step.work,
      settings: step.settings, late: step.late.map { copy($0) })
  }

  package func copy(_ spec: OperationSpec) -> OperationSpec {
    if pools.isEmpty || spec.claims.isEmpty { return spec }
    var copy = spec
    copy.claims = spec.claims.map { Claim(pools[$0.pool] ?? $0.pool, amount: $0.amount) }
    return copy
  }

  package func copy(_ plan: GroupPlan) -> GroupPlan {
    GroupPlan(
      kind: plan.kind, members: plan.members.map(copy), isFailFast: plan.isFailFast,
      combinations: plan.combinations, timeout: plan.timeout, allowsFailure: plan.allowsFailure,
      failurePolicy: plan.failurePolicy, width: plan.width,
      pattern: plan.pattern.map { pattern in
        GroupPattern(
          operations: pattern.operations.map(copy), pools: pattern.pools.map { pools[$0] ?? $0 },
          pipelines: pattern.pipelines,
          group: copy(pattern.group))
      })
  }

  /// Makes the late parts of the instance itself, which are in its own scope.
  package mutating func copy(_ late: LateStep) -> LateStep {
    let scope = copy(late.scope)
    return LateStep(copy(late.parts), in: scope)
  }
}

extension PatternCopier {
  private mutating func copy(_ parts: LateParts) -> LateParts {
    var copy = parts
    copy.conditions = []
    for condition in parts.conditions {
      copy.conditions.append(
        LateCondition(
          expression: condition.expression, written: condition.written,
          scope: self.copy(condition.scope), group: condition.group.map { self.copy($0) }))
    }
    var rare = parts.rare
    for (giver, scope) in parts.givers { rare.givers[giver] = self.copy(scope) }
    rare.hooks = parts.hooks.map { self.copy($0) }
    rare.outputScope = parts.outputScope.map { self.copy($0) }
    if let expansion = parts.expansion {
      rare.expansion = LateExpansion(
        axes: expansion.axes, included: expansion.included, excluded: expansion.excluded,
        writtenNames: expansion.writtenNames, spec: self.copy(expansion.spec),
        work: expansion.work, parts: self.copy(expansion.parts), allowance: expansion.allowance)
    }
    copy.rare = rare
    return copy
  }

  private mutating func copy(_ scope: LateScope) -> LateScope {
    if let known = scopes[ObjectIdentifier(scope)] { return known.copy }
    let around = scope.around.map { copy($0) }
    let inputs = scope.inputs.map { copy($0) }
    let vars = scope.vars.map { $0.copied(by: &self) }
    let isSame =
      around === scope.around && inputs === scope.inputs && !names(scope)
      && vars?.isSame(as: scope.vars) != false
      && scope.matrixGroup.map { $0 != group && operations[$0] == nil } ?? true
    let result = isSame ? scope : changed(scope, around, inputs, vars)
    scopes[ObjectIdentifier(scope)] = (scope, result)
    return result
  }

  private func names(_ scope: LateScope) -> Bool {
    scope.dependencies.contains { operations[$0] != nil }
      || scope.steps.operations.contains { operations[$0] != nil }
      || scope.matches.values.contains { $0.contains { operations[$0.operation] != nil } }
  }

  private func changed(
    _ scope: LateScope, _ around: LateScope?, _ inputs: LateInputs?, _ vars: NeededVars?
  ) -> LateScope {
    var dependencies = LateDependencies(count: scope.dependencies.count)
    dependencies.all = scope.dependencies.map(copy)
    for (name, operation) in zip(scope.steps.names, scope.steps.operations) {
      dependencies.steps[name] = copy(operation)
    }
    dependencies.matches = scope.matches.mapValues { instances in
      instances.map { MatchedInstance(operation: copy($0.operation), values: $0.values) }
    }
    let isInside = scope.matrixGroup == group
    let matrix = isInside ? self.matrix.map { $0.merging(scope.matrix) } : scope.matrix
    let names =
      isInside
      ? (scope.matrix ?? ValueMap()).writtenNames(own: scope.writtenNames, outer: writtenNames)
      : scope.writtenNames
    return LateScope(
      dependencies, matrix: matrix, writtenNames: names, inputs: inputs, around: around,
      matrixGroup: isInside ? nil : scope.matrixGroup.map(copy), vars: vars)
  }

  mutating func copy(_ vars: LateVars) -> LateVars {
    if let known = self.vars[ObjectIdentifier(vars)] { return known.copy }
    let result = vars.copied(by: &self)
    self.vars[ObjectIdentifier(vars)] = (vars, result)
    return result
  }

  /// The number of the copy of a pipeline use in this instance: the numbers of different instances differ.
  func copy(pipeline number: Int) -> Int {
    guard isInside(number), let own = operations[group] else { return number }
    return number & 0xFFFF_FFFF | (own.index + 1) << 32
  }

  /// True if the pipeline use, or its original, is in the pattern.
  func isInside(_ pipeline: Int) -> Bool { pipelines.contains(pipeline & 0xFFFF_FFFF) }

  mutating func copy(_ inputs: LateInputs) -> LateInputs {
    if let known = self.inputs[ObjectIdentifier(inputs)] { return known.copy }
    let outer = copy(inputs.outer)
    let enclosing = inputs.enclosing.map { copy($0) }
    let isSame = outer === inputs.outer && enclosing === inputs.enclosing
    let result =
      isSame
      ? inputs
      : LateInputs(
        inputs.params, from: outer, in: enclosing, beside: (inputs.names, inputs.known))
    self.inputs[ObjectIdentifier(inputs)] = (inputs, result)
    return result
  }
}

extension ValueMap {
  fileprivate func merging(_ inner: ValueMap?) -> ValueMap { inner.map { merging($0) } ?? self }
}
