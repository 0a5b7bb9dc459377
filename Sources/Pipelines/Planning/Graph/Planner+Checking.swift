// Checks names and types of all expressions, before any value is known.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension Planner {
  mutating func checkExpressions() {
    let references = checkedReferences()
    if !references.isEmpty { addEdges(fromDistantSteps: references) }
  }

  /// Checks all expressions, and returns their references to distant steps.
  private mutating func checkedReferences() -> [DistantSteps.Reference] {
    let distant = DistantSteps(self)
    for pipeline in pipelines { pipeline.distant = distant }
    for pipeline in pipelines { checkPipeline(pipeline) }
    for pipeline in pipelines { pipeline.distant = nil }
    namedMembers = distant.members
    return distant.references
  }

  private mutating func checkPipeline(_ pipeline: PipelineUse) {
    for variable in pipeline.inputs.environment where pipeline.says(variable) {
      var scope = scope(pipeline, .pipelineVariables)
      scope.variable = variable.name
      check(variable.value, in: scope)
    }
    if let directory = pipeline.model.workingDirectory {
      check(directory, in: scope(pipeline, .pipeline))
    }
    for (_, hooks) in pipeline.model.hooks {
      for hook in hooks { check(hook.command, in: scope(pipeline, .pipeline).inHook) }
    }
    checkEarlyValues(of: pipeline)
    for output in pipeline.model.outputs {
      check(
        output.member.value,
        in: scope(pipeline, .pipelineOutputs, matrix: pipeline.matrixTypesAround))
    }
    guard pipeline.model.needsChecks else { return }
    for step in pipeline.model.steps.indices { check(step, of: pipeline) }
  }

  private func scope(
    _ pipeline: PipelineUse, _ kind: ScopeKind, step: Int? = nil,
    matrix: ExpressionType.Members? = nil
  ) -> StepScope {
    StepScope(
      pipeline: pipeline, text: text, kind: kind, step: step, matrix: matrix,
      suggester: log.suggester)
  }

  private mutating func check(_ step: Int, of pipeline: PipelineUse) {
    let attributes = pipeline.model.steps[step].attributes
    let stepAttributes =
      attributes < 0 ? AttributesModel() : pipeline.model.attributes[Int(attributes)]
    let controlFlow = pipeline.controlFlow(of: step)
    let matrix = pipeline.matrixTypes(of: step)
    let isVarStep = pipeline.hasVarSteps && pipeline.model.isVarStep(step)
    let texts =
      isVarStep
      ? scope(pipeline, .derived) : scope(pipeline, .step, step: step, matrix: matrix)
    if let label = stepAttributes.label { check(label, in: texts) }
    let own =
      stepAttributes.settings < 0 ? [] : pipeline.model.settings[Int(stepAttributes.settings)]
    if !isVarStep { checkDefaults(of: pipeline, in: texts) }
    for setting in own { check(setting, in: texts) }
    switch pipeline.model.steps[step].action {
    case .written: break
    case .kept(let number): check(pipeline.model.actions[Int(number)], in: texts)
    case .uses(let number): check(.uses(pipeline.model.uses[Int(number)]), in: texts)
    }
    if stepAttributes.placement >= 0,
      case .template(let mutex)? = pipeline.model.placements[
        Int(stepAttributes.placement)
      ].mutex
    {
      check(.template(mutex), in: texts)
    }
    for value in earlyValues(stepAttributes, of: pipeline, isVarStep) { check(value, in: texts) }
    if let controlFlow { check(controlFlow, of: step, pipeline, matrix) }
  }

  /// Checks the defaults for a step: all of them for the first step, and for the others only those
  /// that name something of the step.
  private mutating func checkDefaults(of pipeline: PipelineUse, in scope: StepScope) {
    if let settings = pipeline.defaultsOfSteps {
      for setting in settings { check(setting, in: scope) }
      return
    }
    for setting in pipeline.model.defaultSettings { check(setting, in: scope) }
    pipeline.defaultsOfSteps = pipeline.model.defaultSettings.compactMap(\.ofSteps)
  }

  private mutating func check(
    _ controlFlow: ControlFlowModel, of step: Int, _ pipeline: PipelineUse,
    _ matrix: ExpressionType.Members?
  ) {
    if let condition = controlFlow.condition {
      let scope = scope(pipeline, .condition, step: step, matrix: matrix)
      checkOnce(condition, in: scope) { condition.checkCondition(in: scope, $0, log: &$1) }
    }
    if let model = controlFlow.matrix {
      let outer = pipeline.matrixTypesAround
      let scope = scope(pipeline, .matrix, step: step, matrix: outer)
      for axis in model.axes {
        check(axis.values, in: scope, wanted: .list)
      }
      for entries in [model.included, model.excluded] {
        if let entries { check(entries, in: scope, wanted: .list) }
      }
    }
    if let template = controlFlow.matrix?.earlyMaxParallel {
      let value = EarlyValue(key: .instances, span: template.origin.span, template: template)
      check(
        value,
        in: scope(pipeline, .early, step: step, matrix: pipeline.matrixTypesAround))
    }
    for probe in controlFlow.probes + controlFlow.readiness {
      check(probe.target, in: scope(pipeline, .step, step: step, matrix: matrix))
    }
  }

  // MARK: Values

  private mutating func check(_ value: Text, in scope: StepScope) {
    guard case .template(let template) = value else { return }
    template.forEachExpression { expression in
      let path = scope.path(of: expression)
      if let path, path == scope.pipeline.checkedPath { return }
      checkOnce(expression, in: scope) { expression.checkText(in: scope, $0, log: &$1) }
      if path != nil, log.isEmpty { scope.pipeline.checkedPath = path }
    }
  }

  /// Checks an item of a list of strings. A value that is valid there may be invalid in text.
  private mutating func check(item: Text, in scope: StepScope) {
    guard case .template(let template) = item, let single = template.single else {
      return check(item, in: scope)
    }
    let path = scope.path(of: single)
    if let path, path == scope.pipeline.checkedPath { return }
    let type = single.checkItem(in: scope, text, log: &log)
    let isText = !type.kinds.isDisjoint(with: .text)
    if isText, path != nil, log.isEmpty { scope.pipeline.checkedPath = path }
  }

  /// Checks an expression once. Steps often repeat one: if it is valid in one step it is valid in
  /// the next, unless it names something of the step itself.
  private mutating func checkOnce(
    _ expression: Expression, in scope: StepScope,
    _ check: (SourceText, inout DiagnosticLog) -> Void
  ) {
    let pipeline = scope.pipeline
    let isOfStep = scope.isOfStep(expression)
    if !isOfStep, let checked = pipeline.checked, checked.kind == scope.kind,
      checked.expression.isWritten(as: expression)
    {
      return
    }
    check(text, &log)
    if log.isEmpty, !isOfStep { pipeline.checked = (scope.kind, expression) }
  }

  private mutating func check(
    _ value: ValueModel, in scope: StepScope, wanted: ExpressionType.Kinds? = nil
  ) {
    switch value {
    case .constant: break
    case .template(let template):
      if let single = template.single {
        if let wanted {
          single.check(for: wanted, in: scope, text, log: &log)
        } else {
          single.check(in: scope, text, log: &log)
        }
      } else {
        template.checkText(in: scope, text, log: &log)
      }
    case .list(let items): for item in items { check(item, in: scope) }
    case .map(let members): for member in members { check(member.value, in: scope) }
    }
  }

  private mutating func check(_ command: CommandModel, in scope: StepScope) {
    switch command {
    case .script(let script): check(script, in: scope)
    case .arguments(let words): for word in words { check(item: word, in: scope) }
    case .uses(let uses):
      let inputs = StepScope(
        pipeline: scope.pipeline, text: text,
        kind: scope.step == nil ? .pipelineVariables : .stepVariables,
        step: scope.step, matrix: scope.matrix, suggester: log.suggester, isInHook: scope.isInHook)
      let params = uses.model.map { self.params(ofModel: $0) } ?? [:]
      for member in uses.with { check(member, for: params[member.name], in: inputs) }
      checkInputs(of: uses, KnownValues(inputs: scope.pipeline.inputs, options, budget))
    }
  }

  /// Checks that the inputs of a pipeline file have the types of its parameters; other names have
  /// already been reported.
  private mutating func check(
    _ member: MemberModel, for param: ParamModel?, in scope: StepScope
  ) {
    // A built-in step does not accept null.
    guard let param else {
      return check(member.value, in: scope, wanted: .all.subtracting(.null))
    }
    if case .template(let template) = member.value, template.single == nil, param.kind != .string {
      log.report(at: member.span) {
        PlanningMessage.textForInput(member.name, wanted: param.kind.words, at: $0)
      }
    }
    check(member.value, in: scope, wanted: param.type.kinds)
  }

  private mutating func check(_ setting: Setting, in scope: StepScope) {
    switch setting {
    case .environment(let variables):
      let variableScope = StepScope(
        pipeline: scope.pipeline, text: text, kind: .stepVariables, step: scope.step,
        matrix: scope.matrix, suggester: log.suggester, isInVariables: true)
      for variable in variables { check(variable.value, in: variableScope) }
    case .workingDirectory(let path), .baseDirectory(let path): check(path, in: scope)
    case .standardInput(let input): check(input, in: scope)
    case .cache(let model):
      for text in model.inputs + model.outputs + model.scratch { check(item: text, in: scope) }
    case .allowFailureIf(let condition): condition.checkCondition(in: scope, text, log: &log)
    case .hook(_, let hooks):
      for hook in hooks { check(hook.command, in: scope.inHook) }
    case .early(let value): check(value, in: scope)
    case .shell, .timeout, .retry, .allowFailure, .stop, .logLimit, .nice, .tty, .untrustedOutput,
      .orphans, .jobserver,
      .outputs, .executor, .slurm:
      break
    }
  }
}

