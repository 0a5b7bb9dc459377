// JSON texts as values and back, RFC 8259. Strict: no comments, one value, names are not repeated.

import Diagnostics

struct JSONFault: Error {
  let words: FaultWords
}

struct JSONReader {
  private static let maxDepth = 64

  private let text: [UInt8]
  private var place = 0

  static func value(of text: String) throws(JSONFault) -> Value {
    var reader = JSONReader(text: Array(text.utf8))
    let value = try reader.value(depth: 0)
    reader.skipBlanks()
    if reader.place < reader.text.count { throw reader.fault("something stands behind the value") }
    return value
  }

  private init(text: [UInt8]) { self.text = text }

  private func fault(_ reason: String, at place: Int? = nil) -> JSONFault {
    JSONFault(words: ExpressionMessage.badJSON(reason, at: place ?? self.place))
  }

  private var byte: UInt8? { place < text.count ? text[place] : nil }

  private mutating func skipBlanks() {
    while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard byte == UInt8(ascii: scalar) else { return false }
    place += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONFault) -> Value {
    skipBlanks()
    if depth > Self.maxDepth { throw fault("more than 64 levels") }
    switch byte {
    case UInt8(ascii: "{"): return try map(depth: depth)
    case UInt8(ascii: "["): return try list(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case .some(let byte) where byte == UInt8(ascii: "-") || isDecimalDigit(byte):
      return .number(try number())
    default: return try word()
    }
  }

  private mutating func word() throws(JSONFault) -> Value {
    let rest = text[place...]
    let words: [(String, Value)] = [
      ("null", .null), ("true", .bool(true)), ("false", .bool(false)),
    ]
    guard let (word, value) = words.first(where: { rest.starts(with: $0.0.utf8) }) else {
      throw fault("a value is missing")
    }
    place += word.utf8.count
    return value
  }

  private mutating func number() throws(JSONFault) -> Double {
    let start = place
    while let byte,
      isNameByte(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "+")
        || byte == UInt8(ascii: "-")
    {
      place += 1
    }
    let written = text[start..<place]
    guard let number = numberValue(written) else { throw fault("no number", at: start) }
    if numberFault(written) != nil {
      throw fault("a number too large to be exact", at: start)
    }
    return number
  }

  private mutating func string() throws(JSONFault) -> String {
    let start = place
    place += 1
    while let byte, byte != UInt8(ascii: "\"") {
      if byte < 0x20 { throw fault("a control character in a string") }
      place += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    guard place < text.count else { throw fault("a string is not closed", at: start) }
    place += 1
    guard let string = jsonStringText(text[start..<place]) else {
      throw fault("an escape that is none", at: start)
    }
    return string
  }

  private mutating func list(depth: Int) throws(JSONFault) -> Value {
    place += 1
    var items: [Value] = []
    if take("]") { return .list([]) }
    while true {
      items.append(try value(depth: depth + 1))
      if take("]") { return .list(items) }
      if !take(",") { throw fault("',' or ']' is missing") }
    }
  }

  private mutating func map(depth: Int) throws(JSONFault) -> Value {
    place += 1
    var map = ValueMap()
    if take("}") { return .map(map) }
    while true {
      skipBlanks()
      guard byte == UInt8(ascii: "\"") else { throw fault("a name is missing") }
      let start = place
      let name = try string()
      if map[name] != nil { throw fault("a name for the second time", at: start) }
      if !take(":") { throw fault("':' is missing") }
      map[name] = try value(depth: depth + 1)
      if take("}") { return .map(map) }
      if !take(",") { throw fault("',' or '}' is missing") }
    }
  }
}

/// Compact JSON up to a limit.
struct JSONWriter {
  private let limit: Int
  private(set) var text = ""

  init(limit: Int) { self.limit = limit }

  /// False once the text is longer than the limit.
  mutating func write(_ value: Value) -> Bool {
    switch value {
    case .list(let items):
      text += "["
      for (number, item) in items.enumerated() {
        if number > 0 { text += "," }
        guard write(item) else { return false }
      }
      text += "]"
    case .map(let map):
      text += "{"
      for (number, member) in zip(map.names, map.values).enumerated() {
        text += (number > 0 ? "," : "") + jsonString(member.0) + ":"
        guard write(member.1) else { return false }
      }
      text += "}"
    default: text += value.json
    }
    return text.utf8.count <= limit
  }
}
