// `oprun run FILE --help`: the purpose of a pipeline and of its steps, and the parameters.

import Diagnostics
import Execution
import Pipelines
import Plans
import Reporting
import Scheduling

extension Tool {
  /// Writes the parameters of a pipeline; returns the exit status. A pipeline that cannot be read
  /// has none to list.
  func writeParameters(of file: String) -> Int32 {
    var options = PlanningOptions()
    setSurroundings(of: &options)
    options.demandsAllParameters = false
    options.showsEveryStep = true
    switch plan(file, options) {
    case .failure(let exit): return exit.status
    case .success(let plan):
      output.write("\n")
      if let description = plan.description {
        output.write("\(pathAtLineStart(file)): \(joinedLines(description))\n\n")
      }
      output.write(parameterHelp(plan.parameters, of: file))
      output.write(stepHelp(plan, of: file))
      return ExitStatus.success
    }
  }
}

/// The help text: `  width  int, default 300: how wide the images are`.
func parameterHelp(_ parameters: [ParameterDescription], of file: String) -> String {
  if parameters.isEmpty { return "\(pathAtLineStart(file)) takes no parameters\n" }
  return "parameters of \(oneLine(file)), set with --param NAME=VALUE or OPRUN_PARAM_<NAME>:\n"
    + twoColumns(parameters.map { ($0.name, summary(of: $0)) })
}

/// The steps that have a description, in file order.
private func stepHelp(_ plan: Plan, of file: String) -> String {
  let described = plan.remarks.filter { $0.value.description != nil }.keys
    .sorted { $0.index < $1.index }
  if described.isEmpty { return "" }
  return "\nsteps of \(oneLine(file)):\n"
    + twoColumns(described.map { (plan.steps[$0.index].id, plan.title(of: $0) ?? "") })
}

private func summary(of parameter: ParameterDescription) -> String {
  var parts = [parameter.type]
  if !parameter.choices.isEmpty {
    parts.append("one of \(parameter.choices.joined(separator: ", "))")
  }
  if let value = parameter.defaultValue {
    parts.append("default \(value.isEmpty ? "''" : value)")
  } else if parameter.isRequired {
    parts.append("required")
  }
  if parameter.takesRest { parts.append("the arguments after --") }
  let facts = parts.joined(separator: ", ")
  return joinedLines(parameter.description.map { "\(facts): \($0)" } ?? facts)
}
