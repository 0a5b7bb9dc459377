// Turns a template into a string, for anything that is not a script: variables, paths, arguments.

package import Diagnostics

extension Template {
  /// Reports faults, including those of types: a value in a string must have a text form.
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

  /// The string for an element of a command; nil if some of the values are not known yet. The known
  /// ones can already fail.
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

  /// The literal text and the values, in order; nil if a value is not known. `objection` receives
  /// each value before it is accepted.
  func text(
    for goal: FoldingGoal, with bindings: some ExpressionBindings,
    objection: (TextPiece) -> UnlocatedFailure? = { _ in nil }
  ) throws(EvaluationFailure) -> String? {
    try utf8(for: goal, with: bindings, literal: { _ in }, objection: objection)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// The bytes of the literal text and the values; nil if a value is not known. `literal` receives
  /// the literal text.
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

  /// Replaces all parts that are known by their values.
  package func folded(with bindings: some ExpressionBindings) throws(EvaluationFailure) -> Template
  {
    guard try hasValues(with: bindings) else { return self }
    var parts = parts
    var nodes: [ExpressionNode] = []
    var constants = constants
    for number in parts.indices where !parts[number].isLiteral {
      // The constants are moved, so that no second owner causes a copy.
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

  /// True if a part of the template has a value.
  private func hasValues(with bindings: some ExpressionBindings) throws(EvaluationFailure) -> Bool {
    for part in parts where !part.isLiteral {
      if try expression(part).hasKnownParts(bindings) { return true }
    }
    return false
  }

  /// The template as it is written, if nothing is known; otherwise as it could be written, with the
  /// known parts as text.
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

  /// Starts with room for the template: values are seldom longer than their expressions.
  init(_ template: Template) { bytes.reserveCapacity(template.content.count) }

  /// Appends literal text.
  mutating func append(_ literal: UnsafeBufferPointer<UInt8>) { bytes += literal }

  /// Appends a value; nil means that it is not known yet. Returns a failure if the text grows beyond the limit.
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
  /// Reports faults as `checkText` does for the template around this expression.
  package func checkText(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) {
    var checker = ExpressionChecker(self, scope)
    checker.check(for: .text, source, log: &log) { ExpressionMessage.noText($1, self) }
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

  /// A value of the expression in its text form.
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
  /// Text as the author of the file wrote it: literal text, or an expression's value that is a literal.
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

  /// The expression that the piece comes from; nil for literal text.
  package var expression: Expression? {
    switch self {
    case .authors(_, let expression): expression
    case .value(let value): value.expression
    case .unknown: nil
    }
  }
}
