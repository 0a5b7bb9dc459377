// From a template to a text: for variables, paths and arguments, and for scripts, where values are
// let in only if they cannot become code.

/// What reads a script.
package enum ScriptLanguage: Sendable {
  /// sh, bash, dash, ash, ksh, mksh, zsh.
  case shell
  case other
}

extension Template {
  /// For any text but a script.
  package func rendered(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String {
    ""
  }

  /// For the text of a script. Needs a template that was checked with `checkScript`.
  package func renderedScript(
    for language: ScriptLanguage, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String {
    ""
  }

  package func folded(with bindings: some ExpressionBindings) throws(EvaluationFailure) -> Template
  {
    self
  }

  /// As it could be written.
  package var description: String { "" }
}
