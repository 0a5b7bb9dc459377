// Expands one string in a list of strings: to itself, or to the strings that its only expression
// yields. It does not know what the list is for: patterns of files, words of a command, inputs of a
// built-in step. docs/expressions.md, “Lists of strings”.

package import Diagnostics

extension Value {
  /// The values that this one becomes where an item of a list consists of one expression: the items
  /// of a list, and nothing for null.
  package var spliced: [Value] {
    switch self {
    case .null: []
    case .list(let items): items
    case .bool, .number, .string, .map: [self]
    }
  }
}

extension Expression {
  /// Reports faults of an expression that is a whole item of a list of strings; returns its type.
  @discardableResult
  package func checkItem(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) -> ExpressionType {
    let wanted = ExpressionType.Kinds.text.union([.list, .null])
    var checker = ExpressionChecker(self, scope)
    let type = checker.check(for: wanted, source, log: &log) {
      ExpressionMessage.noText($1, self)
    }
    if type.kinds.subtracting(.null) == .list, type.item.kinds.isDisjoint(with: .listItem) {
      log.report(at: span(of: range(of: root), in: source)) {
        ExpressionMessage.noListItem(type.item.kinds.words).diagnostic(at: $0)
      }
    }
    return type
  }

  /// The pieces of text that the expression becomes as a whole item of a list; each piece becomes
  /// an item of its own. One unknown piece if the value is unknown.
  func itemPieces(
    for goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> [TextPiece] {
    guard let found = try found(for: goal, with: bindings) else { return [.unknown] }
    guard case .list(let items) = found.value else {
      return found.value == .null ? [] : [try piece(of: found)]
    }
    var pieces: [TextPiece] = []
    pieces.reserveCapacity(items.count)
    var byteCount = 0
    for item in items {
      guard ExpressionType.Kinds.listItem.contains(item.type), let text = item.text else {
        throw fault(ExpressionMessage.noListItem(item.type.words))
      }
      byteCount += text.utf8.count
      if byteCount > Function.maxResultByteCount { throw fault(ExpressionMessage.resultTooLong) }
      pieces.append(try piece(of: FoundValue(value: item, origin: found.origin)))
    }
    return pieces
  }

  /// A failure of the whole expression.
  func fault(_ words: UnlocatedFailure) -> EvaluationFailure {
    EvaluationFailure(words, in: self, at: range(of: root))
  }
}

extension Template {
  /// The items that the template becomes in a list of strings; nil if they are not known yet.
  package func items(
    for goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> [String]? {
    guard let single else {
      return try text(for: goal, with: bindings).map { [$0] }
    }
    let pieces = try single.itemPieces(for: goal, with: bindings)
    let texts = pieces.compactMap(\.text)
    return texts.count == pieces.count ? texts : nil
  }

  /// The elements that the template becomes in an argument vector, piece by piece.
  package func elements(
    for goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> [[TextPiece]] {
    guard let single else { return [try pieces(for: goal, with: bindings)] }
    return try single.itemPieces(for: goal, with: bindings).map { piece throws(EvaluationFailure) in
      if let words = bindings.objection(toSecretIn: piece) { throw single.fault(words) }
      return [piece]
    }
  }
}

extension ExpressionType.Kinds {
  /// The types of values that an expression may yield for an item of a list.
  static let listItem: Self = [.string, .number]
}
