// The ways of showing a run, and which of them suits the target of its messages.

/// The values of `--output`.
package enum OutputMode: String, CaseIterable, Sendable {
  /// `grouped`, above a block that shows what is running.
  case live
  case grouped, prefixed, quiet
  /// `quiet`, with events on standard output.
  case json

  /// True if there are lines about steps that end.
  package var showsProgress: Bool {
    switch self {
    case .live, .grouped, .prefixed: true
    case .quiet, .json: false
    }
  }

  /// The mode if none is chosen: `live` on a terminal that belongs to oprun alone, else `grouped`.
  package static func usual(
    output: Int32, messages: Int32, environment: (String) -> String?
  ) -> OutputMode {
    func isSet(_ name: String) -> Bool { environment(name).map { !$0.isEmpty } ?? false }

    guard Terminal.size(of: messages) != nil, isSet("TERM"), environment("TERM") != "dumb",
      !runners.contains(where: isSet)
    else { return .grouped }
    // The reader of a pipe may write to the same terminal.
    let isAlone = Terminal.isSameTarget(output, messages) || Terminal.neverAnswers(output)
    return isAlone ? .live : .grouped
  }

  /// Variables that CI runners set. Some of them give jobs a terminal, which nobody watches.
  private static let runners = [
    "CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "TEAMCITY_VERSION", "TF_BUILD",
  ]
}
