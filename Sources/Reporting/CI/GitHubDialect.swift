// GitHub Actions: workflow commands. Syntax:
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
// How the runner reads them: ActionCommand.cs and ActionCommandManager.cs of github.com/actions/runner.

struct GitHubDialect: CIDialect {
  /// The rules of the runner, which besides `::…::` still takes `##[…]`, anywhere in a line. Its
  /// own groups get that form in the log, where the page of a job finds them, whether or not
  /// commands are stopped.
  var rules: CommandGuard.Rules { [.brackets, .colons] }

  /// The command that opens a group. Groups are shown closed and cannot be nested: a failure stands outside.
  func opening(of group: CIGroup) -> String? {
    group.state == .failed ? nil : "::group::\(Self.data(group.title))"
  }

  func closing(of group: CIGroup, isFailure: Bool) -> String? {
    group.state == .failed ? nil : "::endgroup::"
  }

  func fence(_ word: String) -> (before: String, after: String)? {
    ("::stop-commands::\(word)", "::\(word)::")
  }

  func annotation(_ annotation: Annotation) -> String? {
    let name = annotation.level == .error ? "error" : "warning"
    let place = annotation.place.map { place in
      "file=\(Self.property(place.path)),line=\(place.line),col=\(place.column),"
    }
    return "::\(name) \(place ?? "")title=\(Self.property(annotation.title))::"
      + Self.data(annotation.message)
  }

  func mask(_ text: String) -> String? {
    // The runner looks for masks in one line at a time.
    text.contains(where: \.isNewline) ? nil : "::add-mask::\(Self.data(text))"
  }

  func heading(ofSummary title: String) -> String? { nil }

  /// The escapes of the text after a command.
  static func data(_ text: String) -> String {
    escaped(text) { ["%": "%25", "\r": "%0D", "\n": "%0A"][$0] }
  }

  /// The escapes of a property, between commas.
  static func property(_ text: String) -> String {
    escaped(text) { ["%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"][$0] }
  }
}
