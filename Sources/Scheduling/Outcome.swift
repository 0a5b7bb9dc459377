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
  /// The operation's own condition was false, its matrix was empty, or an edge cannot be satisfied
  /// because nothing went wrong.
  case skipped
  /// An edge cannot be satisfied because something failed, was cancelled or was blocked.
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

extension FailurePolicy {
  /// The word in files and on the command line.
  package var word: String {
    switch self {
    case .continue: "continue"
    case .stop: "stop"
    case .cancel: "cancel"
    }
  }
}

extension Outcome {
  /// True for the outcomes that are the operation's own fault: failed and timed out.
  package var isFailure: Bool { self == .failed || self == .timedOut }
}

/// What the end of an operation means for a dependent.
package enum EdgeEffect: UInt8, CaseIterable, Sendable {
  /// The edge lets the dependent run.
  case runs
  /// The dependent is not needed, because nothing went wrong: it is skipped, unless another edge
  /// blocks it.
  case skips
  /// The dependent cannot run, because something went wrong.
  case blocks
}

extension EdgeCondition {
  /// The effect on a dependent of an operation that ended like this.
  package func effect(of ending: Ending) -> EdgeEffect {
    switch (self, ending.outcome) {
    case (.done, _), (.readyOrDone, _): .runs
    case (.ready, _): EdgeCondition.ok.effect(of: ending)
    case (.ok, .succeeded), (.ok, .cached), (.ok, .skipped): .runs
    case (.ok, .failed), (.ok, .timedOut): ending.isAllowed ? .runs : .blocks
    case (.succeeded, .succeeded), (.succeeded, .cached): .runs
    case (.failed, .failed), (.failed, .timedOut): .runs
    case (.succeeded, .skipped): .skips
    case (.failed, .succeeded), (.failed, .cached), (.failed, .skipped): .skips
    case (.succeeded, .failed), (.succeeded, .timedOut): .blocks
    case (.ok, .cancelled), (.succeeded, .cancelled), (.failed, .cancelled): .blocks
    case (.ok, .blocked), (.succeeded, .blocked), (.failed, .blocked): .blocks
    }
  }

  package func isSatisfied(by ending: Ending) -> Bool { effect(of: ending) == .runs }

  /// True if an edge with this condition may skip its dependent.
  package var maySkip: Bool {
    switch self {
    case .succeeded, .failed: true
    case .ok, .done, .ready, .readyOrDone: false
    }
  }

  /// True if a ready service satisfies the condition, and goes on until the dependent has ended.
  package var waitsForReadiness: Bool { self == .ready || self == .readyOrDone }
}

/// The completion hooks of a step or a run.
package enum HookKind: UInt8, CaseIterable, Sendable {
  case onSuccess, onFailure, onCancel, onComplete
}

extension Outcome {
  /// The hooks of a step or a run that ended like this by itself, in their order. One that never
  /// started has none, whatever its outcome.
  package var hooks: [HookKind] {
    switch self {
    case .succeeded: [.onSuccess, .onComplete]
    case .failed, .timedOut: [.onFailure, .onComplete]
    case .cancelled: [.onCancel, .onComplete]
    case .cached, .skipped, .blocked: []
    }
  }
}

/// Why an operation has its outcome, apart from how its own command ended.
package enum Cause: Hashable, Sendable {
  /// The operation's own command or hooks.
  case itself
  /// The operation where the problem began, not merely the nearest one.
  case dependency(OperationID)
  /// The operation's `if` was false, or its matrix is empty, as described by the string.
  case condition(String)
  /// A condition of `wait_for` was not met in time, as described by the string.
  case wait(String)
  /// The time limit of a group was over before its members had ended, as described by the string.
  case timeLimit(String)
  /// The run was stopped before the operation could start, or while it ran.
  case stopped(StopReason)
  /// The operation ran until an earlier run, or its part of that run, was stopped, and is kept as it was then.
  case stoppedEarlier(StopReason)
  /// A service ended too early, as described by the string.
  case service(String)
  /// A service was not ready in time, or its outputs cannot be used, as described by the string.
  case notReady(String)
  /// A hook failed after the command had succeeded.
  case hook(HookKind)

  /// True if a group that fails for this reason does so by itself and not because of a member: its
  /// hooks failed, its time was over, its outputs could not be evaluated, or its matrix could not
  /// be expanded. It then counts beside its members.
  package var isOfGroupItself: Bool {
    switch self {
    case .condition, .timeLimit, .hook: true
    case .itself, .dependency, .wait, .service, .notReady, .stopped, .stoppedEarlier: false
    }
  }
}

/// Why a run ends early.
package enum StopReason: Hashable, Sendable {
  case signal(Int32)
  /// `failure_policy` or `--fail-fast` applied after this operation failed.
  case failure(OperationID)
  case runTimeout
  /// The time limit of this group was over.
  case groupTimeout(OperationID)
  /// The run has `max_parallel: 0`.
  case noWidth
  /// Everything that is left is in queues that are suspended, and nothing resumes them.
  case suspended
  /// Commands that go on elsewhere were left to themselves: another run waits for them.
  case left
  /// Somebody asked for the end from outside: the name of a user of this machine.
  case request(String)
  /// The state directory cannot be written; the string has the call and the error.
  case stateFailure(String)
  /// All steps have ended well, and the outputs of the pipeline cannot be made.
  case noOutputs
  /// Another run went on with this one before it had ended, as described by the string.
  case overtaken(String)
  /// oprun itself was killed. No run reports this; it is found out afterwards.
  case died
}

extension StopReason {
  /// The name under which `oprun watch` ends a run to start the next one.
  package static let watcher = "oprun watch"
}

extension HookKind {
  /// The kind with this key; nil if there is none.
  package init?(key: some StringProtocol) {
    guard let kind = Self.allCases.first(where: { $0.key == key }) else { return nil }
    self = kind
  }

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
