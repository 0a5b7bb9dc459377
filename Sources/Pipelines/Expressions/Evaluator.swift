// From nodes and bindings to a value.

extension Expression {
  package func evaluated(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> Value {
    .null
  }

  /// Puts values in place of all that is known already. What can never have a value is an error,
  /// unless it stands where it might never be asked for.
  package func folded(with bindings: some ExpressionBindings) throws(EvaluationFailure)
    -> Expression
  {
    self
  }

  /// The value, if the expression is nothing but one.
  package var constant: Value? { literal(root) }

  /// The expression as it could be written: `params.branch == 'main'`.
  package var description: String { "" }
}
