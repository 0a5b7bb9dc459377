// What a pipeline is given: parameters, and variables from files and from `env`.

import Diagnostics
import Expressions
import Plans

extension PipelineInputs {
  /// Nothing is given.
  init(_ budget: PlanBudget) { self.budget = budget }

  /// Types only; the values come from the command line, or from the using step.
  init(_ model: PipelineModel, options: PlanningOptions, _ budget: PlanBudget) {
    self.budget = budget
    secretVariables = options.secretVariables
    isForRun = options.demandsAllParameters
    if options.demandsAllParameters { undecodable = options.undecodable }
    for param in model.params { paramTypes[param.name] = param.type }
  }

  /// Of a pipeline inside a file: what the file has, and its own parameters, which hide the file's.
  init(_ model: PipelineModel, in file: PipelineInputs) {
    self = file
    for param in model.params {
      paramTypes[param.name] = param.type
      params[param.name] = nil
      lateParams[param.name] = nil
      secretParams.remove(param.name)
    }
  }

  /// Of the root pipeline. What is wrong with what was given is in `faults`.
  init(
    root model: PipelineModel, options: PlanningOptions, log: inout DiagnosticLog,
    faults: inout ParameterFaults
  ) {
    self.init(model, options: options, PlanBudget())
    let parameters = Parameters(
      model.params, arguments: options.parameters, environment: options.environment,
      undecodable: options.undecodable, demandsAll: options.demandsAllParameters)
    params = parameters.values
    faults = parameters.faults
    addVariables(of: model, options: options, log: &log)
  }

  /// Files first, then `env`; each sees those before it.
  mutating func addVariables(
    of model: PipelineModel, options: PlanningOptions, log: inout DiagnosticLog
  ) {
    for variable in model.fileVariables { add(variable) }
    for variable in model.environment {
      let folded = fold(variable.value, options)
      add(VariableModel(name: variable.name, span: variable.span, value: folded))
    }
  }

  /// On its own, so that `add` does not find a second owner of the variables and copy them all.
  private func fold(_ value: Text, _ options: PlanningOptions) -> Text {
    (try? KnownValues(inputs: self, options, budget).fold(value)) ?? value
  }
}
