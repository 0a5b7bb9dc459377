// The exit status of one step's command, with which oprun exits in place of its own
// (`--exit-code-from`).

package import Scheduling

package struct PassedOnStatus: Hashable, Sendable {
  package let status: Int32
  package let step: OperationID

  package init(_ status: Int32, of step: OperationID) {
    self.status = status
    self.step = step
  }
}

extension CommandEnd {
  /// The status as a shell would report it: 128 plus the number of the signal.
  package var shellStatus: Int32 {
    switch status {
    case .exited(let status): status
    case .signalled(let signal): 128 + signal
    case .notStarted(_, let status): status
    case .outputsRefused, .abandoned, .lost: 1
    }
  }
}
