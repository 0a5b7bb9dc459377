// Checks comparisons: whether the values may be compared at all, and whether the result is always
// the same.

import Diagnostics

/// One side of a comparison.
struct ComparedSide {
  /// The side as it is written.
  let text: String
  let isLiteral: Bool
  /// The type in words: `a number`.
  let words: String

  /// The words for "cannot compare …".
  var shown: String { isLiteral ? words : "\(quoted(text)) (\(words))" }

  /// The way to write this side so that it has the type of the other one.
  func help(against other: ComparedSide) -> String? {
    switch (words, other.words) {
    case ("a string", "a number"), ("a string", "true or false"):
      guard isLiteral else {
        return "fromJSON(x) is the value that a string such as '1' or 'true' stands for"
      }
      let content = String(text.dropFirst().dropLast())
      let isBoolean = content == "true" || content == "false"
      let isNumber = !content.isEmpty && numberFault(Array(content.utf8)[...]) == nil
      guard other.words == "a number" ? isNumber : isBoolean else { return nil }
      return "without quotes it is \(other.words): \(content)"
    case ("a number", "a string"), ("true or false", "a string"):
      return isLiteral ? "in quotes it is a string: '\(text)'" : nil
    case (_, "a list"): return "'in' looks for an item: x in list"
    default: return nil
    }
  }
}

extension Expression {
  func comparedSide(_ node: Int, words: String) -> ComparedSide {
    let isLiteral: Bool =
      switch nodes[node].kind {
      case .null, .true, .false, .number, .string, .constant, .list: true
      case .root, .unknownName, .member, .index, .not, .binary, .conditional, .call, .unknownCall:
        false
      }
    return ComparedSide(text: text(range(of: node)), isLiteral: isLiteral, words: words)
  }
}

extension ExpressionType {
  /// True for a value that is any string, or null.
  fileprivate var mayBeNoString: Bool { kinds == [.string, .null] && choices == nil }
}

extension ExpressionChecker {
  /// Checks a comparison. Null may be compared with anything, and does not restrict the other types
  /// of a side.
  mutating func checkComparison(_ sign: BinaryOperator, _ node: Int) {
    let (leftNode, rightNode) = expression.pair(of: node)
    let left = type(of: leftNode)
    let right = comparedType(of: rightNode, with: left)
    if sign.isOrder {
      let ordered: ExpressionType.Kinds = [.number, .string]
      for (type, operand) in [(left, leftNode), (right, rightNode)]
      where type.kinds.isDisjoint(with: ordered) {
        report(
          ExpressionMessage.wrongOperand(
            sign.sign, wanted: "two numbers or two strings", found: type.words), operand)
        return
      }
      if !left.kinds.intersection(right.kinds).isDisjoint(with: ordered) { return }
    } else if !areForeign(left, right) || left.kinds == .null || right.kinds == .null {
      checkChoices(left, leftNode, rightNode)
      checkChoices(right, rightNode, leftNode)
      if left.mayBeNoString { checkEmpty(sign, leftNode, rightNode, node) }
      if right.mayBeNoString { checkEmpty(sign, rightNode, leftNode, node) }
      return
    }
    report(
      ExpressionMessage.incomparable(
        expression.comparedSide(leftNode, words: left.unwrapped.words),
        expression.comparedSide(rightNode, words: right.unwrapped.words)), node)
  }

  /// The type of a value that is compared with one of a few strings; a single word counts as one of
  /// them without its quotes.
  private mutating func comparedType(of node: Int, with other: ExpressionType) -> ExpressionType {
    guard let choices = other.choices, expression.nodes[node].kind == .unknownName else {
      return type(of: node)
    }
    let name = expression.text(expression.range(of: node))
    if memberPath(of: name) != nil { return type(of: node) }
    return report(ExpressionMessage.notQuoted(name, among: choices.texts), node)
  }

  /// Checks comparisons with ''. A name without a value is null, for which `!= ''` would be true.
  private mutating func checkEmpty(
    _ sign: BinaryOperator, _ node: Int, _ other: Int, _ comparison: Int
  ) {
    guard
      expression.nodes[other].kind == .string, expression.range(of: other).count == 2,
      [.member, .index].contains(expression.nodes[node].kind)
    else { return }
    let name = expression.text(expression.range(of: node))
    report(ExpressionMessage.nullIsNotEmpty(name, sign.sign), comparison)
  }

  mutating func checkHolding(_ node: Int) {
    let (leftNode, rightNode) = expression.pair(of: node)
    let left = type(of: leftNode)
    let right = type(of: rightNode)
    if right.kinds.isDisjoint(with: [.list, .map]) {
      report(
        right.kinds == .string
          ? ExpressionMessage.textIn
          : ExpressionMessage.wrongOperand("in", wanted: "a list or a map", found: right.words),
        rightNode)
    } else if !right.kinds.contains(.list), !left.kinds.contains(.string) {
      report(ExpressionMessage.wrongIndex(wanted: "a string", found: left.words), leftNode)
    } else if !right.kinds.contains(.map), areForeign(left, right.item) {
      report(ExpressionMessage.foreignItem(left.words, in: right.item.words), node)
    } else if !right.kinds.contains(.map) {
      checkItems(left, leftNode, in: right, rightNode)
    }
  }

  mutating func checkItems(
    _ item: ExpressionType, _ itemNode: Int, in list: ExpressionType, _ listNode: Int
  ) {
    checkChoices(list.item, listNode, itemNode)
    if expression.nodes[listNode].kind == .list {
      for operand in expression.operands(of: listNode) { checkChoices(item, itemNode, operand) }
    }
  }

  /// Reports strings that can never equal the value that they are compared with, because it has a
  /// fixed set of choices. Strings in `?:` and `??` are allowed, because they may be meant to equal
  /// none.
  private mutating func checkChoices(_ type: ExpressionType, _ node: Int, _ other: Int) {
    switch expression.nodes[other].kind {
    case .string:
      guard let choices = type.choices else { return }
      let text = expression.stringLiteral(other)
      if choices.contains(text) { return }
      let isPath = [.member, .index].contains(expression.nodes[node].kind)
      let subject = isPath ? expression.text(expression.range(of: node)) : nil
      report(ExpressionMessage.neverChosen(text, by: subject, of: choices.texts), other)
    case .list:
      guard type.kinds.contains(.list) else { return }
      for operand in expression.operands(of: other) { checkChoices(type.item, node, operand) }
    case .null, .true, .false, .number, .root, .unknownName, .member, .index, .not, .binary,
      .conditional, .call, .unknownCall, .constant:
      break
    }
  }

  /// True if values of the two types can never be equal, except for null.
  func areForeign(_ left: ExpressionType, _ right: ExpressionType) -> Bool {
    guard left.kinds.intersection(right.kinds).isSubset(of: .null) else { return false }
    return left.kinds != .null && right.kinds != .null
      || left.kinds.isDisjoint(with: right.kinds)
  }
}
