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
    guard let text = try rendered(.value, with: bindings) else {
      preconditionFailure("an evaluation that fails says so")
    }
    return text
  }

  /// Nil if some of the values are not known yet.
  package func renderedIfKnown(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String? {
    try rendered(.knownValue, with: bindings)
  }

  private func rendered(
    _ goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String? {
    var values: [String?] = []
    var byteCount = 0
    for part in parts where !part.isLiteral {
      let expression = expression(part)
      guard let text = try expression.text(for: goal, with: bindings) else { return nil }
      byteCount += text.utf8.count
      if byteCount > Function.maxResultByteCount {
        throw EvaluationFailure(
          ExpressionMessage.resultTooLong, in: expression,
          at: expression.range(of: expression.root))
      }
      values.append(text)
    }
    return inserting(values)
  }

  /// Nil if one of the values is not known.
  func inserting(_ values: [String?]) -> String? {
    var byteCount = 0
    for part in parts where part.isLiteral { byteCount += part.range.count }
    for value in values {
      guard let value else { return nil }
      byteCount += value.utf8.count
    }
    return String(unsafeUninitializedCapacity: byteCount) { buffer in
      var place = 0
      var number = 0
      func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        place = buffer[place...].update(fromContentsOf: bytes)
      }
      for part in parts {
        if part.isLiteral {
          content[part.range].withUnsafeBufferPointer(append)
        } else {
          var value = values[number] ?? ""
          value.withUTF8(append)
          number += 1
        }
      }
      return place
    }
  }

  /// Puts values in place of all that is known already.
  package func folded(with bindings: some ExpressionBindings) throws(EvaluationFailure) -> Template
  {
    guard try hasValues(with: bindings) else { return self }
    var parts = parts
    var nodes: [ExpressionNode] = []
    var constants = constants
    for number in parts.indices where !parts[number].isLiteral {
      // Moved, so that no other owner makes it copy what is there.
      let known = constants
      constants = []
      var folding = Folding(
        expression(parts[number]), bindings, for: .rest, constants: consume known)
      _ = try folding.run()
      nodes += folding.nodes
      constants = folding.constants
      parts[number].root = UInt32(truncatingIfNeeded: nodes.count - 1)
    }
    return Template(
      content: content, origin: origin, parts: parts, nodes: nodes, constants: constants,
      isPlainCommand: isPlainCommand)
  }

  /// Whether anything in it is known.
  private func hasValues(with bindings: some ExpressionBindings) throws(EvaluationFailure) -> Bool {
    for part in parts where !part.isLiteral {
      var folding = Folding(expression(part), bindings, for: .knownValue, constants: [])
      if try folding.run() != nil || folding.hasValues { return true }
    }
    return false
  }

  /// As it is written, if nothing in it is known; else as it could be written, with what is known as
  /// text.
  package var description: String {
    if isAsWritten { return String(decoding: content, as: UTF8.self) }
    return parts.map { part in
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
  func text(
    for goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String? {
    guard
      let value = goal == .value ? try evaluated(with: bindings) : try valueIfKnown(with: bindings)
    else { return nil }
    if let text = value.text { return text }
    throw EvaluationFailure(
      ExpressionMessage.noText(value.type.words), in: self, at: range(of: root))
  }
}
