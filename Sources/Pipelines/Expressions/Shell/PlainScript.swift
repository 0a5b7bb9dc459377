// The scripts that need no scanner: plain commands one behind the other, with words in quotes and
// redirections, but nothing that is put in. Most scripts are such.

/// Reads a script as long as it is plain. It knows no more than the scanner, and says the same.
struct PlainScript {
  private enum State { case start, name, arguments }

  private let text: UnsafeBufferPointer<UInt8>
  private var state = State.start
  /// The quote that is open; 0 is none.
  private var quote: UInt8 = 0
  private var wordStart = 0
  /// The word has no quotes, and no values.
  private var isWordBare = true
  /// The last two bytes of the word, but for `/` at its end.
  private var ending: UInt16 = 0
  private var valueCount = 0
  private var quoted: UInt64 = 0

  private init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

  /// A bit for each value that stands in quotes; the others are parts of plain words. Values are the
  /// parts that are no text. Nil if the script is not plain.
  static func quotedValues(_ text: ArraySlice<UInt8>, _ parts: [Template.Part]) -> UInt64? {
    text.withUnsafeBufferPointer { bytes in
      var script = PlainScript(bytes)
      for part in parts {
        let isPlain =
          part.isLiteral
          ? script.read(Int(part.start) - text.startIndex..<Int(part.end) - text.startIndex)
          : script.readValue()
        if !isPlain { return nil }
      }
      return script.quote == 0 && script.endWord(at: bytes.count) ? script.quoted : nil
    }
  }

  /// A value may stand in any argument.
  private mutating func readValue() -> Bool {
    guard state == .arguments, quote == 0 || valueCount < UInt64.bitWidth else { return false }
    if quote != 0 { quoted |= 1 << UInt64(valueCount) }
    valueCount += 1
    isWordBare = false
    ending = 0
    return true
  }

  private mutating func read(_ range: Range<Int>) -> Bool {
    wordStart = range.lowerBound
    var place = range.lowerBound
    while place < range.upperBound {
      let byte = text[place]
      if quote != 0 {
        guard readQuoted(byte) else { return false }
      } else if isInert(byte) {
        let start = place
        while place + 1 < range.upperBound, isInert(text[place + 1]) { place += 1 }
        guard readInert(start...place) else { return false }
      } else {
        guard readSign(byte, place, range) else { return false }
      }
      place += 1
    }
    return true
  }

  private mutating func readInert(_ range: ClosedRange<Int>) -> Bool {
    if state == .start {
      state = .name
      beginWord(at: range.lowerBound)
    }
    if state == .name, text[range].contains(UInt8(ascii: "=")) { return false }
    if let last = text[range].lastIndex(where: { $0 != UInt8(ascii: "/") }) {
      for byte in text[range.lowerBound...last].suffix(2) { note(byte) }
    }
    return true
  }

  private mutating func note(_ byte: UInt8) {
    if byte != UInt8(ascii: "/") { ending = ending << 8 | UInt16(byte) }
  }

  private mutating func readQuoted(_ byte: UInt8) -> Bool {
    switch Unicode.Scalar(byte) {
    case "[", "]": return false
    case "$", "`", "\\": return quote == UInt8(ascii: "'")
    default:
      if byte == quote { quote = 0 } else { note(byte) }
      return true
    }
  }

  private mutating func readSign(_ byte: UInt8, _ place: Int, _ range: Range<Int>) -> Bool {
    switch Unicode.Scalar(byte) {
    case " ", "\t": return endWord(at: place)
    case "\n", "|", ";", "&":
      if state == .arguments, place > range.lowerBound, text[place - 1] == UInt8(ascii: ">") {
        // `>&1`, `>|x`: nothing else may follow here.
        beginWord(at: place + 1)
        return byte == UInt8(ascii: "&") || byte == UInt8(ascii: "|")
      }
      guard endWord(at: place) else { return false }
      state = .start
      return true
    case "\"", "'":
      guard state == .arguments else { return false }
      quote = byte
      isWordBare = false
      return true
    case ">":
      guard state == .arguments, isWordBare,
        text[wordStart..<place].allSatisfy(isDecimalDigit)
      else { return false }
      beginWord(at: place + 1)
      return true
    default: return false
    }
  }

  private mutating func beginWord(at place: Int) {
    wordStart = place
    isWordBare = true
    ending = 0
  }

  /// False if the word gives those behind it a meaning.
  private mutating func endWord(at place: Int) -> Bool {
    defer { beginWord(at: place + 1) }
    switch state {
    case .start: return true
    case .name:
      state = .arguments
      return !ShellWords.leading.contains(ShellWords.program(text[wordStart..<place]))
    case .arguments:
      guard Self.endings[Int(ending >> 8 & 31)] & 1 << UInt32(ending & 31) != 0 else { return true }
      return isWordBare && !ShellWords.telling.contains(ShellWords.program(text[wordStart..<place]))
    }
  }

  /// The last two letters of words that tell something wherever they stand: for the last but one,
  /// a bit for each of the last.
  private static let endings: [UInt32] = ShellWords.telling.names.reduce(
    into: [UInt32](repeating: 0, count: 32)
  ) { endings, name in
    let letters = name.utf8.suffix(2).map { Int($0 & 31) }
    endings[letters[0]] |= 1 << UInt32(letters[1])
  }
}

extension ShellWords {
  /// Words that, as the first of a command, give its arguments a meaning of their own.
  fileprivate static let leading = NameTable(
    [grammar, prefixes, interpreters, declarations, tests].flatMap(\.names))
  /// Words that may do so wherever they stand.
  fileprivate static let telling = NameTable([shells, declarations].flatMap(\.names))
}

/// `[A-Za-z0-9_@%+=:,./-]`: no shell takes any of them for more than a character of a word.
func isInert(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "@"),
    UInt8(ascii: "%"), UInt8(ascii: "+"), UInt8(ascii: "="), UInt8(ascii: ":"),
    UInt8(ascii: ","), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "-"):
    true
  default: false
  }
}
