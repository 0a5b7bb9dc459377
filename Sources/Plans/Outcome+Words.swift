// What steps did, in words.

package import Scheduling

extension Outcome {
  /// What a step with this outcome did: `failed`, `was blocked`.
  package var pastTense: String {
    switch self {
    case .succeeded: "succeeded"
    case .cached: "was up to date"
    case .failed: "failed"
    case .timedOut: "timed out"
    case .cancelled: "was cancelled"
    case .skipped: "was skipped"
    case .blocked: "was blocked"
    }
  }
}
