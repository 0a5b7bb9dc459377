// A fault in the pipeline file: what is wrong, where, and what would be right.

/// One fault in the user's file, or advice about it. It is made from a span, so it cannot lack a location.
package struct Diagnostic: Error, Hashable, Sendable {
  /// A location with a few words about it; the words may be empty.
  package struct Label: Hashable, Sendable {
    package let span: Span
    package let text: String

    package init(_ span: Span, _ text: String = "") {
      self.span = span
      self.text = text
    }
  }

  package let message: String
  package let primary: Label
  package let secondary: [Label]
  package let help: String?
  package let severity: Severity

  package enum Severity: String, Sendable {
    case error
    /// Advice about something that is valid.
    case notice
  }

  package init(
    _ message: String, at span: Span, label: String = "", secondary: [Label] = [],
    help: String? = nil, severity: Severity = .error
  ) {
    self.message = message
    self.primary = Label(span, label)
    self.secondary = secondary
    self.help = help
    self.severity = severity
  }
}
