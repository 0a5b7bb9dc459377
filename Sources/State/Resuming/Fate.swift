// What becomes of an operation when a run is resumed, and why. How that is found out is not known here.

/// What becomes of an operation, as far as the plan and the record tell. A selection may leave it out all the same.
enum Fate: Hashable {
  /// It is what it was: a success, or a failure that is still allowed. A group is if all in it is.
  case kept
  /// It was skipped and will be again, or nothing in it ran or will.
  case idle
  /// It was blocked by what is kept, as in a group that may fail, and will be again.
  case blockedAgain
  /// A service that has no success to keep, and that no step needs.
  case unneeded
  /// It did run, and is skipped now because of what is kept.
  case skippedAnew
  /// A cached step that does not run, but has another result than in the earlier run.
  case replaced
  case runs(ReasonToRun)

  /// Whether it has an end that what waits for it has seen.
  var isKept: Bool {
    switch self {
    case .kept, .idle: true
    case .blockedAgain, .unneeded, .skippedAnew, .replaced, .runs: false
    }
  }

  /// Whether it did not run and will not.
  var isIdle: Bool {
    switch self {
    case .idle, .blockedAgain, .unneeded: true
    case .kept, .skippedAnew, .replaced, .runs: false
    }
  }

  var staysAsItWas: Bool { isKept || isIdle }
}

/// Why an operation runs.
package enum ReasonToRun: Hashable {
  case edited
  /// It is cached, was not edited, and is not up to date.
  case outdated
  /// A selection left it out of the earlier run.
  case omitted
  /// Something that it depends on has changed.
  case downstream
  /// One of its outputs held a secret.
  case givesSecret
  /// It is something else in each run, because it uses its name.
  case usesRunName
  /// A selection has it run although nothing has changed.
  case selected
  /// It is a service, and something that needs it may run.
  case needed
  /// It is a used pipeline that is kept, and has hooks that run again.
  case hooks
  /// Nothing in the group runs but such hooks.
  case innerHooks
  /// It has no result that could be kept, or something in it runs.
  case itself
}
