// The words for why a run is stopped, for people. The database has texts of its own (`RecordedStop` in `State`).

import Diagnostics
package import Scheduling

extension StopReason {
  /// The words for a run that was left, and for its steps.
  package static let leftWords = "jobs continue in Slurm"

  private static let outputWords = "its outputs cannot be made"

  /// True if these words alone say how a run ended, because nothing was stopped.
  package static func isWhole(_ words: String) -> Bool {
    words == leftWords || words == outputWords
  }

  /// The reason in a few words; `name` gives the name of an operation.
  package func words(_ name: (OperationID) -> String) -> String {
    switch self {
    case .signal(let number): signalName(number)
    case .failure(let operation): "'\(name(operation))' failed"
    case .runTimeout: "the run's time limit"
    case .groupTimeout(let group): "the time limit of '\(name(group))'"
    case .noWidth: "max_parallel is 0"
    case .suspended: "its queue is suspended and nothing resumes it"
    case .left: Self.leftWords
    case .noOutputs: Self.outputWords
    case .request(let user): "cancelled by \(user)"
    case .stateFailure(let reason), .overtaken(let reason): reason
    case .died: "oprun died"
    }
  }
}
