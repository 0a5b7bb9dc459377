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
