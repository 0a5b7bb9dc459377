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
    guard let text = try self.text(for: .value, with: bindings) else {
      preconditionFailure("an evaluation that fails says so")
    }
    return text
  }

  /// For an element of a command: everybody can see it.
  package func renderedArgument(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String {
    guard let text = try argument(for: .value, with: bindings) else {
      preconditionFailure("an evaluation that fails says so")
    }
    return text
  }

  /// Nil if some of the values are not known yet; those that are may fail already.
  package func renderedArgumentIfKnown(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String? {
    try argument(for: .knownValue, with: bindings)
  }

  private func argument(
    for goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String? {
    try text(for: goal, with: bindings) { expression, value in
      value.flatMap { bindings.objection(toSecretIn: $0, of: expression) }
    }
  }

  /// Nil if some of the values are not known yet.
  package func renderedIfKnown(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String? {
    try text(for: .knownValue, with: bindings)
  }

  /// What is written and the values, in order; nil if one is not known. `objection` sees each value
  /// before it is let in, and nil for one that is not known.
  func text(
    for goal: FoldingGoal, with bindings: some ExpressionBindings,
    objection: (Expression, String?) -> FaultWords? = { _, _ in nil }
  ) throws(EvaluationFailure) -> String? {
    var text = RenderedText(self)
    for part in parts {
      if part.isLiteral {
        text.append(part)
        continue
      }
      let expression = expression(part)
      let value = try expression.text(for: goal, with: bindings)
      if let words = objection(expression, value) ?? text.append(value) {
        throw EvaluationFailure(words, in: expression, at: expression.range(of: expression.root))
      }
    }
    return text.result
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
      script: script, isBroken: isBroken)
  }

  /// Whether anything in it is known.
  private func hasValues(with bindings: some ExpressionBindings) throws(EvaluationFailure) -> Bool {
    for part in parts where !part.isLiteral {
      if try expression(part).hasKnownParts(bindings) { return true }
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

/// A text in the making: what is written, and values.
struct RenderedText {
  private let template: Template
  private var bytes: [UInt8] = []
  private var valueByteCount = 0
  private var isKnown = true

  init(_ template: Template) {
    self.template = template
    bytes.reserveCapacity(template.content.count + 32)
  }

  /// What is written there.
  mutating func append(_ part: Template.Part) {
    let start = Int(part.start) - template.content.startIndex
    template.content.withUnsafeBufferPointer {
      bytes += UnsafeBufferPointer(rebasing: $0[start..<start + part.range.count])
    }
  }

  /// Nil is not known yet. Returns what is wrong: there may be no end to what values make.
  mutating func append(_ value: String?) -> FaultWords? {
    guard var value else {
      isKnown = false
      return nil
    }
    valueByteCount += value.utf8.count
    if valueByteCount > Function.maxResultByteCount { return ExpressionMessage.resultTooLong }
    value.withUTF8 { bytes += $0 }
    return nil
  }

  /// Nil if one of the values is not known.
  var result: String? { isKnown ? String(decoding: bytes, as: UTF8.self) : nil }
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
