// The words for what steps did.

package import Scheduling

extension Outcome {
  /// The past tense: `failed`, `was blocked`.
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
