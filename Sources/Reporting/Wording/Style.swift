// Colours, and when they are used. The decision is a pure function of the request and the facts.

/// The appearance of a piece of text, if colour is on.
package enum Style: Sendable {
  case good, bad, warning, faint, strong

  var code: StaticString {
    switch self {
    case .good: "\u{1b}[32m"
    case .bad: "\u{1b}[31m"
    case .warning: "\u{1b}[33m"
    case .faint: "\u{1b}[2m"
    case .strong: "\u{1b}[1m"
    }
  }
}

/// The values of `--color`.
package enum ColorChoice: String, CaseIterable, Sendable {
  case auto, always, never

  /// True to use colour on one stream. `environment` returns the value of a variable.
  package func isOn(isTerminal: Bool, environment: (String) -> String?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .auto: Self.suits(isTerminal: isTerminal, environment: environment)
    }
  }

  /// The rules of https://no-color.org and https://bixense.com/clicolors: an empty variable counts
  /// as unset.
  private static func suits(isTerminal: Bool, environment: (String) -> String?) -> Bool {
    func isSet(_ name: String) -> Bool { environment(name).map { !$0.isEmpty } ?? false }
    func isForced(_ name: String) -> Bool { isSet(name) && environment(name) != "0" }

    if isSet("NO_COLOR") { return false }
    if isForced("CLICOLOR_FORCE") || isForced("FORCE_COLOR") { return true }
    if environment("TERM") == "dumb" { return false }
    return isTerminal || ["GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE"].contains(where: isSet)
  }
}

extension ByteSink {
  /// Writes text in a style; plain when colour is off.
  package func write(_ text: StaticString, in style: Style, isColored: Bool) {
    if isColored { write(style.code) }
    write(text)
    if isColored { write("\u{1b}[0m") }
  }

  package func write(_ text: String, in style: Style, isColored: Bool) {
    if isColored { write(style.code) }
    write(text)
    if isColored { write("\u{1b}[0m") }
  }
}
