// The parts of steps that are left for the run: conditions, commands, settings, matrices that are
// not known yet, and the meanings of their names. docs/design-planning.md, “Late steps”.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension PlanBuilder {
  func lateParts(
    of operation: Int, _ values: KnownValues, _ settings: PlannedSettings, _ command: StepCommand
  ) throws(EvaluationFailure) -> LateParts? {
    let address = planner.address(of: operation)
    let pipeline = planner.pipelines[address.pipeline]
    if let group = planner.group(operation) {
      return try groupParts(group, operation, at: address, settings)
    }
    let controlFlow = pipeline.controlFlow(of: address.step)
    if settings.late == nil, controlFlow?.decidesLate != true, pipeline.parent == nil,
      case .known = command
    {
      _ = try lateInput(values, settings, command, [])
      return nil
    }
    var parts = LateParts()
    parts.conditions = try conditions(of: operation, at: address)
    if case .late(let command) = command { parts.command = command }
    parts.shell = settings.settings.shell
    if !settings.isKnown || controlFlow?.hasProbes == true || pipeline.parent != nil {
      var rare = try rareParts(values, settings, command, at: address)
      rare.hasLateInputs = lateInputs(of: pipeline) != nil
      parts.rare = rare
    }
    return parts.isEmpty ? nil : parts
  }

  private func rareParts(
    _ values: KnownValues, _ settings: PlannedSettings, _ command: StepCommand,
    at address: StepAddress
  ) throws(EvaluationFailure) -> LateParts.Rare {
    let controlFlow = planner.pipelines[address.pipeline].controlFlow(of: address.step)
    var rare = LateParts.Rare()
    rare.settings = settings.late
    rare.givers = givers(of: settings)
    rare.probes = try probes(controlFlow?.probes ?? [], settings, values)
    rare.readiness = try probes(controlFlow?.readiness ?? [], settings, values)
    rare.input = try lateInput(values, settings, command, rare.probes + rare.readiness)
    rare.stepName = hookOwner(settings, at: address)
    return rare
  }

  private func hookOwner(_ settings: PlannedSettings, at address: StepAddress) -> String? {
    guard settings.late?.hooks.isEmpty == false else { return nil }
    return planner.pipelines[address.pipeline].id(of: address.step, planner.text)
  }

  private func probes(
    _ conditions: [ProbeModel], _ settings: PlannedSettings, _ values: KnownValues
  ) throws(EvaluationFailure) -> [LateProbe] {
    var probes: [LateProbe] = []
    for probe in conditions {
      let target: CommandModel
      if probe.kind != .command, case .script(let text) = probe.target {
        let folded = try values.foldArgument(text)
        if let known = folded.plain { try probe.check(known) }
        target = .script(folded)
      } else {
        target = try values.fold(probe.target, for: settings.settings.shell)
      }
      probes.append(
        LateProbe(
          model: ProbeModel(
            kind: probe.kind, target: target, every: probe.every, timeout: probe.timeout)))
    }
    return probes
  }

  private func groupParts(
    _ group: GroupDraft, _ operation: Int, at address: StepAddress, _ settings: PlannedSettings
  ) throws(EvaluationFailure) -> LateParts? {
    var parts = LateParts()
    if let pipeline = group.pipeline { try addOutputs(of: pipeline, to: &parts) }
    guard group.isExpanding,
      let matrix = planner.pipelines[address.pipeline].controlFlow(of: address.step)?.matrix
    else { return parts.isEmpty ? nil : parts }
    if let pattern = group.pattern {
      var inner = LateParts()
      inner.conditions = try conditions(of: operation, at: address)
      try addOutputs(of: pattern.pipeline, to: &inner)
      let instance = LateInstance(parts: inner, allowance: settings.late?.allowFailure)
      parts.rare.expansion = try expansion(of: matrix, at: address, into: instance)
    } else {
      parts.rare.expansion = try expansion(of: matrix, operation, at: address)
    }
    // A condition that names the matrix belongs to each instance.
    parts.conditions = try conditions(of: operation, at: address).filter {
      !$0.expression.uses(.matrix)
    }
    return parts
  }

  private func expansion(
    of matrix: MatrixModel, _ operation: Int, at address: StepAddress
  ) throws(EvaluationFailure) -> LateExpansion {
    let values = planner.values(at: address)
    let settings = try sharedSettings[address.pipeline].settings(of: address.step, values)
    var parts = LateParts()
    parts.conditions = try conditions(of: operation, at: address)
    let command = try command(at: address, planner.pipelines[address.pipeline], values, settings)
    if case .late(let late) = command { parts.command = late }
    parts.shell = settings.settings.shell
    parts.rare = try rareParts(values, settings, command, at: address)
    let instance = LateInstance(work: work(of: command), parts: parts)
    return try expansion(of: matrix, at: address, into: instance)
  }

  /// What each instance of a matrix is that is expanded during the run.
  private struct LateInstance {
    /// The work; none if the instance is a group.
    var work = Work.none
    let parts: LateParts
    var allowance: Expression?
  }

  private func expansion(
    of matrix: MatrixModel, at address: StepAddress, into instance: LateInstance
  ) throws(EvaluationFailure) -> LateExpansion {
    let operation = planner.pipelines[address.pipeline].operation(of: address.step)
    let outer = planner.valuesForMatrix(at: address)
    var axes: [AxisModel] = []
    for axis in matrix.axes {
      axes.append(
        AxisModel(name: axis.name, span: axis.span, values: try outer.fold(axis.values)))
    }
    var spec = planner.graph[OperationID(operation)]
    spec.isGated = true
    if let pool = planner.groups[operation]?.pool, planner.groups[operation]?.pattern == nil {
      spec.claims.append(Claim(pool, amount: 1_000_000))
    }
    return LateExpansion(
      axes: axes,
      included: try matrix.included.map { model throws(EvaluationFailure) in
        try outer.fold(model)
      },
      excluded: try matrix.excluded.map { model throws(EvaluationFailure) in
        try outer.fold(model)
      }, writtenNames: matrix.writtenNames, spec: spec, work: instance.work,
      parts: instance.parts, allowance: instance.allowance)
  }

  /// The conditions of the enclosing steps, the outermost first, then the operation's own.
  /// Conditions known to be true are left out.
  private func conditions(
    of operation: Int, at address: StepAddress
  ) throws(EvaluationFailure) -> [LateCondition] {
    var result: [LateCondition] = []
    let pipeline = planner.pipelines[address.pipeline]
    if let parent = pipeline.parent {
      let group = pipeline.group
      result = try conditions(of: group, at: parent).map { condition in
        LateCondition(
          expression: condition.expression, written: condition.written, scope: condition.scope,
          group: condition.group ?? numbers[group])
      }
    }
    guard let condition = pipeline.controlFlow(of: address.step)?.condition else { return result }
    let values = planner.values(at: address)
    if try condition.valueIfKnown(with: values) == .bool(true) { return result }
    result.append(
      LateCondition(
        expression: try condition.folded(with: values), written: condition.description,
        scope: scope(of: operation, at: address),
        group: nil))
    return result
  }
}

