// Builds the plan itself: steps with everything inserted that is known. PlanBuilder+Plain.swift has
// a fast path for most steps, PlanBuilder+Late.swift builds the late parts.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// Builds the steps of the operations that were kept. It is a class, because calls would copy such
/// a large value.
final class PlanBuilder {
  let planner: Planner
  private let sources: SourceMap
  let numbers: Renumbering
  let sharedSettings: [SharedSettings]
  /// The scopes of operations that stand for others.
  var scopes: [Int: LateScope] = [:]
  /// The late `vars`, by the number of their pipeline use.
  var varsOfPipelines: [Int: LateVars] = [:]
  private var failed = FailedInstances()
  /// The scope of the operation that was used last.
  var latestScope: (operation: Int, scope: LateScope)?
  /// The condition that was decided last, and whether it is known to be true.
  var latestCondition: (expression: Expression, isTrue: Bool)?
  private(set) var gated: [OperationID] = []
  private(set) var groups: [OperationID: GroupPlan] = [:]
  var log: DiagnosticLog
  /// The faults of the step that is being built.
  private let faults = FaultCollector()

  init(_ planner: Planner, _ sources: SourceMap, _ isKept: [Bool]?) {
    self.planner = planner
    self.sources = sources
    numbers = Renumbering(isKept)
    sharedSettings = planner.pipelines.map {
      SharedSettings($0, executor: planner.options.executor)
    }
    log = planner.log
  }

  /// The plan; it must not be used if anything was logged.
  func plan(path: String, _ isKept: [Bool]?) -> Plan {
    let steps = steps()
    let root = planner.pipelines[0]
    let options = planner.options
    var graph = isKept.map(planner.graph.subgraph) ?? planner.graph
    for operation in gated { graph.setGated(operation) }
    let run = runSettings(of: root)
    let timeout = options.timeout ?? self.timeout(of: root)
    return Plan(
      name: root.model.name ?? FilePath(path: path).name, description: root.model.description,
      sources: sources, steps: steps,
      graph: graph, queues: planner.queuesAndPools.queues, pools: planner.queuesAndPools.pools,
      failurePolicy: options.failurePolicy ?? root.model.failurePolicy,
      timeout: timeout, settings: run.settings, late: run.late,
      secrets: planner.models.secrets, groups: groups, remarks: remarks(),
      leftOut: isKept != nil && options.selection.isEmpty ? leftOut(of: root) : [],
      parameters: root.model.params.map(\.described),
      named: Set(planner.named.compactMap { numbers[$0] }), outputs: rootOutputs(),
      isExclusive: root.model.isExclusive, slurm: planner.slurmPlan
    ).sharing(sharedCache(of: root.model)).havingTimeoutOfOption(options.timeout != nil)
  }

  private func sharedCache(of model: PipelineModel) -> SharedCacheAddress {
    let names = planner.models.secrets.map(\.name)
    if let name = model.sharedCache.secret, let span = model.cacheSecretSpan,
      !names.contains(name)
    {
      log.report(at: span) { PlanningMessage.unknownCacheSecret(name, known: names, at: $0) }
    }
    return model.sharedCache
  }

  /// The time limit of a whole pipeline, as its file specifies it.
  private func timeout(of pipeline: PipelineUse) -> Nanoseconds? {
    guard let early = pipeline.model.earlyTimeout else { return pipeline.model.timeout }
    do throws(EvaluationFailure) {
      return try early.duration(
        planner.valuesForMatrix(at: StepAddress(pipeline: pipeline.number, step: 0)))
    } catch {
      log.report(error.diagnostic(in: planner.text))
      return nil
    }
  }

  private func remarks() -> [OperationID: StepRemark] {
    var remarks: [OperationID: StepRemark] = [:]
    for pipeline in planner.pipelines where !pipeline.model.descriptions.isEmpty {
      for step in pipeline.model.steps.indices {
        guard let description = pipeline.description(of: step),
          let operation = numbers[pipeline.operation(of: step)]
        else { continue }
        remarks[operation] = StepRemark(description: description)
      }
    }
    for pipeline in planner.pipelines where pipeline.leavesOut {
      for step in pipeline.model.writtenSteps where pipeline.isManual(step) {
        guard let operation = numbers[pipeline.operation(of: step)] else { continue }
        remarks[operation, default: StepRemark()].isManual = true
      }
      guard pipeline.model.defaultSteps != nil else { continue }
      for step in pipeline.usualSteps {
        guard let operation = numbers[pipeline.operation(of: step)] else { continue }
        remarks[operation, default: StepRemark()].isDefault = true
      }
    }
    return remarks
  }

  private func leftOut(of root: PipelineUse) -> [String] {
    root.model.writtenSteps
      .filter { numbers[root.operation(of: $0)] == nil }
      .map { root.id(of: $0, planner.text) }
  }

