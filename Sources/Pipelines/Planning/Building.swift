// The plan itself: steps with everything put in that is known. What is left for later is LateBuilding.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// Builds the steps of the operations that were kept.
struct PlanBuilder {
  let planner: Planner
  let numbers: Renumbering
  var pools: [SettingsPool]
  /// Of operations with something late.
  var scopes: [Int: LateScope] = [:]
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
      secrets: planner.models.secrets)
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

  /// A step that says no more than id, script and when it runs, in a pipeline without groups: as most.
  /// Nil for any other, and while something is left of it for the run.
  private mutating func plainStep(_ operation: Int) throws(EvaluationFailure) -> PlannedStep? {
    guard planner.places.isEmpty else { return nil }
    let unit = planner.units[0]
    let step = unit.model.steps[operation]
    guard step.details < 0 || unit.model.details[Int(step.details)].isPlain,
      let settings = pools[0].plainSettings, let script = try plainScript(step.action, settings),
      try isSureToRun(unit.extra(of: operation))
    else { return nil }
    return PlannedStep(
      id: planner.text.string(step.id.span), span: step.id.span, action: .script(script),
      settings: settings)
  }

  private func isSureToRun(_ extra: ExtraModel?) throws(EvaluationFailure) -> Bool {
    guard let extra else { return true }
    guard extra.matrix == nil, extra.waits.isEmpty, let condition = extra.condition else {
      return false
    }
    return try condition.valueIfKnown(with: planner.values(at: Place(unit: 0, step: 0)))
      == .bool(true)
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
        text, for: settings.shell)
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
  func command(
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
    let shell = settings.settings.shell
    if case .script(let text) = command {
      let folded = try values.foldScript(text, for: shell)
      return folded.plain.map { .known(.script($0)) } ?? .late(.script(folded))
    }
    let folded = try values.fold(command, for: shell)
    return folded.constant.map { .known($0) } ?? .late(folded)
  }
}

/// What a step runs.
enum StepCommand {
  case known(Action)
  case late(CommandModel)

  var shown: Action {
    switch self {
    case .known(let action): action
    case .late(let command): command.shown
    }
  }
}
