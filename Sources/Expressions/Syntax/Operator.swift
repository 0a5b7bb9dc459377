// The operators of expressions: one row each, for evaluation, printing and docs/expressions.md, and
// the results of comparisons.

package enum BinaryOperator: UInt8, CaseIterable, Sendable {
  case coalesce, equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, `in`, and, or
}

/// The precedence of the parts of an expression.
enum Precedence: UInt8, Comparable {
  case conditional, or, and, comparison, coalesce, not, postfix

  package static func < (left: Precedence, right: Precedence) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// Everything that is known about one operator.
package struct OperatorRow: Sendable {
  /// The form, as in `x ?? y`.
  package let form: String
  package let sentence: String
  /// Expressions and their results; the tests evaluate them.
  package let examples: [(String, String)]
  let precedence: Precedence
}

extension BinaryOperator {
  package var sign: String {
    switch self {
    case .coalesce: "??"
    case .equal: "=="
    case .notEqual: "!="
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    case .in: "in"
    case .and: "&&"
    case .or: "||"
    }
  }

  var precedence: Precedence {
    switch self {
    case .coalesce: .coalesce
    case .and: .and
    case .or: .or
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .in: .comparison
    }
  }

  var isOrder: Bool {
    switch self {
    case .less, .lessOrEqual, .greater, .greaterOrEqual: true
    case .coalesce, .equal, .notEqual, .in, .and, .or: false
    }
  }
}

extension OperatorRow {
  /// All operators, from the highest precedence to the lowest.
  package static let all: [OperatorRow] = [
    OperatorRow(
      form: "x.name", sentence: "A member of a map. The name may contain `-`.",
      examples: [(#"fromJSON('{"a-b": 1}').a-b"#, "1")], precedence: .postfix),
    OperatorRow(
      form: "x[y]",
      sentence: "An item of a list by its number, from 0, or a member of a map by its name.",
      examples: [("['a', 'b'][1]", "'b'"), (#"fromJSON('{"a b": 1}')['a b']"#, "1")],
      precedence: .postfix),
    OperatorRow(
      form: "!x", sentence: "Not.", examples: [("!true", "false"), ("!!true", "true")],
      precedence: .not),
    OperatorRow(
      form: "x ?? y",
      sentence: "The left value, or the right one if the left is null or a missing member.",
      examples: [
        ("null ?? 'a'", "'a'"), ("'' ?? 'a'", "''"), ("fromJSON('{}').a ?? null ?? 'c'", "'c'"),
      ], precedence: .coalesce),
    OperatorRow(
      form: "x == y", sentence: "Equal. Both sides have the same type, or one of them is null.",
      examples: [
        ("1 == 1.0", "true"), ("'a' == 'A'", "false"), ("[1, 2] == [1, 2]", "true"),
        ("fromJSON('null') == null", "true"),
      ], precedence: .comparison),
    OperatorRow(
      form: "x != y", sentence: "Not equal.", examples: [("'a' != 'b'", "true")],
      precedence: .comparison),
    OperatorRow(
      form: "x < y", sentence: "Less. Compares numbers, or strings byte by byte.",
      examples: [("2 < 10", "true"), ("'2' < '10'", "false")], precedence: .comparison),
    OperatorRow(
      form: "x <= y", sentence: "Less or equal.", examples: [("2 <= 2", "true")],
      precedence: .comparison),
    OperatorRow(
      form: "x > y", sentence: "Greater. Compares numbers, or strings byte by byte.",
      examples: [("'b' > 'a'", "true")], precedence: .comparison),
    OperatorRow(
      form: "x >= y", sentence: "Greater or equal.", examples: [("1 >= 2", "false")],
      precedence: .comparison),
    OperatorRow(
      form: "x in y", sentence: "Whether a list contains a value, or a map a name.",
      examples: [
        ("'b' in ['a', 'b']", "true"), (#"'k' in fromJSON('{"k": null}')"#, "true"),
      ], precedence: .comparison),
    OperatorRow(
      form: "x && y", sentence: "And. The right side is evaluated only if the left is true.",
      examples: [("true && false", "false"), ("false && fromJSON('no JSON')", "false")],
      precedence: .and),
    OperatorRow(
      form: "x || y", sentence: "Or. The right side is evaluated only if the left is false.",
      examples: [("false || true", "true"), ("true || false && false", "true")],
      precedence: .or),
    OperatorRow(
      form: "x ? y : z", sentence: "The second value if the first is true, else the third.",
      examples: [("1 < 2 ? 'yes' : 'no'", "'yes'"), ("false ? 1 : true ? 2 : 3", "2")],
      precedence: .conditional),
  ]
}

// Values.
extension BinaryOperator {
  /// The result of an operator that compares two values; nil if these cannot be compared.
  package func compare(_ left: Value, _ right: Value) -> Bool? {
    switch self {
    case .equal: areComparable(left, right) ? left == right : nil
    case .notEqual: areComparable(left, right) ? left != right : nil
    case .less: left.precedes(right)
    case .lessOrEqual: right.precedes(left).map { !$0 }
    case .greater: right.precedes(left)
    case .greaterOrEqual: left.precedes(right).map { !$0 }
    case .coalesce, .in, .and, .or: nil
    }
  }
}

private func areComparable(_ left: Value, _ right: Value) -> Bool {
  left.type == right.type || left == .null || right == .null
}

extension Value {
  /// True if this value is less than the other; nil if the two have no order.
  fileprivate func precedes(_ other: Value) -> Bool? {
    switch (self, other) {
    case (.number(let left), .number(let right)): left < right
    case (.string(let left), .string(let right)):
      left.utf8.lexicographicallyPrecedes(right.utf8)
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.list, _), (.map, _): nil
    }
  }

  /// True if a list contains the value, or a map the name; nil for other types.
  package func holds(_ value: Value) -> Bool? {
    switch (self, value) {
    case (.list(let items), _): items.contains(value)
    case (.map(let map), .string(let name)): map[name] != nil
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.map, _): nil
    }
  }
}
