// The failures of a step that its own settings allow.

package enum AllowFailure: Hashable, Sendable {
  case never, always
  case exitCodes([Int32])

  /// True if a failure with this end is allowed; `end` is nil if no command ran.
  package func allows(_ end: CommandEnd?) -> Bool {
    switch self {
    case .never: false
    case .always: true
    case .exitCodes(let codes): end?.status.exitCode.map(codes.contains) ?? false
    }
  }
}
