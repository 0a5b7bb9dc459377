// What one string in a list of strings stands for: itself, or the strings that its only expression
// yields. It knows nothing about the lists: patterns of files, words of a command, inputs of a
// built-in step.
// docs/expressions.md, “Lists of strings”.

package import Diagnostics

extension Value {
  /// The values that it stands for where an item of a list consists of one expression: the items of
  /// a list, and nothing for null.
  package var spliced: [Value] {
    switch self {
    case .null: []
    case .list(let items): items
    case .bool, .number, .string, .map: [self]
    }
  }
}

extension Expression {
  /// Reports what is wrong with an expression that is a whole item of a list of strings; returns its type.
  @discardableResult
  package func checkItem(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) -> ExpressionType {
    let wanted = ExpressionType.Kinds.text.union([.list, .null])
    let type = check(for: wanted, in: scope, source, log: &log) {
      ExpressionMessage.noText($1, self)
    }
    if type.kinds.subtracting(.null) == .list, type.item.kinds.isDisjoint(with: .listItem) {
      log.report(at: span(of: range(of: root), in: source)) {
        ExpressionMessage.noListItem(type.item.kinds.words).diagnostic(at: $0)
      }
    }
    return type
  }

  /// The pieces of text that it stands for as a whole item of a list, each of which becomes an item of its own;
  /// one that is unknown if the value is.
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

  /// What is wrong with its value.
  func fault(_ words: UnlocatedFailure) -> EvaluationFailure {
    EvaluationFailure(words, in: self, at: range(of: root))
  }
}

extension Template {
  /// The items of a list of strings that it stands for; nil if they are not known yet.
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

  /// The elements of an argument vector that it stands for, piece by piece.
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
  /// What a list may contain that an item of another list stands for.
  static let listItem: Self = [.string, .number]
}
