// Values in code that no shell reads. In most languages a bare word is code, and so is text between
// operators such as `qx,…,`: only numbers may be outside of strings. It knows no language, so it
// accepts only strings whose quotes cannot be mistaken for others.

extension InsertedText {
  enum CodeFault {
    /// The value is outside of strings, or the start of its string may be something else.
    case outside
    /// The value has a character that could end a string, or has a meaning in one.
    case unsafe(Character)
    /// The value is in a string that is more than one word.
    case inText
  }

  /// The first value that is neither a number nor a part of a string that is one word.
  var valueThatIsCode: (value: InsertedValue, fault: CodeFault)? {
    for line in lines where !line.values.isEmpty {
      let places = QuotedPlaces(line.bytes)
      for (range, value) in line.values where !Self.isNumberOrTruth(value.text) {
        switch places[range.lowerBound] {
        case .word: continue
        case .code: return (value, .outside)
        case .text:
          let unsafe = value.text.first { !$0.utf8.allSatisfy(QuotedPlaces.isPlain) }
          return (value, unsafe.map { .unsafe($0) } ?? .inText)
        }
      }
    }
    return nil
  }

  private static func isNumberOrTruth(_ text: String) -> Bool {
    if text == "true" || text == "false" { return true }
    guard let first = text.utf8.first, first != UInt8(ascii: ".") else { return false }
    return text.utf8.allSatisfy {
      $0 == UInt8(ascii: ".") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
    }
  }
}

/// The role of each byte of a line.
private struct QuotedPlaces {
  enum Place {
    case code
    /// A string of letters, digits, `_`, and `.` and `-` between them.
    case word
    case text
  }

  private var places: [Place]
  private let start: Int

  init(_ line: ArraySlice<UInt8>) {
    places = Array(repeating: .code, count: line.count)
    start = line.startIndex
    for quote in [UInt8(ascii: "'"), UInt8(ascii: "\"")] {
      for string in Self.strings(in: line, quote) {
        let place: Place = Self.isWord(line[string]) ? .word : .text
        for index in string where places[index - start] != .word { places[index - start] = place }
      }
    }
  }

  subscript(index: Int) -> Place { places[index - start] }

  static func isPlain(_ byte: UInt8) -> Bool {
    isNameByte(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
  }

  /// True if a string is one word. An unknown value counts as a letter: the run checks again.
  private static func isWord(_ string: ArraySlice<UInt8>) -> Bool {
    let isLetter = { isNameByte($0) || $0 == InsertedText.unknown }
    guard let first = string.first, let last = string.last else { return false }
    return isLetter(first) && isLetter(last)
      && string.allSatisfy { isPlain($0) || $0 == InsertedText.unknown }
  }

  /// The ranges between the quotes of a line, if all of them look like those around strings: `A'`,
  /// `s/'//` and `it's` do not.
  private static func strings(in line: ArraySlice<UInt8>, _ quote: UInt8) -> [Range<Int>] {
    let quotes = line.indices.filter { line[$0] == quote }
    guard quotes.count.isMultiple(of: 2) else { return [] }
    var strings: [Range<Int>] = []
    for index in stride(from: 0, to: quotes.count, by: 2) {
      let (opening, closing) = (quotes[index], quotes[index + 1])
      guard opening == line.startIndex || precedesString(line[opening - 1]),
        closing + 1 == line.endIndex || followsString(line[closing + 1])
      else { return [] }
      strings.append(opening + 1..<closing)
    }
    return strings
  }

  private static func precedesString(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "("), UInt8(ascii: "["),
      UInt8(ascii: "{"), UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "+"),
      UInt8(ascii: ":"):
      true
    default: false
    }
  }

  private static func followsString(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: ")"), UInt8(ascii: "]"),
      UInt8(ascii: "}"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "."),
      UInt8(ascii: "+"), UInt8(ascii: ":"), UInt8(ascii: "\r"):
      true
    default: false
    }
  }
}
