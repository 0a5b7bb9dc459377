// What is left for the run of the steps of a plan: conditions, commands, settings, matrices that are not
// known yet, and what their names stand for. docs/design-planning.md, “Late steps”.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension PlanBuilder {
  mutating func lateParts(
    _ operation: Int, at place: Place, _ values: KnownValues, _ settings: PlannedSettings,
    _ command: StepCommand
  ) throws(EvaluationFailure) -> LateParts? {
    let unit = planner.units[place.unit]
    if let group = planner.group(operation) { return try groupParts(group, operation, at: place) }
    let extra = unit.extra(of: place.step)
    if settings.late == nil, extra?.decidesLate != true, unit.parent == nil, case .known = command {
      _ = try lateInput(values, settings, command, [])
      return nil
    }
    var parts = LateParts()
    parts.conditions = try conditions(of: operation, at: place)
    if case .late(let command) = command { parts.command = command }
    parts.shell = settings.settings.shell
    parts.settings = settings.late
    parts.waits = try waits(of: extra, settings, values)
    parts.input = try lateInput(values, settings, command, parts.waits)
    parts.hasLateInputs = lateInputs(of: unit) != nil
    return parts.isEmpty ? nil : parts
  }

  private func waits(
    of extra: ExtraModel?, _ settings: PlannedSettings, _ values: KnownValues
  ) throws(EvaluationFailure) -> [LateWait] {
    var waits: [LateWait] = []
    for wait in extra?.waits ?? [] {
      let target: CommandModel
      if wait.kind != .command, case .script(let text) = wait.target {
        let folded = try values.foldArgument(text)
        if let known = folded.plain { try wait.check(known) }
        target = .script(folded)
      } else {
        target = try values.fold(wait.target, for: settings.settings.shell)
      }
      waits.append(
        LateWait(
          model: WaitModel(
            kind: wait.kind, target: target, every: wait.every, timeout: wait.timeout)))
    }
    return waits
  }

  private mutating func groupParts(
    _ group: GroupDraft, _ operation: Int, at place: Place
  ) throws(EvaluationFailure) -> LateParts? {
    var parts = LateParts()
    if let unit = group.unit {
      parts.outputs = try planner.values(at: Place(unit: unit, step: 0))
        .fold(planner.units[unit].model.outputs.map(\.member))
      parts.outputScope = unitScope(unit)
    }
    guard group.isExpanding, let matrix = planner.units[place.unit].extra(of: place.step)?.matrix
    else { return parts.isEmpty ? nil : parts }
    parts.expansion = try expansion(of: matrix, operation, at: place)
    // A condition that names the matrix is that of each instance.
    parts.conditions = try conditions(of: operation, at: place).filter {
      !$0.expression.uses(.matrix)
    }
    return parts
  }

  private mutating func expansion(
    of matrix: MatrixModel, _ operation: Int, at place: Place
  ) throws(EvaluationFailure) -> LateExpansion {
    let values = planner.values(at: place)
    var axes: [AxisModel] = []
    for axis in matrix.axes {
      axes.append(
        AxisModel(name: axis.name, span: axis.span, values: try values.fold(axis.values)))
    }
    let settings = try pools[place.unit].settings(of: place.step, values)
    var parts = LateParts()
    parts.conditions = try conditions(of: operation, at: place)
    let command = try command(at: place, planner.units[place.unit], values, settings)
    if case .late(let late) = command { parts.command = late }
    parts.shell = settings.settings.shell
    parts.settings = settings.late
    parts.waits = try waits(
      of: planner.units[place.unit].extra(of: place.step), settings, values)
    parts.input = try lateInput(values, settings, command, parts.waits)
    var spec = planner.graph[OperationID(operation)]
    spec.isGated = true
    if let pool = planner.groups[operation]?.pool {
      spec.claims.append(Claim(pool, amount: 1_000_000))
    }
    return LateExpansion(
      axes: axes,
      included: try matrix.included.map { model throws(EvaluationFailure) in
        try values.fold(model)
      },
      excluded: try matrix.excluded.map { model throws(EvaluationFailure) in
        try values.fold(model)
      }, spec: spec, work: command.work, parts: parts)
  }

  /// Of the steps that the operation is in, the outermost first, then its own. What is known to be
  /// true is left out.
  private mutating func conditions(
    of operation: Int, at place: Place
  ) throws(EvaluationFailure) -> [LateCondition] {
    var result: [LateCondition] = []
    let unit = planner.units[place.unit]
    if let parent = unit.parent {
      let group = unit.group
      result = try conditions(of: group, at: parent).map { condition in
        LateCondition(
          expression: condition.expression, written: condition.written, scope: condition.scope,
          group: condition.group ?? numbers[group])
      }
    }
    guard let condition = unit.extra(of: place.step)?.condition else { return result }
    let values = planner.values(at: place)
    if try condition.valueIfKnown(with: values) == .bool(true) { return result }
    result.append(
      LateCondition(
        expression: try condition.folded(with: values), written: condition.description,
        scope: scope(of: operation, at: place),
        group: nil))
    return result
  }
}

