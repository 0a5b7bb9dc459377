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

  /// The reason in a few words; `name` gives the name of an operation.
  package func words(_ name: (OperationID) -> String) -> String {
    switch self {
    case .signal(let number): signalName(number)
    case .failure(let operation): "'\(name(operation))' failed"
    case .runTimeout: "the run's time limit"
    case .groupTimeout(let group): "the time limit of '\(name(group))'"
    case .noWidth: "max_parallel is 0"
    case .suspended: "its queue is suspended and nothing resumes it"
    case .request(let user): Self.request + user
    case .stateFailure(let reason): reason
    case .died: "oprun died"
    }
  }
}
