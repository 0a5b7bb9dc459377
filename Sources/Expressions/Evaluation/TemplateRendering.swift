// Turns a template into a string, for anything that is not a script: variables, paths, arguments.

package import Diagnostics

extension Template {
  /// Reports what is wrong, including types: a value in a string must have a text form.
  package func checkText(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) {
    forEachExpression { $0.checkText(in: scope, source, log: &log) }
  }

  /// The string with all values inserted, for anything except a script.
  package func rendered(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String {
    guard let text = try self.text(for: .value, with: bindings) else {
      preconditionFailure("an evaluation that fails says so")
    }
    return text
  }

  /// The string for an element of a command, which every user can see.
  package func renderedArgument(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String {
    guard let text = try argument(for: .value, with: bindings) else {
      preconditionFailure("an evaluation that fails says so")
    }
    return text
  }

  /// The same; nil if some of the values are not known yet. The known ones can already fail.
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

  /// The string; nil if some of the values are not known yet.
  package func renderedIfKnown(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String? {
    try text(for: .knownValue, with: bindings)
  }

  /// The literal text and the values, in order; nil if one is not known. `objection` receives each
  /// value before it is accepted.
  func text(
    for goal: FoldingGoal, with bindings: some ExpressionBindings,
    objection: (TextPiece) -> UnlocatedFailure? = { _ in nil }
  ) throws(EvaluationFailure) -> String? {
    try utf8(for: goal, with: bindings, literal: { _ in }, objection: objection)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// The bytes of the same. `literal` receives the literal text.
  func utf8(
    for goal: FoldingGoal, with bindings: some ExpressionBindings,
    literal: (UnsafeBufferPointer<UInt8>) -> Void, objection: (TextPiece) -> UnlocatedFailure?
  ) throws(EvaluationFailure) -> [UInt8]? {
    var text = RenderedText(self)
    for part in parts {
      if part.isLiteral {
        content.withUnsafeBufferPointer { content in
          let start = Int(part.start) - self.content.startIndex
          let bytes = UnsafeBufferPointer(
            rebasing: content[start..<start + Int(part.end - part.start)])
          literal(bytes)
          text.append(bytes)
        }
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

  /// The string of an argument, piece by piece.
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

  /// Replaces everything that is already known by its value.
  package func folded(with bindings: some ExpressionBindings) throws(EvaluationFailure) -> Template
  {
    guard try hasValues(with: bindings) else { return self }
    var parts = parts
    var nodes: [ExpressionNode] = []
    var constants = constants
    for number in parts.indices where !parts[number].isLiteral {
      // Moved, so that no second owner causes a copy.
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

  /// The template as it is written, if nothing in it is known; otherwise as it could be written,
  /// with what is known as text.
  package var description: String {
    if isAsWritten { return String(decoding: content, as: UTF8.self) }
    return parts.map { part in
      if part.isLiteral { return String(decoding: content[part.range], as: UTF8.self) }
      let expression = expression(part)
      return expression.constant?.text ?? "${{ \(expression.description) }}"
    }.joined()
  }
}

/// A string under construction: literal text and values.
struct RenderedText {
  private var bytes: [UInt8] = []
  private var valueByteCount = 0
  private var isKnown = true

  /// Values are seldom longer than the expressions in whose place they are.
  init(_ template: Template) { bytes.reserveCapacity(template.content.count) }

  /// Appends literal text.
  mutating func append(_ literal: UnsafeBufferPointer<UInt8>) { bytes += literal }

  /// Appends a value; nil means that it is not known yet. Returns what is wrong, because values
  /// could grow without limit.
  mutating func append(_ value: String?) -> UnlocatedFailure? {
    guard var value else {
      isKnown = false
      return nil
    }
    valueByteCount += value.utf8.count
    if valueByteCount > Function.maxResultByteCount { return ExpressionMessage.resultTooLong }
    value.withUTF8 { bytes += $0 }
    return nil
  }

  /// The bytes of the finished string; nil if one of the values is not known.
  var result: [UInt8]? { isKnown ? bytes : nil }
}

extension Expression {
  /// Like `checkText` of a template that the expression is a part of.
  package func checkText(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) {
    check(for: .text, in: scope, source, log: &log) { ExpressionMessage.noText($1, self) }
  }

  /// The value in its text form.
  package func piece(
    for goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> TextPiece {
    guard let found = try found(for: goal, with: bindings) else { return .unknown }
    if found.value == .null {
      throw fault(ScriptMessage.null(self) { bindings.variable(closestTo: $0) })
    }
    return try piece(of: found)
  }

  /// A value of it in its text form.
  func piece(of found: FoundValue) throws(EvaluationFailure) -> TextPiece {
    guard let text = found.value.text else {
      throw fault(ExpressionMessage.noText(found.value.type.words, self))
    }
    return switch found.origin {
    case .authors: .authors(text, self)
    case .computed: .value(InsertedValue(text: text, expression: self))
    case .arguments: .value(InsertedValue(text: text, expression: self, isArgument: true))
    }
  }
}

/// A piece of a string under construction.
package enum TextPiece {
  /// Text as the author of the file wrote it: literal text, or what an expression took from a
  /// literal.
  case authors(String, Expression?)
  case value(InsertedValue)
  /// A value that is not known yet.
  case unknown

  package var text: String? {
    switch self {
    case .authors(let text, _): text
    case .value(let value): value.text
    case .unknown: nil
    }
  }

  /// The expression that it comes from; nil for literal text.
  package var expression: Expression? {
    switch self {
    case .authors(_, let expression): expression
    case .value(let value): value.expression
    case .unknown: nil
    }
  }
}
