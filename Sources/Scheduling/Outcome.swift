// How operations end, and which outcomes satisfy an edge. These are the outcome tables of the
// pipeline format, as code.

/// How an operation ended.
package enum Outcome: UInt8, CaseIterable, Sendable {
  case succeeded
  /// Up to date or restored from the cache: nothing ran.
  case cached
  case failed
  case timedOut
  case cancelled
  /// Its own condition was false, or its matrix was empty.
  case skipped
  /// An edge can no longer be satisfied.
  case blocked
}

/// An outcome, together with whether a failure is allowed, so that the run stays green and
/// dependents run.
package struct Ending: Hashable, Sendable {
  package let outcome: Outcome
  /// True only with `failed` and `timedOut`.
  package let isAllowed: Bool

  package init(_ outcome: Outcome, isAllowed: Bool = false) {
    self.outcome = outcome
    self.isAllowed = isAllowed && outcome.isFailure
  }
}

/// What a dependent waits for: the `when` of `depends_on`.
package enum EdgeCondition: UInt8, CaseIterable, Sendable {
  /// Succeeded, cached, skipped or failed but allowed: the default.
  case ok
  /// Succeeded or cached.
  case succeeded
  /// Failed or timed out, allowed or not.
  case failed
  /// Any outcome.
  case done
  /// A service is ready, or has ended in a way that satisfies `ok`.
  case ready
  /// A service is ready, or has ended in any way.
  case readyOrDone
}

/// What happens to the rest of the graph after a failure that is not allowed.
package enum FailurePolicy: UInt8, CaseIterable, Sendable {
  /// Everything that is not downstream continues.
  case `continue`
  /// Nothing new starts; running operations continue.
  case stop
  /// Nothing new starts, and running operations are cancelled.
  case cancel
}

extension Outcome {
  /// True for the outcomes that are the operation's own fault: failed and timed out.
  package var isFailure: Bool { self == .failed || self == .timedOut }
}

extension EdgeCondition {
  /// Whether an operation that ended like this lets a dependent run.
  package func isSatisfied(by ending: Ending) -> Bool {
    switch (self, ending.outcome) {
    case (.done, _), (.readyOrDone, _): true
    case (.ok, .succeeded), (.ok, .cached), (.ok, .skipped): true
    case (.ok, .failed), (.ok, .timedOut): ending.isAllowed
    case (.ready, _): EdgeCondition.ok.isSatisfied(by: ending)
    case (.succeeded, .succeeded), (.succeeded, .cached): true
    case (.failed, .failed), (.failed, .timedOut): true
    case (.ok, .cancelled), (.ok, .blocked): false
    case (.succeeded, .failed), (.succeeded, .timedOut), (.succeeded, .cancelled),
      (.succeeded, .skipped), (.succeeded, .blocked):
      false
    case (.failed, .succeeded), (.failed, .cached), (.failed, .cancelled), (.failed, .skipped),
      (.failed, .blocked):
      false
    }
  }

  /// Whether a service that is ready satisfies it, and goes on as long as the dependent has not ended.
  package var waitsForReadiness: Bool { self == .ready || self == .readyOrDone }
}

/// The completion hooks of a step or a run.
package enum HookKind: UInt8, CaseIterable, Sendable {
  case onSuccess, onFailure, onCancel, onComplete
}

/// Why an operation has its outcome, apart from how its own command ended.
package enum Cause: Hashable, Sendable {
  /// The operation's own command or hooks.
  case itself
  /// The operation where the problem began, not merely the nearest one.
  case dependency(OperationID)
  /// Its `if` was false, or its matrix is empty, as described by the string.
  case condition(String)
  /// A condition of `wait_for` was not met in time, as described by the string.
  case wait(String)
  /// The run was stopped before it could start, or while it ran.
  case stopped(StopReason)
  /// A service ended before its time: in words.
  case service(String)
  /// A service was not ready in time, or gave what cannot be used: in words.
  case notReady(String)
  /// A hook failed after the command had succeeded.
  case hook(HookKind)
}

/// Why a run ends early.
package enum StopReason: Hashable, Sendable {
  case signal(Int32)
  /// `failure_policy` or `--fail-fast` applied after this operation failed.
  case failure(OperationID)
  case runTimeout
  /// The run has `max_parallel: 0`.
  case noWidth
  /// Everything that is left is in queues that are suspended, and nothing resumes them.
  case suspended
  /// The state directory cannot be written; the string has the call and the error.
  case stateFailure(String)
}

extension HookKind {
  package var key: String { "\(keyText)" }

  /// The key in the file: `on_success`.
  package var keyText: StaticString {
    switch self {
    case .onSuccess: "on_success"
    case .onFailure: "on_failure"
    case .onCancel: "on_cancel"
    case .onComplete: "on_complete"
    }
  }
}