  /// The settings for the run's own hooks.
  private func runSettings(of root: PipelineUse) -> (
    settings: StepSettings, late: LateStep?
  ) {
    do throws(EvaluationFailure) {
      return try hookSettings(of: 0)
    } catch {
      log.report(error.diagnostic(in: planner.text))
      return (StepSettings(), nil)
    }
  }

  /// The hooks of a whole pipeline, with their settings.
  private func hookSettings(
    of number: Int
  ) throws(EvaluationFailure) -> (settings: StepSettings, late: LateStep?) {
    let pipeline = planner.pipelines[number]
    var draft = SettingsDraft(pipeline)
    draft.setHooks(pipeline.model.hooks)
    let values = planner.valuesForMatrix(at: StepAddress(pipeline: number, step: 0))
    let planned = try draft.settings(label: nil, values, try draft.foldedEnvironment(values))
    var parts = LateParts()
    parts.rare.settings = planned.late
    parts.rare.givers = givers(of: planned)
    parts.rare.hasLateInputs = lateInputs(of: pipeline) != nil
    if parts.isEmpty { return (planned.settings, nil) }
    let needsSteps =
      planned.late?.hooks.isEmpty == false || number > 0
      || pipeline.inputs.derived?.hasLate == true
    let scope = needsSteps ? pipelineScope(number) : LateScope()
    return (planned.settings, LateStep(parts, in: scope))
  }

  private func steps() -> [PlannedStep] {
    var steps: [PlannedStep] = []
    steps.reserveCapacity(planner.operationCount)
    for operation in 0..<planner.operationCount where !log.isFull {
      guard let id = numbers[operation], !failed.areEnough(of: operation, in: planner) else {
        continue
      }
      do throws(EvaluationFailure) {
        let address = planner.address(of: operation)
        if let step = writtenStep(at: address) {
          steps.append(step)
          continue
        }
        let command = try plainCommand(at: address)
        if let command, let step = try plainStep(at: address, command) {
          steps.append(step)
          continue
        }
        let step = try step(operation, at: address, command)
        if step.late != nil || step.settings.cache != nil || address.isGroup { gated.append(id) }
        steps.append(step)
        if let group = planner.group(operation) { add(group, step.settings, as: id) }
        if planner.budget.hasTooManyVariables {
          log.report(at: step.span) { PlanningMessage.tooManyVariables(at: $0) }
          return steps
        }
      } catch {
        log.report(error.diagnostic(in: planner.text))
        failed.add(operation, in: planner)
      }
    }
    return steps
  }

  private func add(_ group: GroupDraft, _ settings: StepSettings, as id: OperationID) {
    groups[id] = groupPlan(group, settings)
    // At their gates, instances are made, or begin.
    if group.width != nil { gated += group.operations.compactMap { numbers[$0] } }
    if let pattern = group.pattern { gated += pattern.operations.compactMap { numbers[$0] } }
  }

  private func groupPlan(_ group: GroupDraft, _ settings: StepSettings) -> GroupPlan {
    var members: [OperationID] = []
    var combinations: [ValueMap] = []
    members.reserveCapacity(group.members.count)
    if case .matrix = group.kind { combinations.reserveCapacity(group.members.count) }
    for member in group.members {
      guard let id = numbers[member] else { continue }
      members.append(id)
      if let instance = planner.addresses[member].instance {
        combinations.append(planner.instances[instance].values)
      }
    }
    let isPipeline = group.pipeline != nil
    return GroupPlan(
      kind: group.kind, members: members, isFailFast: group.isFailFast, combinations: combinations,
      timeout: isPipeline ? settings.timeout : nil,
      allowsFailure: isPipeline && settings.allowFailure == .always,
      failurePolicy: group.pipeline.map { planner.pipelines[$0].model.failurePolicy } ?? .continue,
      width: group.width,
      pattern: group.pattern.map { pattern in
        GroupPattern(
          operations: pattern.operations.compactMap { numbers[$0] },
          pools: pattern.pools.map { PoolID($0) }, pipelines: pattern.pipelines,
          group: GroupPlan(
            kind: pattern.kind, members: members, timeout: settings.timeout,
            allowsFailure: settings.allowFailure == .always,
            failurePolicy: planner.pipelines[pattern.pipeline].model.failurePolicy))
      })
  }

  /// The settings of a whole pipeline use, with the shorter of its own time limit and the pipeline's.
  private func wholeSettings(
    of used: Int, at address: StepAddress, _ values: KnownValues
  ) throws(EvaluationFailure) -> PlannedSettings {
    let settings = try sharedSettings[address.pipeline].wholeSettings(
      of: address.step, values, limit: timeout(of: planner.pipelines[used]))
    if let allowance = settings.late?.allowFailure {
      let span = allowance.span(in: planner.text)
      if planner.groups[planner.pipelines[used].group]?.pattern == nil,
        !planner.isOpen(allowance, at: address)
      {
        log.report(at: span) { PlanningMessage.lateAllowance(at: $0) }
      }
    }
    return settings
  }

