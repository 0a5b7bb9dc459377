// Which failures of a step its own settings allow.

package enum AllowFailure: Hashable, Sendable {
  case never, always
  case exitCodes([Int32])

  /// Whether a failure is allowed that ended like this; `end` is nil if no command ran.
  package func allows(_ end: CommandEnd?) -> Bool {
    switch self {
    case .never: false
    case .always: true
    case .exitCodes(let codes): end?.status.exitCode.map(codes.contains) ?? false
    }
  }
}

extension CommandEnd.Status {
  /// The status that a shell would report; nil if the command has none.
  package var exitCode: Int32? {
    switch self {
    case .exited(let code), .notStarted(_, let code): code
    case .signalled, .outputsRefused, .abandoned, .lost: nil
    }
  }

  package var isSignal: Bool { if case .signalled = self { true } else { false } }
}
