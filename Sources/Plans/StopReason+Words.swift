// Why a run is stopped, for people.

import Diagnostics
package import Scheduling

extension StopReason {
  /// The request of the user that these words name; nil if they name none.
  package init?(requestIn words: String) {
    guard words.hasPrefix(Self.request) else { return nil }
    self = .request(String(words.dropFirst(Self.request.count)))
  }

  private static let request = "cancelled by "

  /// The operation that these words give as the reason, because it failed or its time limit was over; nil if they name
  /// none.
  package static func culprit(in words: some StringProtocol) -> String? {
    for (start, end) in [(limit, "'"), ("'", failure)]
    where words.hasPrefix(start) && words.hasSuffix(end) {
      return String(words.dropFirst(start.count).dropLast(end.count))
    }
    return nil
  }

  /// What is recorded of a run that was left, and of its steps.
  package static let leftWords = "jobs continue in Slurm"

  private static let outputWords = "its outputs cannot be made"

  /// Whether these words say by themselves how a run ended: nothing was stopped.
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
