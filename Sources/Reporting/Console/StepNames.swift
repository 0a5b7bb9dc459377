// What operations are called, and where their logs are.

import Pipelines
import Scheduling

/// One command's output: an attempt of a step, or one of its hooks.
struct Stream: Hashable {
  let operation: OperationID
  let trial: Trial
}

/// Names for operations, their streams and logs.
struct StepNames {
  let steps: [PlannedStep]
  let directory: RunDirectory

  subscript(operation: OperationID) -> String {
    steps.indices.contains(operation.index)
      ? steps[operation.index].id : "the run"
  }

  func log(of stream: Stream) -> String {
    let step =
      steps.indices.contains(stream.operation.index)
      ? steps[stream.operation.index].id : RunDirectory.runHookName
    return directory.log(of: step, stream.trial)
  }

  /// `unit`, `unit (attempt 2)`, `unit (on_failure)`.
  func title(of stream: Stream) -> String {
    switch stream.trial {
    case .attempt(1): self[stream.operation]
    case .attempt(let number): "\(self[stream.operation]) (attempt \(number))"
    case .hook(let kind, _): "\(self[stream.operation]) (\(kind.key))"
    case .probe: "\(self[stream.operation]) (wait_for)"
    }
  }
}
