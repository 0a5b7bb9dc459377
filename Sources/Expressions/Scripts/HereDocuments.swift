// Finds values that would end a here-document, after which the next lines are code. It knows no
// grammar: whatever follows `<<` is taken for the word that ends one.

extension InsertedText {
  /// The first value whose line could be the end of a here-document that begins before it.
  func valueThatEndsDocument(isShell: Bool) -> InsertedValue? {
    var documents = HereDocuments(isShell: isShell)
    // Lines that end with a backslash, and the one after them, may be read as one line.
    var joined: [UInt8] = []
    var joinedValue: InsertedValue?
    var isJoining = false
    for line in lines {
      let value = line.values.last?.value
      if let value, documents.isEnd(line.bytes) { return value }
      documents.readDelimiters(in: line.bytes)
      let continues = line.bytes.last == UInt8(ascii: "\\")
      guard isJoining || continues else { continue }
      joined += line.bytes
      joinedValue = value ?? joinedValue
      isJoining = continues
      if continues { continue }
      if let joinedValue, documents.isEnd(joined[...]) { return joinedValue }
      documents.readDelimiters(in: joined[...])
      joined = []
      joinedValue = nil
    }
    return nil
  }
}

/// The words that could end here-documents, without quotes and backslashes.
private struct HereDocuments {
  let isShell: Bool
  private var delimiters: Set<[UInt8]> = []

  init(isShell: Bool) { self.isShell = isShell }

  func isEnd(_ line: ArraySlice<UInt8>) -> Bool {
    if delimiters.isEmpty || line.contains(InsertedText.unknown) { return false }
    let words = Self.withoutQuotes(line)
    // In PHP, anything may follow the word.
    return delimiters.contains(words)
      || !isShell && delimiters.contains(Array(words.prefix(while: isNameByte)))
  }

  mutating func readDelimiters(in line: ArraySlice<UInt8>) {
    var rest = line
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      let text = rest[start...].drop { $0 == UInt8(ascii: "<") }
      if text.startIndex - start > 1 { addDelimiter(before: text) }
      rest = text
    }
  }

  private mutating func addDelimiter(before text: ArraySlice<UInt8>) {
    let isIndented = text.first == UInt8(ascii: "-") || text.first == UInt8(ascii: "~")
    let word = (isIndented ? text.dropFirst() : text).drop(while: Self.isBlank)
    add(word.prefix { !Self.endsWord($0) })
    add(Self.quotedWord(word)[...])
    if !isShell {
      add(Array(word.lazy.filter { !Self.isQuote($0) }.prefix(while: isNameByte))[...])
    }
  }

  private mutating func add(_ word: ArraySlice<UInt8>) {
    let plain = Self.withoutQuotes(word)
    if !plain.isEmpty { delimiters.insert(plain) }
  }

  /// The word with its blanks and operators that are in quotes.
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

  private static func withoutQuotes(_ text: ArraySlice<UInt8>) -> [UInt8] {
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
