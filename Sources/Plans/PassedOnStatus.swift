// The exit status of one step's command, with which oprun exits instead of its own
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

extension RunEnd {
  /// True if anything but the failure of a step ended the run before everything had run.
  package var wasStopped: Bool {
    switch stopReason {
    case nil, .failure, .noOutputs: false
    case .signal, .request, .runTimeout, .groupTimeout, .noWidth, .suspended, .stateFailure, .left,
      .overtaken, .died:
      true
    }
  }
}

extension RunEnd {
  /// True if jobs of the run go on elsewhere.
  package var wasLeft: Bool { stopReason == .left }

  /// True if the run was left because that was wanted from the start, and not because of a signal.
  package var isDetached: Bool { wasLeft && exitStatus < 128 }
}

extension CommandEnd {
  /// The status as a shell would report it; 1 if there is none, or if the command failed although it is 0.
  package var shellStatus: Int32 {
    let code = status.exitCode ?? 1
    return code == 0 && !isSuccess ? 1 : code
  }
}