// The meaning of names.
extension PlanBuilder {
  func scope(of operation: Int, at address: StepAddress) -> LateScope {
    if let latestScope, latestScope.operation == operation { return latestScope.scope }
    if let known = scopes[operation] { return known }
    let pipeline = planner.pipelines[address.pipeline]
    let matrix = knownMatrix(of: pipeline, at: address)
    let scope = LateScope(
      planner.dependencies(at: address, numbers), matrix: matrix.values,
      writtenNames: matrix.writtenNames,
      inputs: lateInputs(of: pipeline), around: scope(around: pipeline),
      matrixGroup: matrixGroup(around: pipeline),
      vars: lateVars(of: pipeline, needed: pipeline.lateVars(of: address.step)))
    latestScope = (operation, scope)
    if planner.address(of: operation).isGroup { scopes[operation] = scope }
    return scope
  }

  /// The values of the matrices around a step, as far as they are known.
  private func knownMatrix(
    of pipeline: PipelineUse, at address: StepAddress
  ) -> (values: ValueMap?, writtenNames: Set<ExactText>) {
    if pipeline.parent == nil, address.instance == nil { return (nil, []) }
    let outer = planner.valuesForMatrix(at: address)
    let values = planner.values(at: address)
    return (
      values.matrix ?? outer.matrix, (address.instance == nil ? outer : values).writtenNames
    )
  }

