// The plan itself: steps with everything put in that is known, and what is left for later.

import Diagnostics
import Scheduling

/// Builds the steps of the operations that were kept.
struct PlanBuilder {
  private let planner: Planner
  private let numbers: Renumbering
  private var pools: [SettingsPool]
  /// Of operations with something late.
  private var scopes: [Int: LateScope] = [:]
  private(set) var gated: [OperationID] = []
  private(set) var groups: [OperationID: GroupPlan] = [:]
  var log: DiagnosticLog

  init(_ planner: Planner, _ isKept: [Bool]?) {
    self.planner = planner
    numbers = Renumbering(isKept)
    pools = planner.units.map { SettingsPool($0) }
    log = planner.log
  }

  mutating func plan(path: String, sources: SourceMap, _ isKept: [Bool]?) -> Plan {
    let steps = steps()
    let root = planner.units[0]
    let options = planner.options
    var graph = isKept.map(planner.graph.subgraph) ?? planner.graph
    for operation in gated { graph.setGated(operation) }
    var plan = Plan(
      name: root.model.name ?? FilePlace(path: path).name, sources: sources, steps: steps,
      graph: graph, queues: planner.lanes.queues, pools: planner.lanes.pools,
      failurePolicy: options.failurePolicy ?? root.model.failurePolicy,
      timeout: options.timeout ?? root.model.timeout, settings: StepSettings(),
      secrets: planner.secrets)
    addRunSettings(of: root, to: &plan)
    plan.groups = groups
    return plan
  }

  /// For the run's own hooks.
  private mutating func addRunSettings(of root: Unit, to plan: inout Plan) {
    var draft = SettingsDraft(root)
    draft.setHooks(root.model.hooks)
    let values = planner.values(at: Place(unit: 0, step: 0))
    do throws(EvaluationFailure) {
      let planned = try draft.settings(
        label: nil, values, try draft.foldedEnvironment(values))
      plan.settings = planned.settings
      var parts = LateParts()
      parts.settings = planned.late
      if !parts.isEmpty { plan.late = LateStep(parts, in: LateScope()) }
    } catch {
      log.report(error.diagnostic(in: planner.text))
    }
  }

  private mutating func steps() -> [PlannedStep] {
    var steps: [PlannedStep] = []
    steps.reserveCapacity(planner.operationCount)
    for operation in 0..<planner.operationCount {
      guard let id = numbers[operation] else { continue }
      do throws(EvaluationFailure) {
        if let step = try plainStep(operation) {
          steps.append(step)
          continue
        }
        let place = planner.place(of: operation)
        steps.append(try step(operation, at: place))
        if steps[steps.count - 1].late != nil || place.isGroup { gated.append(id) }
        if planner.budget.hasTooManyVariables {
          log.report(at: steps[steps.count - 1].span) { PlanningMessage.tooManyVariables(at: $0) }
          return steps
        }
      } catch {
        log.report(error.diagnostic(in: planner.text))
      }
      if let group = planner.group(operation) { groups[id] = groupPlan(group) }
    }
    return steps
  }

  private func groupPlan(_ group: GroupDraft) -> GroupPlan {
    var members: [OperationID] = []
    var combinations: [ValueMap] = []
    members.reserveCapacity(group.members.count)
    if case .matrix = group.kind { combinations.reserveCapacity(group.members.count) }
    for member in group.members {
      guard let id = numbers[member] else { continue }
      members.append(id)
      if let instance = planner.places[member].instance {
        combinations.append(planner.instances[instance].values)
      }
    }
    return GroupPlan(
      kind: group.kind, members: members, isFailFast: group.isFailFast, combinations: combinations)
  }

  /// A step that says no more than id, script and edges, in a pipeline without groups: as most.
  /// Nil for any other, and while its script is not known.
  private mutating func plainStep(_ operation: Int) throws(EvaluationFailure) -> PlannedStep? {
    guard planner.places.isEmpty else { return nil }
    let step = planner.units[0].model.steps[operation]
    guard step.details < 0, let settings = pools[0].plainSettings,
      let script = try plainScript(step.action, settings)
    else { return nil }
    return PlannedStep(
      id: planner.text.string(step.id.span), span: step.id.span, action: .script(script),
      settings: settings)
  }

  private func plainScript(
    _ action: ActionModel, _ settings: StepSettings
  ) throws(EvaluationFailure) -> String? {
    switch action {
    case .written(let start, let byteCount):
      return planner.text.string(Span(start: Int(start), end: Int(start) + Int(byteCount)))
    case .kept(let number):
      guard case .script(let text) = planner.units[0].model.actions[Int(number)] else { return nil }
      return try planner.values(at: Place(unit: 0, step: 0)).scriptIfKnown(
        text, for: StepSettings.language(of: settings.shell))
    case .uses: return nil
    }
  }

