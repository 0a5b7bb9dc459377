// Reads the inputs of a pipeline: parameters, and variables from files and from `env`.

import Diagnostics
import Expressions
import Plans

extension PipelineInputs {
  /// Makes inputs without values.
  init(_ budget: PlanBudget) { self.budget = budget }

  /// Makes inputs with only types; the values come from the command line, or from the step that
  /// uses the pipeline.
  init(_ model: PipelineModel, options: PlanningOptions, _ budget: PlanBudget) {
    self.budget = budget
    secretVariables = options.secretVariables
    isForRun = options.demandsAllParameters
    if options.demandsAllParameters { inherited = options.inherited }
    for param in model.params { paramTypes[param.name] = param.type }
    restParam = model.params.first(where: \.takesRest)?.name
  }

  /// Makes the inputs of a pipeline inside a file: those of the file, and its own parameters, which
  /// hide the former.
  init(_ model: PipelineModel, in file: PipelineInputs) {
    self = file
    if let name = restParam, model.params.contains(where: { $0.name == name }) { restParam = nil }
    restParam = model.params.first(where: \.takesRest)?.name ?? restParam
    for param in model.params {
      paramTypes[param.name] = param.type
      params[param.name] = nil
      lateParams[param.name] = nil
      secretParams.remove(param.name)
    }
  }

  /// Makes the inputs of the root pipeline. Faults of the given values are added to `faults`.
  init(
    root model: PipelineModel, options: PlanningOptions, log: inout DiagnosticLog,
    faults: inout ParameterFaults
  ) {
    self.init(model, options: options, PlanBudget())
    let parameters = Parameters(model.params, options)
    params = parameters.values
    faults = parameters.faults
    addVariables(of: model, options: options, log: &log)
  }

  /// Adds variables: first those of files, then `env`, where each can use the earlier ones; `vars`
  /// can use all of them. `number` is that of the pipeline use.
  mutating func addVariables(
    of model: PipelineModel, number: Int = 0, options: PlanningOptions, log: inout DiagnosticLog
  ) {
    for variable in model.fileVariables { add(variable) }
    guard !model.vars.isEmpty else {
      for variable in model.environment { add(variable, options) }
      return
    }
    let order = DerivationOrder(model)
    for cycle in order.cycles { log.report(cycle.message) }
    let values = DerivedValues(
      model.vars, of: number, in: derived, hasCycle: !order.cycles.isEmpty)
    derived = values
    for item in order.items {
      switch item {
      case .variable(let index): add(model.environment[index], options)
      case .derived(let index): add(model.vars[index], index, to: values, options)
      }
    }
  }

  private mutating func add(_ variable: VariableModel, _ options: PlanningOptions) {
    let folded = fold(variable.value, options)
    add(VariableModel(name: variable.name, span: variable.span, value: folded))
  }

  private func add(
    _ model: VarModel, _ index: Int, to values: DerivedValues, _ options: PlanningOptions
  ) {
    guard case .value(let value) = model.source else {
      if let step = model.step { values.add(command: model, index, step: step) }
      return
    }
    let folded: Result<ValueModel, EvaluationFailure>
    do throws(EvaluationFailure) {
      folded = .success(try fold(value, options))
    } catch {
      folded = .failure(error)
    }
    values.add(model, index, folded, isOpen: isOpen)
  }

  private func fold(
    _ value: ValueModel, _ options: PlanningOptions
  ) throws(EvaluationFailure) -> ValueModel {
    let folded = try KnownValues(inputs: self, options, budget).fold(value)
    if let known = folded.constant, !budget.values.allows(keeping: known),
      let expression = value.templates.first?.expressions.first
    {
      throw EvaluationFailure(
        PlanningMessage.tooMuchText, in: expression, at: expression.range(of: expression.root))
    }
    return folded
  }

  /// Folds a value. It is a separate function so that `add` does not find a second owner of the
  /// variables and copy them all.
  private func fold(_ value: Text, _ options: PlanningOptions) -> Text {
    (try? KnownValues(inputs: self, options, budget).fold(value)) ?? value
  }
}
