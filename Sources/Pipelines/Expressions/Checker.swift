// Names and types of an expression, before anything is known of values.

package import Diagnostics

extension Expression {
  /// Reports what is wrong; returns the type of the value, `any` for what was reported.
  @discardableResult
  package func check(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) -> ExpressionType {
    .any
  }

  /// A condition must be true or false.
  package func checkCondition(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) {}
}

extension Template {
  /// For a text: what stands in it must have a text.
  package func checkText(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) {}

  /// For a script: see `renderedScript`.
  package func checkScript(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) {}
}
