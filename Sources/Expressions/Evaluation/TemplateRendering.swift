// From a template to a text, for anything that is no script: variables, paths, arguments.

package import Diagnostics

extension Template {
  /// Reports what is wrong, types included: what stands in a text must have a text.
  package func checkText(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) {
    forEachExpression { $0.checkText(in: scope, source, log: &log) }
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
    try text(for: goal, with: bindings, objection: { bindings.objection(toSecretIn: $0) })
  }

  /// Nil if some of the values are not known yet.
  package func renderedIfKnown(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String? {
    try text(for: .knownValue, with: bindings)
  }

  /// What is written and the values, in order; nil if one is not known. `literal` sees what is
  /// written, and `objection` each value before it is let in.
  package func text(
    for goal: FoldingGoal, with bindings: some ExpressionBindings,
    literal: (ArraySlice<UInt8>) -> Void = { _ in },
    objection: (TextPiece) -> UnlocatedFailure? = { _ in nil }
  ) throws(EvaluationFailure) -> String? {
    var text = RenderedText(self)
    for part in parts {
      if part.isLiteral {
        literal(content[part.range])
        text.append(part)
        continue
      }
      let expression = expression(part)
      let piece = try expression.piece(for: goal, with: bindings)
      if let words = objection(piece) ?? text.append(piece.text) {
        throw EvaluationFailure(words, in: expression, at: expression.range(of: expression.root))
      }
    }
    return text.result
  }

  /// The text of an argument, piece by piece.
  package func pieces(
    for goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> [TextPiece] {
    var pieces: [TextPiece] = []
    var text = RenderedText(self)
    for part in parts {
      if part.isLiteral {
        pieces.append(.authors(String(decoding: content[part.range], as: UTF8.self), nil))
        continue
      }
      let expression = expression(part)
      let piece = try expression.piece(for: goal, with: bindings)
      if let words = bindings.objection(toSecretIn: piece) ?? text.append(piece.text) {
        throw EvaluationFailure(words, in: expression, at: expression.range(of: expression.root))
      }
      pieces.append(piece)
    }
    return pieces
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
      isBroken: isBroken)
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

  package init(_ template: Template) {
    self.template = template
    bytes.reserveCapacity(template.content.count + 32)
  }

  /// What is written there.
  package mutating func append(_ part: Template.Part) {
    let start = Int(part.start) - template.content.startIndex
    template.content.withUnsafeBufferPointer {
      bytes += UnsafeBufferPointer(rebasing: $0[start..<start + part.range.count])
    }
  }

  /// Nil is not known yet. Returns what is wrong: there may be no end to what values make.
  package mutating func append(_ value: String?) -> UnlocatedFailure? {
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
  package var result: String? { isKnown ? String(decoding: bytes, as: UTF8.self) : nil }
}

extension Expression {
  /// As `checkText` of a template that it is a part of.
  package func checkText(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) {
    check(for: .text, in: scope, source, log: &log) { ExpressionMessage.noText($1) }
  }

  /// The value as it stands in a text.
  package func piece(
    for goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> TextPiece {
    guard let found = try found(for: goal, with: bindings) else { return .unknown }
    guard let text = found.value.text else {
      throw EvaluationFailure(
        ExpressionMessage.noText(found.value.type.words), in: self, at: range(of: root))
    }
    return found.isAuthors
      ? .authors(text, self) : .value(InsertedValue(text: text, expression: self))
  }
}

/// A stretch of a text that is being made.
package enum TextPiece {
  /// As the author of the file wrote it: literal text, or what an expression took from a literal.
  case authors(String, Expression?)
  case value(InsertedValue)
  /// Not known yet.
  case unknown

  package var text: String? {
    switch self {
    case .authors(let text, _): text
    case .value(let value): value.text
    case .unknown: nil
    }
  }

  /// What gave it; nil for literal text.
  package var expression: Expression? {
    switch self {
    case .authors(_, let expression): expression
    case .value(let value): value.expression
    case .unknown: nil
    }
  }
}