  private func step(
    _ operation: Int, at address: StepAddress, _ plainCommand: StepCommand?
  ) throws(EvaluationFailure) -> PlannedStep {
    let pipeline = planner.pipelines[address.pipeline]
    var values = planner.values(at: address)
    values.faults = faults
    defer {
      let failures = faults.take()
      for failure in failures { log.report(failure.diagnostic(in: planner.text)) }
      if !failures.isEmpty { failed.add(operation, in: planner) }
    }
    let group = planner.group(operation)
    let settings =
      if let used = group?.steps {
        try wholeSettings(of: used, at: address, values)
      } else {
        try sharedSettings[address.pipeline].settings(of: address.step, values)
      }
    let command =
      if let plainCommand { plainCommand } else {
        try self.command(at: address, pipeline, values, settings)
      }
    var parts = try lateParts(of: operation, values, settings, command)
    var own = settings.settings
    if let used = group?.steps, !planner.pipelines[used].model.hooks.isEmpty {
      let hooks = try hookSettings(of: used)
      own = own.running(hooks.settings)
      if hooks.late != nil { parts = (parts ?? LateParts()).with(hooks.late) }
    }
    return PlannedStep(
      id: planner.id(of: operation), span: pipeline.model.steps[address.step].id.span,
      work: work(of: group, command), settings: own,
      late: parts.map { LateStep($0, in: scope(of: operation, at: address)) })
  }

  /// The work of an operation. A group runs nothing. A group without members, or with unknown ones,
  /// shows what each of them would run.
  private func work(of group: GroupDraft?, _ command: StepCommand) -> Work {
    guard let group else { return work(of: command) }
    guard group.members.isEmpty, let shown = work(of: command).shown else { return .none }
    return .late(shown: shown)
  }

  /// The work of a command. A script that is left for the run is shown as it is in the file, and stays there.
  func work(of command: StepCommand) -> Work {
    switch command {
    case .known(let action): .known(action)
    case .late(.script(.template(let template))):
      template.writtenSpan.map { .late(shown: ShownCommand(.script(ScriptText($0, in: sources)))) }
        ?? CommandModel.script(.template(template)).work
    case .late(let command): command.work
    case .none: .none
    }
  }

  /// The command of a step. Most scripts are in the file unchanged.
  func command(
    at address: StepAddress, _ pipeline: PipelineUse, _ values: KnownValues,
    _ settings: PlannedSettings
  ) throws(EvaluationFailure) -> StepCommand {
    switch pipeline.model.steps[address.step].action {
    case .written(let start, let byteCount): return script(at: start, byteCount)
    case .kept(let number): return try fold(pipeline.model.actions[Int(number)], values, settings)
    case .uses(let number):
      let uses = pipeline.model.uses[Int(number)]
      if uses.kind.isPipeline { return .none }
      return try fold(.uses(uses), values, settings)
    }
  }

  func script(at start: UInt32, _ byteCount: UInt32) -> StepCommand {
    .known(.script(scriptText(at: start, byteCount)))
  }

  func scriptText(at start: UInt32, _ byteCount: UInt32) -> ScriptText {
    ScriptText(Span(start: Int(start), end: Int(start) + Int(byteCount)), in: sources)
  }

  func fold(
    _ command: CommandModel, _ values: KnownValues, _ settings: PlannedSettings
  ) throws(EvaluationFailure) -> StepCommand {
    let shell = settings.settings.shell
    if case .script(let text) = command {
      return switch try values.foldScript(text, for: shell) {
      case .known(let script): .known(.script(script))
      case .late(let text): .late(.script(text))
      }
    }
    let folded = try values.fold(command, for: shell)
    return folded.constant.map { .known($0) } ?? .late(folded)
  }
}

/// The command of a step.
enum StepCommand {
  case known(Action)
  case late(CommandModel)
  /// There is no command: the steps of another pipeline run instead.
  case none
}

extension LateParts {
  /// The parts with the late parts of hooks, which are those of each instance if there is a matrix.
  fileprivate func with(_ hooks: LateStep?) -> LateParts {
    var parts = self
    guard let expansion else {
      parts.rare.hooks = hooks
      return parts
    }
    parts.rare.expansion = LateExpansion(
      axes: expansion.axes, included: expansion.included, excluded: expansion.excluded,
      writtenNames: expansion.writtenNames, spec: expansion.spec, work: expansion.work,
      parts: expansion.parts.withHooks(hooks), allowance: expansion.allowance)
    return parts
  }

  private func withHooks(_ hooks: LateStep?) -> LateParts {
    var parts = self
    parts.rare.hooks = hooks
    return parts
  }
}
