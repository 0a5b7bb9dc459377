// From a template to a text, for anything that is no script: variables, paths, arguments.

package import Diagnostics

extension Template {
  /// Reports what is wrong, types included: what stands in a text must have a text.
  package func checkText(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) {
    for part in parts where !part.isLiteral {
      expression(part).checkText(in: scope, source, log: &log)
    }
  }

  /// For any text but a script.
  package func rendered(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String {
    var bytes: [UInt8] = []
    for part in parts {
      if part.isLiteral {
        bytes += content[part.range]
      } else {
        let expression = expression(part)
        bytes += try expression.text(with: bindings).utf8
        if bytes.count > Function.maxResultByteCount {
          throw EvaluationFailure(
            ExpressionMessage.resultTooLong, in: expression,
            at: expression.range(of: expression.root))
        }
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Puts values in place of all that is known already.
  package func folded(with bindings: some ExpressionBindings) throws(EvaluationFailure) -> Template
  {
    var parts = parts
    var nodes: [ExpressionNode] = []
    var constants = constants
    for number in parts.indices where !parts[number].isLiteral {
      // Moved, so that no other owner makes it copy what is there.
      let known = constants
      constants = []
      let folded = try expression(parts[number]).folded(with: bindings, constants: consume known)
      nodes += folded.nodes
      constants = folded.constants
      parts[number].root = UInt32(truncatingIfNeeded: nodes.count - 1)
    }
    return Template(
      content: content, origin: origin, parts: parts, nodes: nodes, constants: constants)
  }

  /// As it could be written; what is known stands in it as text.
  package var description: String {
    parts.map { part in
      if part.isLiteral { return String(decoding: content[part.range], as: UTF8.self) }
      let expression = expression(part)
      return expression.constant?.text ?? "${{ \(expression.description) }}"
    }.joined()
  }
}

extension Expression {
  func checkText(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) {
    check(for: .text, in: scope, source, log: &log) { ExpressionMessage.noText($1) }
  }

  /// The value as it stands in a text.
  func text(with bindings: some ExpressionBindings) throws(EvaluationFailure) -> String {
    let value = try evaluated(with: bindings)
    if let text = value.text { return text }
    throw EvaluationFailure(
      ExpressionMessage.noText(value.type.words), in: self, at: range(of: root))
  }
}