  /// The scope of the group around the steps of the pipeline use.
  private func scope(around pipeline: PipelineUse) -> LateScope? {
    guard pipeline.surroundings.isGroup, let parent = pipeline.parent else { return nil }
    return scope(of: pipeline.group, at: parent)
  }

  /// The scopes of the pipeline uses that gave settings to the steps in them.
  func givers(of settings: PlannedSettings) -> [Int32: LateScope] {
    var scopes: [Int32: LateScope] = [:]
    for giver in settings.late?.givers ?? [] {
      let pipeline = planner.pipelines[Int(giver)]
      if let parent = pipeline.parent { scopes[giver] = scope(of: pipeline.group, at: parent) }
    }
    return scopes
  }

  /// The late inputs of a nested pipeline, or of one that encloses it.
  func lateInputs(of pipeline: PipelineUse) -> LateInputs? {
    guard let parent = pipeline.parent else { return nil }
    let enclosing = pipeline.enclosing.flatMap { lateInputs(of: $0) }
    if pipeline.surroundings.isGroup { return enclosing }
    let params = pipeline.model.params.compactMap { param in
      pipeline.inputs.lateParams[param.name].map { LateInput(param: param, value: $0) }
    }
    if params.isEmpty, enclosing == nil,
      lateInputs(of: planner.pipelines[parent.pipeline]) == nil
    {
      return nil
    }
    return LateInputs(
      params, from: scope(of: pipeline.group, at: parent), in: enclosing,
      beside: (pipeline.inputs.paramTypes.names, pipeline.inputs.params))
  }

  /// The `vars` of a pipeline use that are known later, with those of them that a part of it needs.
  private func lateVars(
    of pipeline: PipelineUse, needed: [LateVarNumber]
  ) -> NeededVars? {
    pipeline.inputs.derived.flatMap { lateVars($0) }.map { NeededVars(needed, of: $0) }
  }

  private func lateVars(_ derived: DerivedValues) -> LateVars? {
    if let known = varsOfPipelines[derived.pipeline] { return known }
    let enclosing = derived.enclosing.flatMap { lateVars($0) }
    if derived.late.isEmpty { return enclosing }
    let owner = planner.pipelines[derived.pipeline]
    let entries = derived.late.map { value in
      let source: LateVars.Source =
        switch value.source {
        case .value(let model): .value(model)
        case .command(let step): .output(numbers[owner.operation(of: step)])
        }
      return (value.name, LateVars.Entry(source: source, others: value.others))
    }
    let vars = LateVars(
      entries, of: derived.pipeline, inputs: lateInputs(of: owner), in: enclosing)
    varsOfPipelines[derived.pipeline] = vars
    return vars
  }

  /// The scope for the outputs of a nested pipeline, and for the run's own hooks: all its steps have
  /// ended.
  func pipelineScope(_ number: Int) -> LateScope {
    let pipeline = planner.pipelines[number]
    var dependencies = LateDependencies()
    for step in pipeline.model.steps.indices {
      dependencies.steps[pipeline.id(of: step, planner.text)] =
        numbers[pipeline.operation(of: step)]
    }
    planner.addNames(planner.namedMembers[number] ?? [], in: number, to: &dependencies, numbers)
    let values = planner.valuesForMatrix(at: StepAddress(pipeline: number, step: 0))
    return LateScope(
      dependencies, matrix: values.matrix, writtenNames: values.writtenNames,
      inputs: lateInputs(of: pipeline), around: scope(around: pipeline),
      matrixGroup: matrixGroup(around: pipeline),
      vars: lateVars(of: pipeline, needed: pipeline.lateVarsAtEnd))
  }

