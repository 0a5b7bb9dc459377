// What hooks are called in the file.

package import Scheduling

extension HookKind {
  /// The key in the file: `on_success`.
  package var key: String {
    switch self {
    case .onSuccess: "on_success"
    case .onFailure: "on_failure"
    case .onCancel: "on_cancel"
    case .onComplete: "on_complete"
    }
  }
}
