// What a run was asked to do: enough to ask for the same again.

import Diagnostics
import Expressions
package import Plans

/// A run as it was asked for.
package struct RunRequest: Hashable, Sendable {
  /// The pipeline file as it was named; nil for standard input.
  package var file: String?
  /// The directory in which it runs, as in `PipelinePlace`.
  package var workspace: String?
  /// The word of the submission that it is part of (`oprun submit`).
  package var submission: String?
  package var parameters: [ParameterArgument]
  /// The parameters whose values held a secret, and were not kept.
  package var secretParameters: [String] = []
  /// The steps that were named.
  package var steps: [String]
  /// The width of the default queue, if it was given (`-j`).
  package var jobs: Int?
  /// Where steps run, if it was given (`--executor`).
  package var executor: StepExecutor?

  package init(
    file: String?, parameters: [ParameterArgument], steps: [String], jobs: Int? = nil,
    executor: StepExecutor? = nil
  ) {
    self.executor = executor
    self.file = file
    self.parameters = parameters
    self.steps = steps
    self.jobs = jobs
  }

  /// The pipeline; nil for one from standard input.
  package var place: PipelinePlace? {
    file.map { PipelinePlace(file: $0, workspace: workspace) }
  }

  /// The request as JSON; `isSecret` says which values must not be kept.
  func json(_ isSecret: (String) -> Bool) -> String {
    let given = parameters.map { parameter in
      (parameter.name, isSecret(parameter.value) ? Value.null : .string(parameter.value))
    }
    let steps = Value.list(steps.map { .string($0) })
    var request = ValueMap([("params", .map(ValueMap(given))), ("steps", steps)])
    if let jobs { request["jobs"] = .number(Double(jobs)) }
    if let executor { request["executor"] = .string(executor.rawValue) }
    return Value.map(request).json
  }

  init(
    file: String?, workspace: String? = nil, submission: String? = nil, json: String
  ) {
    self.init(file: file, parameters: [], steps: [])
    self.workspace = workspace
    self.submission = submission
    guard case .map(let map)? = try? JSONReader.value(of: json) else { return }
    if case .number(let number)? = map["jobs"] { jobs = Int(exactly: number) }
    executor = map["executor"]?.text.flatMap { StepExecutor(rawValue: $0) }
    if case .list(let names)? = map["steps"] { steps = names.compactMap(\.text) }
    guard case .map(let given)? = map["params"] else { return }
    for (name, value) in zip(given.names, given.values) {
      if let text = value.text {
        parameters.append(ParameterArgument(name: name, value: text))
      } else {
        secretParameters.append(name)
      }
    }
  }
}
