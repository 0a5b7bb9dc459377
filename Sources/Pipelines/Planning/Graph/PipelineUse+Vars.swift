// The `vars` that a step names, anywhere in it.

import Expressions
import Plans

extension PipelineUse {
  /// The `vars` that a step names and that are not known before the run. The settings of a step
  /// that uses a pipeline count for the steps of that pipeline.
  func lateVars(of step: Int) -> [LateVarNumber] {
    guard let derived = inputs.derived, derived.hasLate else { return [] }
    if model.isVarStep(step) { return lateVars(in: expressionsOfCommands + expressions(of: step)) }
    let own = lateVars(in: expressions(of: step))
    return usesPipeline(step) || sharedLateVars.isEmpty
      ? own : Set(own + sharedLateVars).sorted()
  }

  /// The steps that run commands of `vars` which a step needs.
  func commandsNeeded(by step: Int) -> [StepAddress] {
    mayNeedCommands ? commands(of: lateVars(of: step)) : []
  }

  /// The steps that run commands of `vars` which the whole pipeline needs, for its outputs and the
  /// hooks of a run.
  var commandsNeededAtEnd: [StepAddress] { mayNeedCommands ? commands(of: lateVarsAtEnd) : [] }

  private func commands(of numbers: [LateVarNumber]) -> [StepAddress] {
    guard let derived = inputs.derived else { return [] }
    return Set(numbers + numbers.flatMap { derived[$0].others }).sorted().compactMap { number in
      guard case .command(let step) = derived[number].source else { return nil }
      return StepAddress(pipeline: number.pipeline, step: step)
    }
  }

  /// The variables for a command of `vars`: those of `env` at top level that need no command.
  var environmentOfCommands: [VariableModel] {
    inputs.environment.filter { variable in
      variable.giver >= 0
        || !(variable.value.template?.expressions ?? []).contains(where: needsCommand)
    }
  }

  private func needsCommand(_ expression: Expression) -> Bool {
    expression.references.contains { reference in
      reference.root == .vars
        && reference.member.flatMap { inputs.derived?.lateValue($0) }?.needsCommand == true
    }
  }

  private var expressionsOfCommands: [Expression] {
    // A directory that needs a command is reported elsewhere.
    environmentOfCommands.flatMap(\.ownExpressions)
      + directoryExpressions.filter { !needsCommand($0) }
  }

  /// The `vars` that the outputs and hooks of the pipeline need.
  var lateVarsAtEnd: [LateVarNumber] {
    guard let derived = inputs.derived, derived.hasLate else { return [] }
    let outputs = model.outputs.flatMap { $0.member.value.templates.flatMap(\.expressions) }
    guard !model.hooks.isEmpty else { return lateVars(in: outputs) }
    let hooks = model.hooks.values.flatMap { $0 }.flatMap(\.command.templates)
    return lateVars(
      in: outputs + hooks.flatMap(\.expressions)
        + inputs.environment.flatMap(\.ownExpressions) + directoryExpressions)
  }

  func lateVars(in expressions: [Expression]) -> [LateVarNumber] {
    let names = expressions.flatMap(\.references).compactMap { reference in
      reference.root == .vars ? reference.member : nil
    }
    return Set(names.compactMap { inputs.derived?.lateNumber($0) }).sorted()
  }

  private func usesPipeline(_ step: Int) -> Bool {
    guard case .uses(let number) = model.steps[step].action else { return false }
    return model.uses[Int(number)].kind.isPipeline
  }

  /// The expressions that apply to every step.
  var sharedExpressions: [Expression] {
    inputs.environment.flatMap(\.ownExpressions)
      + directoryExpressions
      + model.defaultSettings.flatMap(\.expressions)
      + (model.defaultPlacement.mutex?.template?.expressions ?? [])
  }

  private var directoryExpressions: [Expression] {
    surroundings.directories.filter { $0.giver < 0 }.flatMap { $0.text.template?.expressions ?? [] }
  }

  private func expressions(of step: Int) -> [Expression] {
    var found = actionTemplates(of: step).flatMap(\.expressions)
    let number = model.steps[step].attributes
    guard number >= 0 else { return found }
    let attributes = model.attributes[Int(number)]
    found += attributes.label?.template?.expressions ?? []
    if attributes.settings >= 0 {
      found += model.settings[Int(attributes.settings)].flatMap(\.expressions)
    }
    if attributes.placement >= 0 {
      found += model.placements[Int(attributes.placement)].mutex?.template?.expressions ?? []
    }
    if let controlFlow = controlFlow(of: step) { found += controlFlow.expressions }
    return found
  }

  private func actionTemplates(of step: Int) -> [Template] {
    switch model.steps[step].action {
    case .written: []
    case .kept(let number): model.actions[Int(number)].templates
    case .uses(let number): CommandModel.uses(model.uses[Int(number)]).templates
    }
  }
}

extension VariableModel {
  /// The expressions in the value, unless it was given by an enclosing step, whose dependencies are inherited.
  fileprivate var ownExpressions: [Expression] {
    giver < 0 ? value.template?.expressions ?? [] : []
  }
}

extension Setting {
  var expressions: [Expression] {
    switch self {
    case .environment(let variables): variables.flatMap { $0.value.template?.expressions ?? [] }
    case .workingDirectory(let text), .baseDirectory(let text), .standardInput(let text):
      text.template?.expressions ?? []
    case .allowFailureIf(let condition): [condition]
    case .hook(_, let hooks): hooks.flatMap(\.command.templates).flatMap(\.expressions)
    case .cache(let model): model.templates.flatMap(\.expressions)
    // The value is known before the run, so it needs no command.
    case .early: []
    case .shell, .timeout, .retry, .allowFailure, .stop, .logLimit, .nice, .tty, .untrustedOutput,
      .orphans, .jobserver, .outputs, .executor, .slurm:
      []
    }
  }
}

extension ControlFlowModel {
  fileprivate var expressions: [Expression] {
    var templates = (probes + readiness).flatMap(\.target.templates)
    if let matrix {
      templates += matrix.axes.flatMap(\.values.templates)
      templates += [matrix.included, matrix.excluded].flatMap { $0?.templates ?? [] }
    }
    return templates.flatMap(\.expressions) + (condition.map { [$0] } ?? [])
  }
}
