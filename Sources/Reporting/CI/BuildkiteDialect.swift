// A heading begins a line and holds until the next one. `^^^ +++` opens the group that it is in.
// The agent masks what its hooks and `redacted-vars` name; nothing in the log can add to that.

struct BuildkiteDialect: CIDialect {
  var rules: CommandGuard.Rules { .headings }

  func opening(of group: CIGroup) -> String? {
    (group.state == .failed ? "+++ " : "--- ") + group.title
  }

  func closing(of group: CIGroup, isFailure: Bool) -> String? {
    isFailure && group.state == .running ? "^^^ +++" : nil
  }

  func fence(_ word: String) -> (before: String, after: String)? { nil }

  /// The line of a failure may stand in a closed group.
  func annotation(_ annotation: Annotation) -> String? {
    annotation.level == .error ? "^^^ +++" : nil
  }

  func mask(_ text: String) -> String? { nil }

  func heading(ofSummary title: String) -> String? { "+++ \(title)" }
}