// These are methods of a pipeline use, because a call would copy the planner for each step.
extension PipelineUse {
  /// The types of the members of its matrix and of those around it; nil if there is none.
  fileprivate func matrixTypes(of step: Int) -> ExpressionType.Members? {
    let own = controlFlow(of: step)?.matrix.map { $0.memberTypes }
    let outer = matrixTypesAround
    guard let own, let outer else { return own ?? outer }
    var types = OrderedMap<ExpressionType>()
    for (name, type) in zip(outer.names, outer.types) { types[name] = own.isOpen ? .any : type }
    for (name, type) in zip(own.names, own.types) { types[name] = type }
    return ExpressionType.Members(
      names: types.names, types: types.values, isOpen: own.isOpen || outer.isOpen)
  }

  fileprivate var matrixTypesAround: ExpressionType.Members? {
    guard let (use, step) = around else { return nil }
    if let known = outerMatrix { return known }
    let types = use.matrixTypes(of: step)
    outerMatrix = .some(types)
    return types
  }
}

extension MatrixModel {
  /// The types of the members of a matrix, as far as they are written.
  var memberTypes: ExpressionType.Members {
    var types = OrderedMap<ExpressionType>()
    for axis in axes { types[axis.name] = axis.itemType }
    let entries = included?.entries ?? []
    var counts: [String: Int] = [:]
    for entry in entries {
      for member in entry {
        let type = member.value.constant.map { ExpressionType(of: $0) } ?? .any
        types[member.name] = types[member.name]?.union(type) ?? type
        counts[member.name, default: 0] += 1
      }
    }
    // Without axes each entry is an instance, so a member that all of them have is never missing.
    let instanceCount =
      axes.isEmpty && included?.isOfMaps == true ? entries.count : nil
    let names = Set(axes.map(\.name))
    for name in types.names where !names.contains(name) && counts[name] != instanceCount {
      types[name] = types[name]?.optional
    }
    let isWritten = included.map { $0.isWrittenOut } ?? true
    return ExpressionType.Members(
      names: types.names, types: isWritten ? types.values : types.names.map { _ in .any },
      isOpen: !isWritten)
  }
}

