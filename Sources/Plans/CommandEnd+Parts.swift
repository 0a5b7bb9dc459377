// How a command ended as a word, a number and a text: the database, control lines, events and the
// results of tasks use these. Nothing else takes a status apart or puts one together.

extension CommandEnd {
  /// The reason for a command that never ran because it was to end before it began, even if it
  /// could not have begun.
  package static let stoppedEarly = "stopped before it started"

  /// True if the command never ran, because the run, or its step, was cancelled.
  package var isStoppedEarly: Bool {
    if case .notStarted = status { isStopped } else { false }
  }
}

extension CommandEnd.Status {
  /// The word for the way in which the command ended; one of `words`.
  package var word: StaticString {
    switch self {
    case .exited: "exited"
    case .signalled: "signalled"
    case .notStarted: "not_started"
    case .outputsRefused: "outputs_refused"
    case .abandoned: "abandoned"
    case .lost: "lost"
    }
  }

  /// The exit status, or the number of the signal; nil for the other words.
  package var code: Int32? {
    switch self {
    case .exited(let code), .notStarted(_, let code): code
    case .signalled(let signal): signal
    case .outputsRefused, .abandoned, .lost: nil
    }
  }

  /// Why the command has no status of its own, or none that counts.
  package var detail: String? {
    switch self {
    case .notStarted(let reason, _), .outputsRefused(let reason), .lost(let reason): reason
    case .exited, .signalled, .abandoned: nil
    }
  }

  /// The status with these parts; nil if there is no such status.
  package init?(word: String, code: Int32?, detail: String?) {
    switch (word, code, detail) {
    case ("exited", let code?, _): self = .exited(code)
    case ("signalled", let signal?, _): self = .signalled(signal)
    case ("not_started", let code?, let reason?): self = .notStarted(reason, exitCode: code)
    case ("outputs_refused", _, let reason?): self = .outputsRefused(reason)
    case ("abandoned", _, _): self = .abandoned
    case ("lost", _, let reason?): self = .lost(reason)
    default: return nil
    }
  }

  /// The status that a shell would report: 128 plus its number after a signal. Nil if the command
  /// has none. It does not tell whether the outputs can be used.
  package var exitCode: Int32? {
    switch self {
    case .exited(let code), .notStarted(_, let code): code
    case .signalled(let signal): 128 + signal
    case .outputsRefused: 0
    case .abandoned, .lost: nil
    }
  }

  package var isSignal: Bool { if case .signalled = self { true } else { false } }
}
