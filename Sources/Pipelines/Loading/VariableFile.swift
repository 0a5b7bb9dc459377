// Parses `.env` files: lines of the form `NAME=value`. It knows nothing about pipelines.

import Expressions

/// What is wrong with an `.env` file. The text itself is not shown, because it may be secret.
struct VariableFileFailure: Error, Hashable {
  let line: Int
  let message: String
}

/// The variables of a file, in order. Blank lines and lines that begin with `#` are ignored;
/// `export ` is allowed before a name. Text in single quotes is taken literally; in double quotes
/// `\n`, `\t`, `\"`, `\\` and `\$` are escapes; quoted values may span several lines. An unquoted
/// value ends with its line, or before ` #`. Nothing is expanded.
func variables(in bytes: [UInt8]) throws(VariableFileFailure) -> [(String, String)] {
  var reader = VariableFileReader(bytes)
  return try reader.read()
}

private struct VariableFileReader {
  private let bytes: [UInt8]
  private var place = 0
  private var line = 1

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func read() throws(VariableFileFailure) -> [(String, String)] {
    guard bytes.count <= 1 << 20 else { throw fault("larger than 1 MiB, which is the limit") }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    var result: [(String, String)] = []
    while true {
      skipBlanks(andLines: true)
      guard let next = peek else { return result }
      if next == UInt8(ascii: "#") {
        skipLine()
      } else {
        result.append(try variable())
      }
    }
  }

  private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

  private func fault(_ message: String) -> VariableFileFailure {
    VariableFileFailure(line: line, message: message)
  }

  private mutating func skipBlanks(andLines: Bool) {
    while let byte = peek, byte == 32 || byte == 9 || byte == 13 || byte == 10 && andLines {
      if byte == 10 { line += 1 }
      place += 1
    }
  }

  private mutating func skipLine() {
    while let byte = peek, byte != 10 { place += 1 }
  }

  private mutating func variable() throws(VariableFileFailure) -> (String, String) {
    var name = try self.name()
    if name == "export", let byte = peek, byte == 32 || byte == 9 {
      skipBlanks(andLines: false)
      name = try self.name()
    }
    skipBlanks(andLines: false)
    guard peek == UInt8(ascii: "=") else { throw fault("'=' is missing after a name") }
    place += 1
    skipBlanks(andLines: false)
    let start = line
    let value =
      switch peek {
      case UInt8(ascii: "'"), UInt8(ascii: "\""): try quoted(from: start)
      default: try plain()
      }
    guard let text = String(validating: value, as: UTF8.self), !value.contains(0) else {
      throw VariableFileFailure(
        line: start, message: "the value is not UTF-8, or contains a NUL character")
    }
    return (name, text)
  }

  private mutating func name() throws(VariableFileFailure) -> String {
    let start = place
    while let byte = peek, isNameByte(byte) { place += 1 }
    guard place > start, isNameStart(bytes[start]) else {
      throw fault("a line must be NAME=value, a comment or blank")
    }
    return String(decoding: bytes[start..<place], as: UTF8.self)
  }

  private mutating func plain() throws(VariableFileFailure) -> [UInt8] {
    var value: [UInt8] = []
    while let byte = peek, byte != 10 {
      if byte == UInt8(ascii: "#"), value.isEmpty || value.last == 32 || value.last == 9 {
        skipLine()
        break
      }
      value.append(byte)
      place += 1
    }
    while let last = value.last, last == 32 || last == 9 || last == 13 { value.removeLast() }
    return value
  }

  private mutating func quoted(from start: Int) throws(VariableFileFailure) -> [UInt8] {
    let quote = bytes[place]
    place += 1
    var value: [UInt8] = []
    while let byte = peek, byte != quote {
      place += 1
      if byte == 10 { line += 1 }
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), let next = peek {
        if let escaped = Self.escapes[next] {
          value.append(escaped)
          place += 1
          continue
        }
      }
      value.append(byte)
    }
    guard peek == quote else {
      throw VariableFileFailure(line: start, message: "a quote is never closed")
    }
    place += 1
    skipBlanks(andLines: false)
    if peek == UInt8(ascii: "#") { skipLine() }
    guard peek == nil || peek == 10 else { throw fault("text after a closing quote") }
    return value
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "n"): 10, UInt8(ascii: "t"): 9, UInt8(ascii: "r"): 13,
    UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
    UInt8(ascii: "$"): UInt8(ascii: "$"),
  ]
}