extension Setting {
  /// The setting without the variables that are valid in all steps or in none; nil if nothing is left.
  fileprivate var ofSteps: Setting? {
    if case .early = self { return self }
    guard case .environment(let variables) = self else {
      return expressions.contains { $0.isOfStep || $0.uses(.env) } ? self : nil
    }
    let rest = variables.filter { variable in
      variable.value.template?.expressions.contains(where: \.isOfStep) == true
    }
    return rest.isEmpty ? nil : .environment(rest)
  }
}

extension AxisModel {
  fileprivate var itemType: ExpressionType {
    guard case .list(let items) = values else { return .any }
    let types = items.prefix(64).map { $0.constant.map { ExpressionType(of: $0) } ?? .any }
    guard items.count <= 64, let first = types.first else { return .any }
    return types.dropFirst().reduce(first) { $0.union($1) }
  }
}

extension ValueModel {
  fileprivate var isWrittenOut: Bool { if case .list = self { true } else { false } }

  fileprivate var isOfMaps: Bool {
    guard case .list(let items) = self else { return false }
    return items.allSatisfy { if case .map = $0 { true } else { false } }
  }

  fileprivate var entries: [[MemberModel]] {
    guard case .list(let items) = self else { return [] }
    return items.compactMap { if case .map(let members) = $0 { members } else { nil } }
  }
}

extension PipelineModel {
  /// True if a step may contain an expression, or inputs: most files have none.
  fileprivate var needsChecks: Bool {
    !controlFlows.isEmpty || !uses.isEmpty || actions.contains { !$0.templates.isEmpty }
      || (settings + [defaultSettings]).contains {
        $0.contains { $0.hasExpression || $0.usesSteps }
      }
      || attributes.contains { $0.label?.template != nil }
      || (placements + [defaultPlacement]).contains(where: \.hasExpression)
  }
}

extension Setting {
  /// True for a hook with a built-in step.
  fileprivate var usesSteps: Bool {
    guard case .hook(_, let hooks) = self else { return false }
    return hooks.contains { if case .uses = $0.command { true } else { false } }
  }

  var hasExpression: Bool {
    switch self {
    case .environment(let variables): variables.contains { $0.value.template != nil }
    case .workingDirectory(let text), .baseDirectory(let text), .standardInput(let text):
      text.template != nil
    case .allowFailureIf, .early: true
    case .hook(_, let hooks): hooks.contains { !$0.command.templates.isEmpty }
    case .cache(let model): model.hasTemplates
    case .shell, .timeout, .retry, .allowFailure, .stop, .logLimit, .nice, .tty, .untrustedOutput,
      .orphans, .jobserver,
      .outputs, .executor, .slurm:
      false
    }
  }
}
