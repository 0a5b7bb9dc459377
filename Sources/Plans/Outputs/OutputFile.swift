// Reads the file that OPRUN_OUTPUT names, which has the outputs of a step. It knows neither where
// the file is nor what the values are used for.

import Diagnostics
package import Expressions

/// Why the outputs of a step cannot be used.
package struct OutputFailure: Error, Hashable, Sendable {
  /// The message, with the number of the faulty line if there is one: `line 3 of OPRUN_OUTPUT: 'a' is
  /// given twice, …`.
  package let message: String
  private let help: String?
  /// The faulty line, if it is printable and short enough to be shown.
  private var line: String?
  private static let longestLine = 80

  package init(message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }

  /// The message with the faulty line and a help. In a run with secrets no line is shown: it may
  /// hold half of one, which would not be masked.
  package func words(hasSecrets: Bool) -> String {
    let shown = hasSecrets ? nil : line.map { ": '\($0)'" }
    return message + (shown ?? "") + (help.map { "; \($0)" } ?? "")
  }

  fileprivate func about(_ bytes: ArraySlice<UInt8>) -> OutputFailure {
    guard let text = String(validating: bytes, as: UTF8.self),
      text.unicodeScalars.count <= Self.longestLine, printable(text) == text
    else { return self }
    var failure = self
    failure.line = text
    return failure
  }
}

/// The values in a file of outputs, in order. Without declarations any name is allowed.
package func readOutputs(
  _ bytes: [UInt8], declared: [OutputDeclaration]?
) throws(OutputFailure) -> ValueMap {
  guard bytes.count <= OutputFile.byteLimit else { throw OutputMessage.tooLarge() }
  var file = OutputFile(bytes, declared: declared)
  return try file.read()
}

package struct OutputFile {
  /// The maximum size: 1 MiB.
  package static let byteLimit = 1 << 20

  private let bytes: [UInt8]
  private let types: [String: OutputType]?
  private var place = 0
  /// The number of the line that was read last; the first is 1.
  private var line = 0
  private var values = ValueMap()
  /// The number of the line that gives each name.
  private var lines: [String: Int] = [:]

  package init(_ bytes: [UInt8], declared: [OutputDeclaration]?) {
    self.bytes = bytes
    types = declared.map { declared in
      Dictionary(declared.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
    }
  }

  package mutating func read() throws(OutputFailure) -> ValueMap {
    while let text = try nextLine() {
      let text = text.last == UInt8(ascii: "\r") ? text.dropLast() : text
      if !text.isEmpty { try readEntry(text) }
    }
    return values
  }

  /// The next line without its line break; nil at the end of the file.
  private mutating func nextLine() throws(OutputFailure) -> ArraySlice<UInt8>? {
    guard place < bytes.count else { return nil }
    let rest = bytes[place...]
    let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    let text = bytes[place..<end]
    place = end + 1
    line += 1
    if text.contains(0) { throw OutputMessage.nul(line) }
    guard String(validating: text, as: UTF8.self) != nil else { throw OutputMessage.notUTF8(line) }
    return text
  }

  private mutating func readEntry(_ text: ArraySlice<UInt8>) throws(OutputFailure) {
    let first = line
    let equals = text.firstIndex(of: UInt8(ascii: "="))
    let arrows = startOfArrows(in: text)
    let mark = [equals, arrows].compactMap { $0 }.min()
    guard let mark else { throw OutputMessage.noEntry(first).about(text) }
    let key = text[..<mark]
    let isJSON = key.hasSuffix(":json")
    let name = string(isJSON ? key.dropLast(5) : key)
    try check(name, first, text)
    let value =
      mark == equals ? text[(mark + 1)...] : try hereDocument(after: text[(mark + 2)...], name)
    lines[name] = first
    do throws(OutputFailure) {
      values[name] = try self.value(of: value, name, isJSON: isJSON, first)
    } catch {
      throw error.about(text)
    }
  }

  private func startOfArrows(in text: ArraySlice<UInt8>) -> Int? {
    text.indices.dropLast().first {
      text[$0] == UInt8(ascii: "<") && text[$0 + 1] == UInt8(ascii: "<")
    }
  }

  /// Reads the lines up to the one that consists of the delimiter, and skips that one.
  private mutating func hereDocument(
    after word: ArraySlice<UInt8>, _ name: String
  ) throws(OutputFailure) -> ArraySlice<UInt8> {
    let first = line
    guard !word.isEmpty else { throw OutputMessage.noWord(name, first) }
    let start = place
    var end = place
    while let text = try nextLine() {
      if text.elementsEqual(word) || text.dropLast().elementsEqual(word) && text.hasSuffix("\r") {
        return bytes[start..<end]
      }
      end = text.endIndex
    }
    throw OutputMessage.noEnd(name, first)
  }

  private func check(
    _ name: String, _ line: Int, _ text: ArraySlice<UInt8>
  ) throws(OutputFailure) {
    var copy = name
    guard copy.withUTF8(isIdentifier) else { throw OutputMessage.badName(name, line).about(text) }
    if let first = lines[name] { throw OutputMessage.duplicate(name, first: first, line) }
    guard let types, types[name] == nil else { return }
    let close = suggestion(for: name, among: types.keys.sorted())
    throw OutputMessage.undeclared(name, suggestion: close, line)
  }

  private func value(
    of text: ArraySlice<UInt8>, _ name: String, isJSON: Bool, _ line: Int
  ) throws(OutputFailure) -> Value {
    let type = types?[name]
    guard isJSON || type ?? .string != .string else { return .string(string(text)) }
    let value: Value
    do throws(JSONFailure) {
      value = try JSONReader.value(of: text)
    } catch {
      throw OutputMessage.noJSON(name, type, error, line)
    }
    if let type, !type.includes(value) {
      throw OutputMessage.wrongType(name, type, found: value.type.words, line)
    }
    return value
  }

  private func string(_ text: ArraySlice<UInt8>) -> String { String(decoding: text, as: UTF8.self) }
}

extension OutputType {
  package func includes(_ value: Value) -> Bool {
    switch (self, value) {
    case (.string, .string), (.number, .number), (.bool, .bool), (.list, .list), (.map, .map),
      (.json, _):
      true
    case (.int, .number(let number)): number == number.rounded(.towardZero)
    case (.string, _), (.int, _), (.number, _), (.bool, _), (.list, _), (.map, _): false
    }
  }
}

extension ArraySlice<UInt8> {
  fileprivate func hasSuffix(_ text: StaticString) -> Bool {
    let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    return suffix(bytes.count).elementsEqual(bytes)
  }
}
