// How operations end, and which ends satisfy an edge. SPEC's tables of outcomes, as code.

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

/// An outcome, and whether a failure is allowed: the run stays green and dependents go on.
package struct Ending: Hashable, Sendable {
  package let outcome: Outcome
  /// True only beside `failed` and `timedOut`.
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
}

/// What happens to the rest of the graph after a failure that is not allowed.
package enum FailurePolicy: UInt8, CaseIterable, Sendable {
  /// Everything not downstream goes on.
  case `continue`
  /// Nothing new starts; what runs goes on.
  case stop
  /// Running operations are cancelled too.
  case cancel
}

extension Outcome {
  /// True for the ends that are the operation's own fault: failed and timed out.
  package var isFailure: Bool { self == .failed || self == .timedOut }
}

extension EdgeCondition {
  /// Whether an operation that ended like this lets a dependent run.
  package func isSatisfied(by ending: Ending) -> Bool {
    switch (self, ending.outcome) {
    case (.done, _), (.ok, .succeeded), (.ok, .cached), (.ok, .skipped): true
    case (.ok, .failed), (.ok, .timedOut): ending.isAllowed
    case (.succeeded, .succeeded), (.succeeded, .cached): true
    case (.failed, .failed), (.failed, .timedOut): true
    default: false
    }
  }
}
