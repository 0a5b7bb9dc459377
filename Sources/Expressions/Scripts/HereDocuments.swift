// Finds values that would end a here-document, after which the next lines are code. It knows no
// grammar: any word after `<<` counts as a delimiter.

extension InsertedText {
  /// The first value whose line could be the end of a here-document that begins before it.
  func valueThatEndsDocument(isShell: Bool) -> InsertedValue? {
    var documents = HereDocuments(isShell: isShell)
    var joined: [Line] = []
    for line in lines {
      if let value = line.values.last?.value,
        documents.isEnd(HereDocuments.Candidate(line, isShell: isShell))
      {
        return value
      }
      documents.readDelimiters(in: line.bytes)
      let continues = Self.endsInBackslash(line.bytes)
      if continues || !joined.isEmpty { joined.append(line) }
      if continues { continue }
      if let value = documents.end(in: joined) { return value }
      joined = []
    }
    return documents.end(in: joined)
  }

  /// True if a shell may join the line with the next one.
  private static func endsInBackslash(_ line: ArraySlice<UInt8>) -> Bool {
    let others = line.reversed().prefix { $0 == UInt8(ascii: "\\") }
    return !others.count.isMultiple(of: 2)
  }
}

/// The words that could end here-documents, without quotes and backslashes.
private struct HereDocuments {
  let isShell: Bool
  private var delimiters: Set<[UInt8]> = []
  /// The delimiters without blanks.
  private var plainDelimiters: Set<[UInt8]> = []
  private var longest = 0

  init(isShell: Bool) { self.isShell = isShell }

  /// A line, or several lines that are read as one, that could end a document.
  struct Candidate {
    /// The text without quotes.
    var text: [UInt8]
    /// The number of its bytes before the first value.
    var authorCount: Int
    /// True if the end of a command substitution follows.
    var hasParenthesis: Bool
    var isKnown: Bool

    init(_ line: InsertedText.Line, isShell: Bool) {
      text = HereDocuments.withoutQuotes(line.bytes)
      authorCount = text.count
      if let first = line.values.first {
        authorCount = HereDocuments.withoutQuotes(line.bytes[..<first.range.lowerBound]).count
      }
      hasParenthesis =
        isShell && text.contains { $0 == UInt8(ascii: ")") || $0 == UInt8(ascii: "}") }
      isKnown = !line.bytes.contains(InsertedText.unknown)
    }
  }

  func isEnd(_ line: Candidate) -> Bool { isEnd(line, among: delimiters) }

  private func isEnd(_ line: Candidate, among delimiters: Set<[UInt8]>) -> Bool {
    if delimiters.isEmpty || !line.isKnown { return false }
    if delimiters.contains(line.text) { return true }
    // In PHP, anything may follow the delimiter.
    guard isShell else {
      return delimiters.contains(Array(line.text.prefix(while: isNameByte)))
    }
    // In a command substitution of bash, a text with its closing parenthesis may follow.
    return line.hasParenthesis
      && delimiters.contains { $0.count > line.authorCount && line.text.starts(with: $0) }
  }

  /// The first value that could be in the end of a document if some of the lines, up to the last
  /// one, are read as one.
  mutating func end(in lines: [InsertedText.Line]) -> InsertedValue? {
    if lines.count < 2 { return nil }
    readDelimiters(
      in: lines.flatMap { line in
        line.bytes.last == UInt8(ascii: "\\") ? line.bytes.dropLast() : line.bytes
      }[...])
    var joined: Candidate?
    var value: InsertedValue?
    for line in lines.reversed() {
      var candidate = Candidate(line, isShell: isShell)
      candidate.text.removeAll(where: Self.isBlank)
      candidate.authorCount = min(candidate.authorCount, candidate.text.count)
      if let rest = joined {
        if line.values.isEmpty { candidate.authorCount += rest.authorCount }
        // More bytes than the longest delimiter has are not needed.
        candidate.text += rest.text.prefix(max(0, longest + 1 - candidate.text.count))
        candidate.hasParenthesis = candidate.hasParenthesis || rest.hasParenthesis
        candidate.isKnown = candidate.isKnown && rest.isKnown
      }
      joined = candidate
      value = value ?? line.values.last?.value
      if let value, isEnd(candidate, among: plainDelimiters) { return value }
    }
    return nil
  }

  mutating func readDelimiters(in line: ArraySlice<UInt8>) {
    var rest = line
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      let text = rest[start...].drop { $0 == UInt8(ascii: "<") }
      if text.startIndex - start > 1 { addDelimiters(before: text) }
      rest = text
    }
  }

  /// Adds the delimiters at the start of a text; some shells and languages read a sign before the word.
  private mutating func addDelimiters(before text: ArraySlice<UInt8>) {
    addDelimiter(before: text)
    switch text.first {
    case UInt8(ascii: "-"), UInt8(ascii: "~"), UInt8(ascii: "#"):
      addDelimiter(before: text.dropFirst())
    default: break
    }
  }

  private mutating func addDelimiter(before text: ArraySlice<UInt8>) {
    let word = text.drop(while: Self.isBlank)
    add(word.prefix { !Self.endsWord($0) })
    add(Self.quotedWord(word)[...])
    if !isShell {
      add(Array(word.lazy.filter { !Self.isQuote($0) }.prefix(while: isNameByte))[...])
    }
  }

  private mutating func add(_ word: ArraySlice<UInt8>) {
    let plain = Self.withoutQuotes(word)
    if plain.isEmpty { return }
    delimiters.insert(plain)
    plainDelimiters.insert(plain.filter { !Self.isBlank($0) })
    longest = max(longest, plain.count)
  }

  /// The word with its blanks and operators in quotes.
  private static func quotedWord(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var word: [UInt8] = []
    var quote: UInt8?
    for byte in text {
      if byte == quote {
        quote = nil
      } else if quote == nil, byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
        quote = byte
      } else if quote == nil, endsWord(byte) {
        break
      } else {
        word.append(byte)
      }
    }
    return word
  }

  fileprivate static func withoutQuotes(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var word = text.filter { !isQuote($0) }.drop(while: isBlank)
    while let last = word.last, isBlank(last) { word.removeLast() }
    return Array(word)
  }

  private static func isQuote(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"),
      UInt8(ascii: "\r"):
      true
    default: false
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static func endsWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: "|"), UInt8(ascii: "("),
      UInt8(ascii: ")"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "`"):
      true
    default: isBlank(byte)
    }
  }
}
