// `oprun run FILE --help`: the parameters of a pipeline.

import Diagnostics
import Execution
import Pipelines
import Plans
import Reporting

extension Tool {
  /// Writes the parameters of a pipeline; returns the exit status. A pipeline that cannot be read
  /// has none to list.
  func writeParameters(of file: String) -> Int32 {
    var options = PlanningOptions()
    setSurroundings(of: &options)
    options.demandsAllParameters = false
    switch plan(file, options) {
    case .failure(let exit): return exit.status
    case .success(let plan):
      output.write("\n")
      output.write(parameterHelp(plan.parameters, of: file))
      return ExitStatus.success
    }
  }
}

/// The help text: `  width  int, default 300: how wide the pictures are`.
func parameterHelp(_ parameters: [ParameterDescription], of file: String) -> String {
  if parameters.isEmpty { return "\(pathAtLineStart(file)) takes no parameters\n" }
  return "parameters of \(oneLine(file)), set with --param NAME=VALUE or OPRUN_PARAM_<NAME>:\n"
    + twoColumns(parameters.map { ($0.name, summary(of: $0)) })
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
  let facts = parts.joined(separator: ", ")
  return joinedLines(parameter.description.map { "\(facts): \($0)" } ?? facts)
}
