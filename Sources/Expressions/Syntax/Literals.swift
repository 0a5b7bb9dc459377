// The values of literals: numbers, and strings in single or double quotes.

/// The message about a text that is not a number; nil if it is one.
func numberFault(_ text: ArraySlice<UInt8>) -> UnlocatedFailure? {
  let written = String(decoding: text, as: UTF8.self)
  guard let number = numberValue(text) else { return ExpressionMessage.badNumber(written) }
  let isInteger = text.allSatisfy { isDecimalDigit($0) || $0 == UInt8(ascii: "-") }
  if !number.isFinite || isInteger && number.magnitude > largestExactInteger {
    return ExpressionMessage.numberTooLarge(written)
  }
  return nil
}

/// The number, perhaps infinite, as JSON writes it; nil if it is written in any other way.
func numberValue(_ text: ArraySlice<UInt8>) -> Double? {
  var rest = text
  if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
  let whole = rest.prefix(while: isDecimalDigit)
  guard let first = whole.first, first != UInt8(ascii: "0") || whole.count == 1 else { return nil }
  rest = rest.dropFirst(whole.count)
  if rest.first == UInt8(ascii: ".") {
    let decimals = rest.dropFirst().prefix(while: isDecimalDigit)
    guard !decimals.isEmpty else { return nil }
    rest = rest.dropFirst(1 + decimals.count)
  }
  if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
    rest.removeFirst()
    if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let digits = rest.prefix(while: isDecimalDigit)
    guard !digits.isEmpty else { return nil }
    rest = rest.dropFirst(digits.count)
  }
  return rest.isEmpty ? Double(String(decoding: text, as: UTF8.self)) : nil
}

/// The value of a string in double quotes, with the escapes of JSON; nil if one of them is unknown.
func jsonStringText(_ literal: ArraySlice<UInt8>) -> String? {
  var bytes: [UInt8] = []
  var place = literal.startIndex + 1
  let end = literal.endIndex - 1
  while place < end {
    guard literal[place] == UInt8(ascii: "\\") else {
      bytes.append(literal[place])
      place += 1
      continue
    }
    guard place + 1 < end, let escape = jsonEscape(literal[(place + 1)..<end]) else { return nil }
    bytes.append(contentsOf: UTF8.encode(escape.scalar).map(Array.init) ?? [])
    place += 1 + escape.byteCount
  }
  return String(decoding: bytes, as: UTF8.self)
}

/// The scalar of an escape, and the number of bytes of the escape.
private func jsonEscape(
  _ text: ArraySlice<UInt8>
) -> (scalar: Unicode.Scalar, byteCount: Int)? {
  switch text.first.map(Unicode.Scalar.init) {
  case "\"": return ("\"", 1)
  case "\\": return ("\\", 1)
  case "/": return ("/", 1)
  case "b": return ("\u{8}", 1)
  case "f": return ("\u{c}", 1)
  case "n": return ("\n", 1)
  case "r": return ("\r", 1)
  case "t": return ("\t", 1)
  case "u": return unicodeEscape(text)
  default: return nil
  }
}

/// Reads an escape such as `u00e9`, or a pair of surrogates.
private func unicodeEscape(
  _ text: ArraySlice<UInt8>
) -> (scalar: Unicode.Scalar, byteCount: Int)? {
  guard let unit = hexadecimal(text.dropFirst()) else { return nil }
  if let scalar = Unicode.Scalar(unit) { return (scalar, 5) }
  let rest = text.dropFirst(5)
  guard unit < 0xDC00, rest.starts(with: "\\u".utf8), let low = hexadecimal(rest.dropFirst(2)),
    low >= 0xDC00, low < 0xE000,
    let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
  else { return nil }
  return (scalar, 11)
}

/// The number written in four hexadecimal digits.
private func hexadecimal(_ text: ArraySlice<UInt8>) -> UInt32? {
  guard text.count >= 4 else { return nil }
  var value: UInt32 = 0
  for byte in text.prefix(4) {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte & 0xF)
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
      value = value << 4 | UInt32(byte & 0xF) + 9
    default: return nil
    }
  }
  return value
}

extension Expression {
  /// The value of a string node.
  package func stringLiteral(_ node: Int) -> String {
    let range = range(of: node)
    let literal = content[range]
    if literal.first == UInt8(ascii: "\"") { return jsonStringText(literal) ?? "" }
    let quote = UInt8(ascii: "'")
    let written = literal.dropFirst().dropLast()
    guard written.contains(quote) else { return String(decoding: written, as: UTF8.self) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(written.count)
    var isSecond = false
    for byte in written {
      isSecond = byte == quote && !isSecond
      if !isSecond { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The value of a literal or a folded part; nil for anything else.
  package func literal(_ node: Int) -> Value? {
    switch nodes[node].kind {
    case .null: .null
    case .true: .bool(true)
    case .false: .bool(false)
    case .number: numberValue(content[range(of: node)]).map { .number($0) }
    case .string: .string(stringLiteral(node))
    case .constant: constants[Int(nodes[node].value)]
    case .root, .unknownName, .member, .index, .list, .not, .binary, .conditional, .call,
      .unknownCall:
      nil
    }
  }
}

package func isDecimalDigit(_ byte: UInt8) -> Bool {
  byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
}
