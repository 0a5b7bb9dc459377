// The words for why a run is stopped.

import Diagnostics
package import Scheduling

extension StopReason {
  /// Reads the user's request from these words; nil if they are about something else.
  package init?(requestIn words: String) {
    guard words.hasPrefix(Self.request) else { return nil }
    self = .request(String(words.dropFirst(Self.request.count)))
  }

  private static let request = "cancelled by "

  /// The operation that these words name as the reason, because it failed or exceeded its time
  /// limit; nil if they name none.
  package static func culprit(in words: some StringProtocol) -> String? {
    for (start, end) in [(limit, "'"), ("'", failure)]
    where words.hasPrefix(start) && words.hasSuffix(end) {
      return String(words.dropFirst(start.count).dropLast(end.count))
    }
    return nil
  }

  /// The words that are recorded for a run that was left, and for its steps.
  package static let leftWords = "jobs continue in Slurm"

  private static let outputWords = "its outputs cannot be made"

  /// True if these words alone say how a run ended, because nothing was stopped.
  package static func isWhole(_ words: String) -> Bool {
    words == leftWords || words == outputWords
  }

  private static let limit = "the time limit of '"
  private static let failure = "' failed"

  /// The reason in a few words; `name` gives the name of an operation.
  package func words(_ name: (OperationID) -> String) -> String {
    switch self {
    case .signal(let number): signalName(number)
    case .failure(let operation): "'\(name(operation))\(Self.failure)"
    case .runTimeout: "the run's time limit"
    case .groupTimeout(let group): "\(Self.limit)\(name(group))'"
    case .noWidth: "max_parallel is 0"
    case .suspended: "its queue is suspended and nothing resumes it"
    case .left: Self.leftWords
    case .noOutputs: Self.outputWords
    case .request(let user): Self.request + user
    case .stateFailure(let reason), .overtaken(let reason): reason
    case .died: "oprun died"
    }
  }
}
