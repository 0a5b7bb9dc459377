// Patterns of file names: `*`, `?` and `[…]`, as `fnmatch` has them, but for characters instead of
// bytes, whatever the locale is. It knows no directories.

/// A pattern for one name. A character is a code point of UTF-8; each byte of a name that is no part of one counts as a
/// character, which `*`, `?` and `[!…]` match.
package struct NamePattern: Sendable {
  private enum Part: Sendable {
    case one(UInt32)
    case any
    case many
    case set([ClosedRange<UInt32>], isInverted: Bool)

    func matches(_ character: UInt32) -> Bool {
      switch self {
      case .one(let own): own == character
      case .any, .many: true
      case .set(let ranges, let isInverted):
        ranges.contains { $0.contains(character) } != isInverted
      }
    }
  }

  /// Nil if the pattern matches nothing.
  private let parts: [Part]?

  /// Reads a pattern. A text without `*`, `?` and `[` matches only itself. In any other, a
  /// backslash makes the next character literal.
  package init(_ text: String) {
    let characters = text.unicodeScalars.map(\.value)
    guard Self.hasSigns(text) else {
      parts = characters.map { .one($0) }
      return
    }
    var parser = Parser(rest: characters[...])
    parts = parser.parts()
  }

  /// True if a character of the text may be a wildcard.
  package static func hasSigns(_ text: String) -> Bool {
    text.utf8.contains { $0 == star || $0 == questionMark || $0 == bracket }
  }

  package func matches(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { matches(UnsafeRawBufferPointer($0)) }
  }

  /// True if the pattern matches a name of bytes. A dot at its beginning is matched only by a dot.
  /// Complexity: at most the product of both lengths.
  package func matches(_ name: UnsafeRawBufferPointer) -> Bool {
    guard let parts else { return false }
    if name.first == UInt8(ascii: ".") {
      guard case .one? = parts.first else { return false }
    }
    var (part, place) = (0, 0)
    // The match of the part after the last `*` may begin further on.
    var afterMany: (part: Int, place: Int)?
    while part < parts.count || place < name.count {
      if part < parts.count {
        if case .many = parts[part] {
          part += 1
          afterMany = (part, place)
          continue
        }
        if place < name.count {
          let (character, length) = Self.character(of: name, at: place)
          if parts[part].matches(character) {
            (part, place) = (part + 1, place + length)
            continue
          }
        }
      }
      guard let last = afterMany, last.place < name.count else { return false }
      place = last.place + Self.character(of: name, at: last.place).length
      (part, afterMany) = (last.part, (last.part, place))
    }
    return true
  }

  /// The code point at a position; a byte that begins none has a value beyond all of them.
  private static func character(
    of name: UnsafeRawBufferPointer, at place: Int
  ) -> (value: UInt32, length: Int) {
    let first = UInt32(name[place])
    if first < 0x80 { return (first, 1) }
    let stray = (value: 0x11_0000 + first, length: 1)
    let (length, least): (Int, UInt32)
    switch first {
    case 0xC2...0xDF: (length, least) = (2, 0x80)
    case 0xE0...0xEF: (length, least) = (3, 0x800)
    case 0xF0...0xF4: (length, least) = (4, 0x1_0000)
    default: return stray
    }
    guard place + length <= name.count else { return stray }
    var value = first & (0xFF >> UInt32(length + 1))
    for byte in name[place + 1..<place + length] {
      guard byte & 0xC0 == 0x80 else { return stray }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    guard value >= least, Unicode.Scalar(value) != nil else { return stray }
    return (value, length)
  }

  // MARK: Syntax

  private static let star = UInt8(ascii: "*")
  private static let questionMark = UInt8(ascii: "?")
  private static let bracket = UInt8(ascii: "[")

  private struct Parser {
    var rest: ArraySlice<UInt32>

    /// The parts of the pattern; nil if it can match nothing.
    mutating func parts() -> [Part]? {
      var parts: [Part] = []
      while let character = rest.popFirst() {
        switch Unicode.Scalar(character) {
        case "*": parts.append(.many)
        case "?": parts.append(.any)
        case "[":
          let start = rest
          if let set = set() {
            parts.append(set)
          } else {
            // The bracket is not closed.
            rest = start
            parts.append(.one(character))
          }
        case "\\":
          guard let literal = rest.popFirst() else { return nil }
          parts.append(.one(literal))
        default: parts.append(.one(character))
        }
      }
      return parts
    }

    /// Reads the characters in brackets, after the opening one; nil if they are not closed.
    private mutating func set() -> Part? {
      var ranges: [ClosedRange<UInt32>] = []
      let isInverted = skip("!") || skip("^")
      var isFirst = true
      while let character = rest.popFirst() {
        if character == value("]"), !isFirst { return .set(ranges, isInverted: isInverted) }
        isFirst = false
        if character == value("["), let named = named() {
          ranges += named
          continue
        }
        guard let low = member(character) else { return nil }
        guard rest.first == value("-"), rest.dropFirst().first != value("]") else {
          ranges.append(low...low)
          continue
        }
        rest.removeFirst()
        guard let next = rest.popFirst(), let high = member(next) else { return nil }
        if low <= high { ranges.append(low...high) }
      }
      return nil
    }

    private mutating func member(_ character: UInt32) -> UInt32? {
      character == value("\\") ? rest.popFirst() : character
    }

    /// Reads `[:digit:]`, `[=a=]` or `[.a.]`, after its bracket; nil if it is none of these.
    private mutating func named() -> [ClosedRange<UInt32>]? {
      guard let kind = rest.first, [":", "=", "."].contains(Unicode.Scalar(kind)),
        let end = rest.indices.dropFirst().first(where: {
          rest[$0] == kind && rest[$0...].dropFirst().first == value("]")
        })
      else { return nil }
      let inner = rest[rest.startIndex + 1..<end]
      let ranges: [ClosedRange<UInt32>]?
      if kind == value(":") {
        ranges = Self.members(
          ofClass: String(String.UnicodeScalarView(inner.compactMap { Unicode.Scalar($0) })))
      } else {
        ranges = inner.count == 1 ? inner.first.map { [$0...$0] } : nil
      }
      if ranges != nil { rest = rest[(end + 2)...] }
      return ranges
    }

    /// The members of a class in the C locale.
    private static func members(ofClass name: String) -> [ClosedRange<UInt32>]? {
      switch name {
      case "digit": [0x30...0x39]
      case "upper": [0x41...0x5A]
      case "lower": [0x61...0x7A]
      case "alpha": [0x41...0x5A, 0x61...0x7A]
      case "alnum": [0x30...0x39, 0x41...0x5A, 0x61...0x7A]
      case "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66]
      case "blank": [0x09...0x09, 0x20...0x20]
      case "space": [0x09...0x0D, 0x20...0x20]
      case "cntrl": [0x00...0x1F, 0x7F...0x7F]
      case "graph": [0x21...0x7E]
      case "print": [0x20...0x7E]
      case "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E]
      default: nil
      }
    }

    private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
      guard rest.first == scalar.value else { return false }
      rest.removeFirst()
      return true
    }

    private func value(_ scalar: Unicode.Scalar) -> UInt32 { scalar.value }
  }
}