// What names stand for.
extension PlanBuilder {
  mutating func scope(of operation: Int, at place: Place) -> LateScope {
    if let latestScope, latestScope.operation == operation { return latestScope.scope }
    if let known = scopes[operation] { return known }
    let unit = planner.units[place.unit]
    let scope = LateScope(
      planner.dependencies(at: place, numbers),
      matrix: place.instance.map { planner.instances[$0].values },
      writtenNames: unit.extra(of: place.step)?.matrix?.writtenNames ?? [],
      inputs: lateInputs(of: unit))
    latestScope = (operation, scope)
    if place.isGroup { scopes[operation] = scope }
    return scope
  }

  /// Of a nested pipeline with inputs that are known later, or in one.
  private mutating func lateInputs(of unit: Unit) -> LateInputs? {
    guard let parent = unit.parent else { return nil }
    let params = unit.model.params.compactMap { param in
      unit.inputs.lateParams[param.name].map { LateInput(param: param, value: $0) }
    }
    if params.isEmpty, lateInputs(of: planner.units[parent.unit]) == nil { return nil }
    return LateInputs(params, from: scope(of: unit.group, at: parent))
  }

  /// For what a nested pipeline gives back: all its steps have ended.
  private mutating func unitScope(_ number: Int) -> LateScope {
    let unit = planner.units[number]
    var dependencies = LateDependencies()
    for step in unit.model.steps.indices {
      dependencies.steps[unit.id(of: step, planner.text)] = numbers[unit.operation(of: step)]
    }
    return LateScope(dependencies, inputs: lateInputs(of: unit))
  }
}

extension Planner {
  /// What the names in `depends_on` stand for, and the operations that are meant.
  fileprivate func dependencies(at place: Place, _ numbers: Renumbering) -> LateDependencies {
    let unit = units[place.unit]
    let range = unit.model.dependencyRange(of: place.step)
    var found = LateDependencies(count: range.count)
    for number in range {
      let dependency = unit.model.dependencies[number]
      let name = text.string(dependency.step.span)
      // Nearly always a step, by its name.
      if !dependency.traits.contains(.matched), let step = unit.index.find(dependency.step.span) {
        guard let target = numbers[unit.operation(of: step)] else { continue }
        found.all.append(target)
        found.steps[name] = target
        continue
      }
      let targets = targets(of: dependency, at: place)
      for target in targets {
        if let number = numbers[target] { found.all.append(number) }
      }
      if dependency.traits.contains(.matched), !unit.pairs(dependency, with: place.step) {
        found.matches[name] = targets.compactMap { target in
          guard let number = numbers[target] else { return nil }
          let values = self.place(of: target).instance.map { instances[$0].values } ?? ValueMap()
          return MatchedInstance(operation: number, values: values)
        }
      } else {
        found.steps[name] = targets.lazy.compactMap { numbers[$0] }.first
      }
    }
    if unit.model.isSequence, place.step > 0,
      let previous = numbers[unit.operation(of: place.step - 1)], !found.all.contains(previous)
    {
      found.all.append(previous)
    }
    return found
  }
}