  private mutating func step(
    _ operation: Int, at place: Place
  ) throws(EvaluationFailure) -> PlannedStep {
    let unit = planner.units[place.unit]
    let values = planner.values(at: place)
    let settings = try pools[place.unit].settings(of: place.step, values)
    let command = try command(at: place, unit, values, settings)
    let parts = try lateParts(operation, at: place, values, settings, command)
    return PlannedStep(
      id: planner.id(of: operation), span: unit.model.steps[place.step].id.span,
      action: command.shown, settings: settings.settings,
      late: parts.map { LateStep($0, in: scope(of: operation, at: place)) })
  }

  /// Most scripts stand in the file as they are.
  private func command(
    at place: Place, _ unit: Unit, _ values: KnownValues, _ settings: PlannedSettings
  ) throws(EvaluationFailure) -> StepCommand {
    switch unit.model.steps[place.step].action {
    case .written(let start, let byteCount):
      let span = Span(start: Int(start), end: Int(start) + Int(byteCount))
      return .known(.script(planner.text.string(span)))
    case .kept(let number): return try fold(unit.model.actions[Int(number)], values, settings)
    case .uses(let number):
      let uses = unit.model.uses[Int(number)]
      if case .file(let path) = uses.kind { return .known(.script(path)) }
      return try fold(.uses(uses), values, settings)
    }
  }

  private func fold(
    _ command: CommandModel, _ values: KnownValues, _ settings: PlannedSettings
  ) throws(EvaluationFailure) -> StepCommand {
    let language = StepSettings.language(of: settings.settings.shell)
    if case .script(let text) = command {
      let folded = try values.foldScript(text, for: language)
      return folded.plain.map { .known(.script($0)) } ?? .late(.script(folded))
    }
    let folded = try values.fold(command, for: language)
    return folded.constant.map { .known($0) } ?? .late(folded)
  }

  // MARK: What is late

  private mutating func lateParts(
    _ operation: Int, at place: Place, _ values: KnownValues, _ settings: PlannedSettings,
    _ command: StepCommand
  ) throws(EvaluationFailure) -> LateParts? {
    let unit = planner.units[place.unit]
    if let group = planner.group(operation) { return try groupParts(group, operation, at: place) }
    let extra = unit.extra(of: place.step)
    if settings.late == nil, extra?.decidesLate != true, unit.parent == nil, case .known = command {
      return nil
    }
    var parts = LateParts()
    parts.conditions = try conditions(of: operation, at: place)
    if case .late(let command) = command { parts.command = command }
    parts.shell = settings.settings.shell
    parts.settings = settings.late
    parts.waits = try waits(of: extra, settings, values)
    parts.hasLateInputs = lateInputs(of: unit) != nil
    return parts.isEmpty ? nil : parts
  }

  private func waits(
    of extra: ExtraModel?, _ settings: PlannedSettings, _ values: KnownValues
  ) throws(EvaluationFailure) -> [LateWait] {
    var waits: [LateWait] = []
    for wait in extra?.waits ?? [] {
      let language = StepSettings.language(of: settings.settings.shell)
      let target: CommandModel
      if wait.kind != .command, case .script(let text) = wait.target {
        let folded = try values.fold(text)
        if let known = folded.plain { try wait.check(known) }
        target = .script(folded)
      } else {
        target = try values.fold(wait.target, for: language)
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
    if case .late(let command) = try command(
      at: place, planner.units[place.unit], values, settings)
    {
      parts.command = command
    }
    parts.shell = settings.settings.shell
    parts.settings = settings.late
    parts.waits = try waits(
      of: planner.units[place.unit].extra(of: place.step), settings, values)
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
      }, spec: spec, parts: parts)
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

  // MARK: Scopes

  private mutating func scope(of operation: Int, at place: Place) -> LateScope {
    if let known = scopes[operation] { return known }
    let unit = planner.units[place.unit]
    let scope = LateScope(
      planner.dependencies(at: place, numbers),
      matrix: place.instance.map { planner.instances[$0].values }, inputs: lateInputs(of: unit))
    scopes[operation] = scope
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

/// What a step runs.
private enum StepCommand {
  case known(Action)
  case late(CommandModel)

  var shown: Action {
    switch self {
    case .known(let action): action
    case .late(let command): command.shown
    }
  }
}

extension Planner {
  /// What the names in `depends_on` stand for, and the operations that are meant.
  fileprivate func dependencies(at place: Place, _ numbers: Renumbering) -> LateDependencies {
    let unit = units[place.unit]
    var found = LateDependencies()
    for number in unit.model.dependencyRange(of: place.step) {
      let dependency = unit.model.dependencies[number]
      let name = text.string(dependency.step.span)
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
