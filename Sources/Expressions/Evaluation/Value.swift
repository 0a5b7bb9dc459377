// The result of an expression: a value of one of six types, as in JSON. It knows nothing about
// expressions.

import Diagnostics

package enum Value: Hashable, Sendable {
  case null
  case bool(Bool)
  /// A number that is neither infinite nor NaN. Integers below 2^53 are exact.
  case number(Double)
  case string(String)
  case list([Value])
  indirect case map(ValueMap)
}

extension Value {
  /// Compares values. Strings are compared byte by byte, because for Swift é is equal to e with a
  /// combining accent.
  package static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(var left), .string(var right)):
      left.withUTF8 { left in right.withUTF8 { right in areEqual(left, right) } }
    case (.list(let left), .list(let right)): left == right
    case (.map(let left), .map(let right)): left == right
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.list, _), (.map, _): false
    }
  }
}

/// Names and their values in the order in which they were written. Two maps with the same members
/// in any order are equal.
package struct ValueMap: Hashable, Sendable {
  private var members = OrderedMap<Value>()

  package init() {}

  /// Makes a map. If two members have the same name the last one counts, in the position of the
  /// first.
  package init(_ members: [(String, Value)]) {
    for (name, value) in members { self[name] = value }
  }

  package var names: [String] { members.names }
  package var values: [Value] { members.values }
  package var count: Int { members.count }

  /// The map with the members of another one added, which replace those of the same names.
  package func merging(_ other: ValueMap) -> ValueMap {
    var map = self
    for (name, value) in zip(other.names, other.values) { map[name] = value }
    return map
  }

  /// A map with the same names in the same order; there must be a value for each.
  package func with(_ values: [Value]) -> ValueMap {
    precondition(values.count == count)
    var map = self
    map.members.values = values
    return map
  }

  /// The value of a name. Setting nil changes nothing.
  package subscript(name: String) -> Value? {
    get { members[name] }
    set { members[name] = newValue }
  }

  package static func == (left: ValueMap, right: ValueMap) -> Bool {
    left.count == right.count && zip(left.names, left.values).allSatisfy { right[$0] == $1 }
  }

  package func hash(into hasher: inout Hasher) {
    var members = 0
    for (name, value) in zip(names, values) {
      var member = Hasher()
      member.combine(name)
      member.combine(value)
      members ^= member.finalize()
    }
    hasher.combine(members)
  }
}

extension Value {
  package var type: ExpressionType.Kinds {
    switch self {
    case .null: .null
    case .bool: .bool
    case .number: .number
    case .string: .string
    case .list: .list
    case .map: .map
    }
  }

  /// The text form of strings, numbers and booleans; nil for values that have none.
  package var text: String? {
    switch self {
    case .string(let text): text
    case .bool(let value): value ? "true" : "false"
    case .number(let number): numberText(number)
    case .null, .list, .map: nil
    }
  }

  /// The value as compact JSON.
  package var json: String {
    var writer = JSONWriter()
    _ = writer.write(self)
    return writer.text
  }
}

/// The largest safe integer, 2^53 − 1: not every larger integer can be represented.
package let largestExactInteger = 9_007_199_254_740_991.0

/// The number as in JSON: an integer without `.0`.
package func numberText(_ number: Double) -> String {
  if number.magnitude <= largestExactInteger, number == number.rounded(.towardZero) {
    return text(of: Int64(number))
  }
  return "\(number)"
}

/// An integer of at most 2^53, in digits: `String(_:)` is generic, and takes four times as long.
private func text(of integer: Int64) -> String {
  let signCount = integer < 0 ? 1 : 0
  var byteCount = signCount + 1
  var bound: UInt64 = 10
  while integer.magnitude >= bound {
    byteCount += 1
    bound *= 10
  }
  return String(unsafeUninitializedCapacity: byteCount) { bytes in
    var rest = integer.magnitude
    for place in (signCount..<byteCount).reversed() {
      bytes[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    if integer < 0 { bytes[0] = UInt8(ascii: "-") }
    return byteCount
  }
}
