// Why an expression has no value: what is wrong, and which part of it is at fault.

package import Diagnostics

/// A fault of values, found while folding or at the start of a step.
package struct EvaluationFailure: Error {
  package let words: UnlocatedFailure
  private let expression: Expression
  private let range: Range<Int>

  package init(_ words: UnlocatedFailure, in expression: Expression, at range: Range<Int>) {
    self.words = words
    self.expression = expression
    self.range = range
  }

  init(_ fault: ExpressionFailure, in expression: Expression) {
    self.init(fault.words, in: expression, at: fault.range)
  }

  /// The diagnostic, while planning.
  package func diagnostic(in source: SourceText) -> Diagnostic {
    words.diagnostic(at: expression.span(of: range, in: source))
  }

  /// The diagnostic, after planning; needs the files that the expression was read from.
  package func diagnostic(in sources: SourceMap) -> Diagnostic {
    sources.withText(at: expression.origin.span) { source in
      words.diagnostic(at: expression.span(of: range, in: source))
    }
  }
}
