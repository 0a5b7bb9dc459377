// Parses `.env` files: lines of the form `NAME=value`. It knows nothing about pipelines.

import Diagnostics
import Expressions

/// A variable, and the range of its name in the file.
struct FileVariable: Hashable {
  let name: String
  let value: String
  let place: Range<Int>
}

/// A fault of an `.env` file, and its range. The text itself is not shown, because it may be secret.
struct VariableFileFault: Hashable {
  let place: Range<Int>
  let message: String
  /// The earlier range of the same name.
  var first: Range<Int>?
}

/// The variables of an `.env` file, and its faults, in order.
struct VariableFile: Hashable {
  fileprivate(set) var variables: [FileVariable] = []
  fileprivate(set) var faults: [VariableFileFault] = []
}

/// Reads an `.env` file. Blank lines and lines that begin with `#` are ignored; `export ` is allowed
/// before a name. Text in single quotes is taken literally; in double quotes `\n`, `\t`, `\"`, `\\`
/// and `\$` are escapes; quoted values may span several lines. An unquoted value ends with its line, or
/// before ` #`. Nothing is expanded. After a fault, reading goes on with the next line.
func readVariables(_ bytes: [UInt8]) -> VariableFile {
  var reader = VariableFileReader(bytes)
  return reader.read()
}

private struct VariableFileReader {
  /// A failure that ends the current line.
  private struct Failure: Error {
    let place: Range<Int>
    let message: String
  }

  private let bytes: [UInt8]
  private var place = 0
  private var file = VariableFile()
  private var places: [String: Range<Int>] = [:]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func read() -> VariableFile {
    guard bytes.count <= 1 << 20 else {
      file.faults.append(
        VariableFileFault(
          place: 0..<1, message: "the file is larger than 1 MiB, which is the limit"))
      return file
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    while true {
      skipBlanks(andLines: true)
      guard let next = peek else { return file }
      if next == UInt8(ascii: "#") { skipLine() } else { readLine() }
    }
  }

  private mutating func readLine() {
    do throws(Failure) {
      let variable = try variable()
      if let first = places.updateValue(variable.place, forKey: variable.name) {
        file.faults.append(
          VariableFileFault(
            place: variable.place, message: "variable \(quoted(variable.name)) is set twice",
            first: first))
      } else {
        file.variables.append(variable)
      }
    } catch {
      file.faults.append(VariableFileFault(place: error.place, message: error.message))
      skipLine()
    }
  }

  private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

  /// A failure at the next character.
  private func failure(_ message: String) -> Failure {
    Failure(place: place..<place + 1, message: message)
  }

  private mutating func skipBlanks(andLines: Bool) {
    while let byte = peek, byte == 32 || byte == 9 || byte == 13 || byte == 10 && andLines {
      place += 1
    }
  }

  private mutating func skipLine() {
    while let byte = peek, byte != 10 { place += 1 }
  }

  private mutating func variable() throws(Failure) -> FileVariable {
    var name = try self.name()
    if text(name) == "export", let byte = peek, byte == 32 || byte == 9 {
      skipBlanks(andLines: false)
      name = try self.name()
    }
    skipBlanks(andLines: false)
    guard peek == UInt8(ascii: "=") else {
      throw Failure(
        place: name.upperBound..<name.upperBound + 1, message: "'=' is missing after a name")
    }
    place += 1
    skipBlanks(andLines: false)
    let start = place
    let value =
      switch peek {
      case UInt8(ascii: "'"), UInt8(ascii: "\""): try quotedValue()
      default: plainValue()
      }
    guard let text = String(validating: value, as: UTF8.self), !value.contains(0) else {
      throw Failure(
        place: start..<start + 1, message: "the value is not UTF-8, or contains a NUL character")
    }
    return FileVariable(name: self.text(name), value: text, place: name)
  }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  private mutating func name() throws(Failure) -> Range<Int> {
    let start = place
    while let byte = peek, isNameByte(byte) { place += 1 }
    guard place > start, isNameStart(bytes[start]) else {
      place = start
      throw failure("a line must be NAME=value, a comment or blank")
    }
    return start..<place
  }

  private mutating func plainValue() -> [UInt8] {
    var value: [UInt8] = []
    while let byte = peek, byte != 10 {
      if byte == UInt8(ascii: "#"), bytes[place - 1] == 32 || bytes[place - 1] == 9 {
        skipLine()
        break
      }
      value.append(byte)
      place += 1
    }
    while let last = value.last, last == 32 || last == 9 || last == 13 { value.removeLast() }
    return value
  }

  private mutating func quotedValue() throws(Failure) -> [UInt8] {
    let start = place
    let quote = bytes[place]
    place += 1
    var value: [UInt8] = []
    while let byte = peek, byte != quote {
      place += 1
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
      throw Failure(place: start..<start + 1, message: "a quote is never closed")
    }
    place += 1
    skipBlanks(andLines: false)
    if peek == UInt8(ascii: "#") { skipLine() }
    guard peek == nil || peek == 10 else { throw failure("text after a closing quote") }
    return value
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "n"): 10, UInt8(ascii: "t"): 9, UInt8(ascii: "r"): 13,
    UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
    UInt8(ascii: "$"): UInt8(ascii: "$"),
  ]
}
