// The location of the text of an expression or template in the file. A scalar with escapes or line
// folding differs from its content; its locations are computed only when an error is reported.

package import Diagnostics

/// The location of a scalar, in little more than 8 bytes.
package struct TextOrigin: Hashable, Sendable {
  /// The text itself if it is in the file byte for byte; otherwise the scalar, including quotes and
  /// indicators.
  package let span: Span
  package let isWritten: Bool

  package init(_ span: Span, isWritten: Bool = true) {
    self.span = span
    self.isWritten = isWritten
  }
}

extension TextOrigin {
  /// The location of a part of the text; `content` is the whole text. O(length of the scalar) if it
  /// is not written byte for byte and `source` does not remember locations in it.
  package func span(of range: Range<Int>, in content: ArraySlice<UInt8>, _ source: SourceText)
    -> Span
  {
    if isWritten {
      let start = Int(span.start) - content.startIndex
      return Span(start: start + range.lowerBound, end: start + range.upperBound)
    }
    var alignment = ScalarAlignment(source[span])
    source.offsets?.turn(to: span)
    return alignment.place(of: range, in: content, source.offsets).map {
      Span(start: Int(span.start) + $0.lowerBound, end: Int(span.start) + $0.upperBound)
    } ?? span
  }
}

/// Compares a scalar as it is written with its content. Folding and indentation may have added and
/// removed white space; all other characters are there in the same order, some of them as escapes.
private struct ScalarAlignment {
  private enum Style { case plain, singleQuoted, doubleQuoted, block }

  private let written: UnsafeBufferPointer<UInt8>
  private var place = 0
  private var style = Style.plain

  package init(_ written: UnsafeBufferPointer<UInt8>) {
    self.written = written
    skipAnchor()
    guard place < written.count else { return }
    switch written[place] {
    case UInt8(ascii: "'"): style = .singleQuoted
    case UInt8(ascii: "\""): style = .doubleQuoted
    case UInt8(ascii: "|"), UInt8(ascii: ">"): style = .block
    default: return
    }
    place += 1
    if style == .block { skipLine() }
  }

  private mutating func skipAnchor() {
    while place < written.count, written[place] == UInt8(ascii: "&") {
      while place < written.count, !isBlank(written[place]) { place += 1 }
      while place < written.count, isBlank(written[place]) { place += 1 }
    }
  }

  /// Skips the rest of a block scalar's first line: indicators and a comment.
  private mutating func skipLine() {
    while place < written.count, written[place] != UInt8(ascii: "\n") { place += 1 }
  }

  /// The location of a range; nil if the two do not match.
  package mutating func place(
    of range: Range<Int>, in content: ArraySlice<UInt8>, _ offsets: ScalarOffsets?
  ) -> Range<Int>? {
    var start: Int?
    var index = content.startIndex
    if let mark = offsets?.mark(before: range.lowerBound) {
      (index, place) = (mark.index, mark.offset)
    }
    var end = place
    while index < content.endIndex {
      offsets?.note(index, place)
      guard let lexeme = nextLexeme(reading: content[index]) else { return nil }
      if start == nil, index + lexeme.byteCount > range.lowerBound {
        start = lexeme.range.lowerBound
      }
      index += lexeme.byteCount
      if index >= range.upperBound, !range.isEmpty {
        return start.map { $0..<lexeme.range.upperBound }
      }
      if range.isEmpty, let start { return start..<start }
      end = lexeme.range.upperBound
    }
    return range.lowerBound >= content.endIndex ? end..<end : nil
  }

  /// A range of the file, and the bytes it stands for.
  private struct Lexeme {
    package let range: Range<Int>
    package let byteCount: Int
  }

  private mutating func nextLexeme(reading byte: UInt8) -> Lexeme? {
    if isBlank(byte) { return blankLexeme(byte) }
    while place < written.count, isBlank(written[place]) || isLineContinuation() { place += 1 }
    return lexeme(reading: byte)
  }

  /// Reads white space that is written as it is, or as an escape, or that comes from folding a line.
  private mutating func blankLexeme(_ byte: UInt8) -> Lexeme? {
    let here = place
    if place < written.count, written[place] == byte {
      place += 1
      return Lexeme(range: here..<place, byteCount: 1)
    }
    var ahead = place
    while ahead < written.count, isBlank(written[ahead]) { ahead += 1 }
    if style == .doubleQuoted, ahead < written.count, written[ahead] == UInt8(ascii: "\\") {
      let saved = place
      place = ahead
      if let lexeme = escapeLexeme(), lexeme.byteCount == 1, isBlankEscape(at: ahead) {
        return lexeme
      }
      place = saved
    }
    return Lexeme(range: here..<here, byteCount: 1)
  }

  private mutating func lexeme(reading byte: UInt8) -> Lexeme? {
    guard place < written.count else { return nil }
    let here = place
    switch (style, written[place]) {
    case (.doubleQuoted, UInt8(ascii: "\\")): return escapeLexeme()
    case (.singleQuoted, UInt8(ascii: "'")):
      place += 2
    default:
      guard written[place] == byte else { return nil }
      place += 1
    }
    return Lexeme(range: here..<min(place, written.count), byteCount: 1)
  }

  /// Reads an escape: `\n`, `\x41`, `\u00e9`.
  private mutating func escapeLexeme() -> Lexeme? {
    let here = place
    guard place + 1 < written.count else { return nil }
    let digitCount =
      switch written[place + 1] {
      case UInt8(ascii: "x"): 2
      case UInt8(ascii: "u"): 4
      case UInt8(ascii: "U"): 8
      default: 0
      }
    place = min(place + 2 + digitCount, written.count)
    return Lexeme(range: here..<place, byteCount: byteCount(ofEscapeAt: here, digitCount))
  }

  private func byteCount(ofEscapeAt start: Int, _ digitCount: Int) -> Int {
    if digitCount > 0 {
      let digits = String(decoding: written[(start + 2)..<place], as: UTF8.self)
      return UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init).map {
        UTF8.encode($0)?.count ?? 1
      }
        ?? 1
    }
    switch written[start + 1] {
    case UInt8(ascii: "N"), UInt8(ascii: "_"): return 2
    case UInt8(ascii: "L"), UInt8(ascii: "P"): return 3
    default: return 1
    }
  }

  /// True if an escape stands for a space, a tab or a line break.
  private func isBlankEscape(at start: Int) -> Bool {
    switch written[start + 1] {
    case UInt8(ascii: "n"), UInt8(ascii: "t"), UInt8(ascii: "r"), UInt8(ascii: " "), 9: true
    case UInt8(ascii: "x"), UInt8(ascii: "u"), UInt8(ascii: "U"):
      ["20", "0a", "09", "0d"].contains {
        String(decoding: written[(start + 2)..<place], as: UTF8.self).lowercased().hasSuffix($0)
      }
    default: false
    }
  }

  /// True for a backslash at the end of a line, in double quotes.
  private func isLineContinuation() -> Bool {
    style == .doubleQuoted && written[place] == UInt8(ascii: "\\") && place + 1 < written.count
      && (written[place + 1] == UInt8(ascii: "\n") || written[place + 1] == UInt8(ascii: "\r"))
  }
}

private func isBlank(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\t")
    || byte == UInt8(ascii: "\r")
}
