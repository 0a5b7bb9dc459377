// Parses JSON texts as values (RFC 8259). It is strict: one value, no comments, no duplicate names,
// no integer that would be rounded to another one. It knows neither outputs nor expressions.

/// Why a text is not JSON.
package struct JSONFailure: Error, Hashable {
  package let reason: String
  /// The position, in bytes from the start of the text.
  package let offset: Int

  /// True if no part of the text is a value.
  package var isAtStart: Bool { offset == 0 && reason == Self.missingValue }
  fileprivate static let missingValue = "a value is missing"

  /// True if the text is JSON except for a number that would be written differently.
  package private(set) var isChangedNumber = false

  fileprivate static func changed(_ text: String, to number: String, offset: Int) -> JSONFailure {
    var failure = JSONFailure(
      reason: "\(text) is read as the number \(number); write \"\(text)\" in quotes, or \(number)",
      offset: offset)
    failure.isChangedNumber = true
    return failure
  }

  package init(reason: String, offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

/// The only parser of JSON, for outputs and for `fromJSON`.
package struct JSONReader {
  private let text: ArraySlice<UInt8>
  private var place: Int

  /// True if a number that would be written differently is refused, as it is in a pipeline file.
  private let keepsNumbers: Bool
  private var valueCount = 0

  private static let deepest = 64
  private static let maxValueCount = 1_000_000

  /// Parses a text. The bytes must be UTF-8. Linear in their number; at most 64 levels deep.
  /// `keepsNumbers` refuses numbers whose text would change, such as 3.10.
  package static func value(
    of text: ArraySlice<UInt8>, keepsNumbers: Bool = false
  ) throws(JSONFailure) -> Value {
    var reader = JSONReader(text, keepsNumbers: keepsNumbers)
    let value = try reader.value(depth: 1)
    reader.skipBlanks()
    if reader.byte != nil { throw reader.fault("unexpected content after the value") }
    return value
  }

  package static func value(
    of text: String, keepsNumbers: Bool = false
  ) throws(JSONFailure) -> Value {
    try value(of: Array(text.utf8)[...], keepsNumbers: keepsNumbers)
  }

  private init(_ text: ArraySlice<UInt8>, keepsNumbers: Bool) {
    self.text = text
    self.keepsNumbers = keepsNumbers
    place = text.startIndex
  }

  private func fault(_ reason: String, at place: Int? = nil) -> JSONFailure {
    JSONFailure(reason: reason, offset: min(place ?? self.place, text.endIndex) - text.startIndex)
  }

  private var byte: UInt8? { place < text.endIndex ? text[place] : nil }

  private mutating func skipBlanks() {
    while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard byte == UInt8(ascii: scalar) else { return false }
    place += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONFailure) -> Value {
    skipBlanks()
    valueCount += 1
    guard valueCount <= Self.maxValueCount else {
      throw fault("more than 1,000,000 values, which is the limit,")
    }
    switch byte {
    case UInt8(ascii: "{"): return try map(depth: depth)
    case UInt8(ascii: "["): return try list(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case .some(let byte) where byte == UInt8(ascii: "-") || isDecimalDigit(byte):
      return .number(try number())
    default: return try word()
    }
  }

  private mutating func word() throws(JSONFailure) -> Value {
    let words: [(StaticString, Value)] = [
      ("null", .null), ("true", .bool(true)), ("false", .bool(false)),
    ]
    for (word, value) in words {
      let bytes = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
      guard text[place...].starts(with: bytes) else { continue }
      place += bytes.count
      return value
    }
    throw fault(JSONFailure.missingValue)
  }

  private mutating func number() throws(JSONFailure) -> Double {
    let start = place
    while let byte, isNameByte(byte) || "+-.".utf8.contains(byte) { place += 1 }
    let written = text[start..<place]
    guard let number = numberValue(written) else { throw fault("not a number", at: start) }
    guard numberFault(written) == nil else {
      throw fault("a number too large to be represented exactly", at: start)
    }
    if keepsNumbers, numberText(number) != String(decoding: written, as: UTF8.self) {
      throw .changed(
        String(decoding: written, as: UTF8.self), to: numberText(number),
        offset: start - text.startIndex)
    }
    return number
  }

  private mutating func string() throws(JSONFailure) -> String {
    let start = place
    place += 1
    while let byte, byte != UInt8(ascii: "\"") {
      if byte < 0x20 { throw fault("a control character in a string") }
      place += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    guard byte != nil else { throw fault("an unclosed string", at: start) }
    place += 1
    guard let string = jsonStringText(text[start..<place]) else {
      throw fault("an unknown escape", at: start)
    }
    // Values are used in variables, arguments and paths, and none of these can contain NUL.
    guard !string.utf8.contains(0) else {
      throw fault("the character '\\u{0}' in a string", at: start)
    }
    return string
  }

  private mutating func list(depth: Int) throws(JSONFailure) -> Value {
    guard depth <= Self.deepest else { throw fault("more than 64 levels") }
    place += 1
    var items: [Value] = []
    if take("]") { return .list(items) }
    while true {
      items.append(try value(depth: depth + 1))
      if take("]") { return .list(items) }
      if !take(",") { throw fault("',' or ']' is missing") }
    }
  }

  private mutating func map(depth: Int) throws(JSONFailure) -> Value {
    guard depth <= Self.deepest else { throw fault("more than 64 levels") }
    place += 1
    var map = ValueMap()
    if take("}") { return .map(map) }
    while true {
      skipBlanks()
      let start = place
      guard byte == UInt8(ascii: "\"") else { throw fault("a name is missing") }
      let name = try string()
      guard map[name] == nil else { throw fault("a duplicate name", at: start) }
      guard take(":") else { throw fault("':' is missing") }
      map[name] = try value(depth: depth + 1)
      if take("}") { return .map(map) }
      if !take(",") { throw fault("',' or '}' is missing") }
    }
  }
}