  /// The nearest group with an unknown matrix around the steps of the pipeline use, if they see it.
  private func matrixGroup(around pipeline: PipelineUse) -> OperationID? {
    guard planner.hasPatterns, pipeline.surroundings.isGroup, let parent = pipeline.parent else {
      return nil
    }
    if planner.groups[pipeline.group]?.pattern != nil { return numbers[pipeline.group] }
    return matrixGroup(around: planner.pipelines[parent.pipeline])
  }
}

extension Planner {
  /// True if the name stands for a step in each instance of a group.
  private func isInEach(_ name: String, in pipeline: Int) -> Bool {
    pipelines[pipeline].find(path: name)?.isMany ?? false
  }

  /// The meanings of the names in `depends_on`, and the operations that they refer to.
  fileprivate func dependencies(at address: StepAddress, _ numbers: Renumbering) -> LateDependencies
  {
    let pipeline = pipelines[address.pipeline]
    let range = pipeline.model.dependencyRange(of: address.step)
    var found = LateDependencies(count: range.count)
    for number in range {
      let dependency = pipeline.model.dependencies[number]
      let name = text.string(dependency.step.span)
      // The name is nearly always the id of a step.
      if !dependency.traits.contains(.matched), let step = pipeline.step(ofDependency: number) {
        guard let target = numbers[pipeline.operation(of: step)] else { continue }
        found.all.append(target)
        found.steps[name] = target
        continue
      }
      let targets = targets(of: dependency, at: address)
      for target in targets {
        if let number = numbers[target] { found.all.append(number) }
      }
      let isMatched = dependency.traits.contains(.matched)
      let isMany =
        isMatched
        ? !pipeline.pairs(dependency, with: address.step) : isInEach(name, in: address.pipeline)
      if isMany {
        found.matches[name] = instances(targets, numbers)
      } else {
        found.steps[name] = first(of: targets, numbers)
      }
    }
    if !distantSteps.isEmpty { addDistantSteps(of: address, to: &found, numbers) }
    if pipeline.model.hasSequence {
      let before = pipeline.sequenceBefore(address.step)
      for step in Array(before.manual) + [before.required].compactMap(\.self) {
        guard let previous = numbers[pipeline.operation(of: step)], !found.all.contains(previous)
        else { continue }
        found.all.append(previous)
      }
    }
    return found
  }

  /// The operation that a name stands for, if it stands for one.
  private func first(of targets: [Int], _ numbers: Renumbering) -> OperationID? {
    targets.lazy.compactMap { numbers[$0] }.first
  }

  /// The operations that a name stands for, if it stands for several, with their values.
  private func instances(_ targets: [Int], _ numbers: Renumbering) -> [MatchedInstance] {
    targets.compactMap { target in
      guard let number = numbers[target], !hasNoInstances(target) else { return nil }
      return MatchedInstance(operation: number, values: instanceValues(of: target))
    }
  }

  /// The values of all instances that an operation belongs to, even where its own steps do not see them.
  private func instanceValues(of operation: Int) -> ValueMap {
    var values = ValueMap()
    var next: StepAddress? = address(of: operation)
    while let address = next {
      if let instance = address.instance { values = instances[instance].values.merging(values) }
      next = pipelines[address.pipeline].parent
    }
    return values
  }

  /// Adds the names of distant steps, which status functions ignore.
  private func addDistantSteps(
    of address: StepAddress, to found: inout LateDependencies, _ numbers: Renumbering
  ) {
    let step = StepAddress(pipeline: address.pipeline, step: address.step)
    addNames(distantSteps[step] ?? [], in: address.pipeline, to: &found, numbers)
  }

  fileprivate func addNames(
    _ names: some Sequence<String>, in pipeline: Int, to found: inout LateDependencies,
    _ numbers: Renumbering
  ) {
    for name in names {
      guard case .found(let targets, _) = operations(named: name, in: pipeline) else { continue }
      if isInEach(name, in: pipeline) {
        found.matches[name] = instances(targets, numbers)
      } else {
        found.steps[name] = first(of: targets, numbers)
      }
    }
  }
}
