// Splits an expression into tokens, one at a time. It knows no grammar.

struct Token {
  package enum Kind: UInt8 {
    case end, name, number, string
    case dot, comma, question, colon, openParenthesis, closeParenthesis, openBracket, closeBracket
    case not, and, or, coalesce, equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
  }

  package let kind: Kind
  /// The offset of the token in the whole text.
  package let start: Int
  package let end: Int

  package var range: Range<Int> { start..<end }
}

/// A fault of an expression, and its range in the text.
struct ExpressionFailure: Error {
  package let words: UnlocatedFailure
  package let range: Range<Int>

  package init(_ words: UnlocatedFailure, at range: Range<Int>) {
    self.words = words
    self.range = range
  }
}

struct Lexer {
  package let content: ArraySlice<UInt8>
  /// The offset from which the next token is read.
  package var place: Int
  /// True in a template, where `}}` is the end; otherwise only the end of the text is.
  let endsAtBraces: Bool

  package mutating func next() throws(ExpressionFailure) -> Token {
    while place < content.endIndex, isBlank(content[place]) { place += 1 }
    guard place < content.endIndex else { return token(.end, byteCount: 0) }
    let byte = content[place]
    if isNameStart(byte) { return name() }
    if isDecimalDigit(byte)
      || byte == UInt8(ascii: "-") && place + 1 < content.endIndex
        && isDecimalDigit(content[place + 1])
    {
      return try number()
    }
    switch byte {
    case UInt8(ascii: "'"): return try singleQuoted()
    case UInt8(ascii: "\""): return try doubleQuoted()
    case UInt8(ascii: "}") where endsAtBraces && follows("}"): return token(.end, byteCount: 0)
    default: return try sign(byte)
    }
  }

  /// Reads the name after a dot, which may contain `-`.
  mutating func memberName() -> Token? {
    guard place < content.endIndex, isNameStart(content[place]) else { return nil }
    let start = place
    while place < content.endIndex,
      isNameByte(content[place]) || content[place] == UInt8(ascii: "-")
    {
      place += 1
    }
    return Token(kind: .name, start: start, end: place)
  }

  private func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\t")
      || byte == UInt8(ascii: "\r")
  }

  private func follows(_ character: Unicode.Scalar) -> Bool {
    place + 1 < content.endIndex && content[place + 1] == UInt8(ascii: character)
  }

  private mutating func token(_ kind: Token.Kind, byteCount: Int) -> Token {
    place += byteCount
    return Token(kind: kind, start: place - byteCount, end: place)
  }

  private mutating func name() -> Token {
    let start = place
    while place < content.endIndex, isNameByte(content[place]) { place += 1 }
    return Token(kind: .name, start: start, end: place)
  }

  private mutating func sign(_ byte: UInt8) throws(ExpressionFailure) -> Token {
    switch byte {
    case UInt8(ascii: "."): return token(.dot, byteCount: 1)
    case UInt8(ascii: ","): return token(.comma, byteCount: 1)
    case UInt8(ascii: ":"): return token(.colon, byteCount: 1)
    case UInt8(ascii: "("): return token(.openParenthesis, byteCount: 1)
    case UInt8(ascii: ")"): return token(.closeParenthesis, byteCount: 1)
    case UInt8(ascii: "["): return token(.openBracket, byteCount: 1)
    case UInt8(ascii: "]"): return token(.closeBracket, byteCount: 1)
    case UInt8(ascii: "?"):
      return follows("?") ? token(.coalesce, byteCount: 2) : token(.question, byteCount: 1)
    case UInt8(ascii: "!") where !follows("~"):
      return follows("=") ? token(.notEqual, byteCount: 2) : token(.not, byteCount: 1)
    case UInt8(ascii: "<"):
      return follows("=") ? token(.lessOrEqual, byteCount: 2) : token(.less, byteCount: 1)
    case UInt8(ascii: ">"):
      return follows("=") ? token(.greaterOrEqual, byteCount: 2) : token(.greater, byteCount: 1)
    case UInt8(ascii: "=") where follows("="): return token(.equal, byteCount: 2)
    case UInt8(ascii: "&") where follows("&"): return token(.and, byteCount: 2)
    case UInt8(ascii: "|") where follows("|"): return token(.or, byteCount: 2)
    default:
      let isMatch =
        (byte == UInt8(ascii: "=") || byte == UInt8(ascii: "!")) && follows("~")
      let range = isMatch ? place..<place + 2 : characterRange()
      let character = String(decoding: content[range], as: UTF8.self)
      let rest = content[range.upperBound...]
      let beforeBraces = rest.starts(with: (character == "$" ? "{{" : "{").utf8)
      throw ExpressionFailure(
        ExpressionMessage.strayCharacter(character, beforeBraces: beforeBraces), at: range)
    }
  }

  private func characterRange() -> Range<Int> {
    var end = place + 1
    while end < content.endIndex, content[end] & 0xC0 == 0x80 { end += 1 }
    return place..<end
  }

  private mutating func number() throws(ExpressionFailure) -> Token {
    let start = place
    place += 1
    while place < content.endIndex {
      let byte = content[place]
      let isExponentSign =
        (byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"))
        && content[place - 1] | 0x20 == UInt8(ascii: "e")
      guard isNameByte(byte) || byte == UInt8(ascii: ".") || isExponentSign else { break }
      place += 1
    }
    if let words = numberFault(content[start..<place]) {
      throw ExpressionFailure(words, at: start..<place)
    }
    return Token(kind: .number, start: start, end: place)
  }

  private mutating func singleQuoted() throws(ExpressionFailure) -> Token {
    let start = place
    place += 1
    while place < content.endIndex {
      if content[place] == UInt8(ascii: "'") {
        if !follows("'") {
          place += 1
          return Token(kind: .string, start: start, end: place)
        }
        place += 1
      }
      place += 1
    }
    throw ExpressionFailure(ExpressionMessage.openString, at: start..<start + 1)
  }

  private mutating func doubleQuoted() throws(ExpressionFailure) -> Token {
    let start = place
    place += 1
    while place < content.endIndex, content[place] != UInt8(ascii: "\"") {
      place += content[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard place < content.endIndex else {
      throw ExpressionFailure(ExpressionMessage.openString, at: start..<start + 1)
    }
    place += 1
    guard let text = jsonStringText(content[start..<place]) else {
      throw ExpressionFailure(ExpressionMessage.badEscape, at: start..<place)
    }
    if text.utf8.contains(0) { throw ExpressionFailure(ExpressionMessage.nul, at: start..<place) }
    return Token(kind: .string, start: start, end: place)
  }
}
