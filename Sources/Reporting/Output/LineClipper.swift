// Lines that fit into a terminal: a wider one is cut or folded, by the columns that it takes, so
// that nothing is wrapped. It knows bytes and colours, not their meaning.

import Diagnostics

/// Cuts or folds the lines of a stream. Text after the last newline waits for the next bytes.
struct LineClipper {
  /// The columns of the terminal; nil cuts nothing.
  var columns: Int?
  /// True if a line that is too wide goes on in further lines, broken between words; only a word
  /// that is wider than a line is cut.
  var folds = false
  /// True if the ellipsis is written in ASCII, in as many columns.
  var spellsInASCII = false
  /// True if the terminal does not go back to the first column by itself: it is in raw mode.
  var addsReturns = false
  private var line: [UInt8] = []

  /// The prefix of a line that stays whole, however wide: to cut it would make it useless. No text
  /// that is shown contains this character.
  static let wholeLine: UInt8 = 1

  /// True if anything is changed.
  var isNeeded: Bool { columns != nil || addsReturns || spellsInASCII || !line.isEmpty }

  mutating func clip(_ bytes: UnsafeRawBufferPointer, into result: inout [UInt8]) {
    for byte in bytes {
      if byte == UInt8(ascii: "\n") { endLine(into: &result) } else { line.append(byte) }
    }
  }

  /// Writes the text that has no newline yet.
  mutating func finish(into result: inout [UInt8]) {
    appendLine(to: &result)
    line.removeAll(keepingCapacity: true)
  }

  private mutating func endLine(into result: inout [UInt8]) {
    finish(into: &result)
    appendNewline(to: &result)
  }

  private func appendNewline(to result: inout [UInt8]) {
    if addsReturns { result.append(UInt8(ascii: "\r")) }
    result.append(UInt8(ascii: "\n"))
  }

  private mutating func appendLine(to result: inout [UInt8]) {
    if spellsInASCII { spellEllipses() }
    if line.first == Self.wholeLine {
      result += line.dropFirst()
    } else if let columns, line.count > columns {
      let pieces = Array(ColoredText(String(decoding: line, as: UTF8.self)))
      if pieces.reduce(0, { $0 + $1.width }) <= columns {
        result += line
      } else if folds {
        appendFolded(pieces, to: columns, &result)
      } else {
        appendCut(pieces, to: columns, &result)
      }
    } else {
      result += line
    }
  }

  /// Replaces `…`: by `~` where it stands for a part of a text, by `...` where it begins a line.
  private mutating func spellEllipses() {
    let ellipsis = Array("…".utf8)
    var start = 0
    while let place = line[start...].firstIndex(of: ellipsis[0]) {
      start = place + 1
      guard line[place...].starts(with: ellipsis) else { continue }
      let isFirst = line[..<place].allSatisfy { $0 == UInt8(ascii: " ") }
      line.replaceSubrange(
        place..<place + ellipsis.count, with: Array((isFirst ? "..." : "~").utf8))
    }
  }

  private var cutMark: [UInt8] { Array((spellsInASCII ? "~" : "…").utf8) }

  private func appendCut(
    _ pieces: some Sequence<ColoredText.Piece>, to columns: Int, _ result: inout [UInt8]
  ) {
    var column = 0
    var isCut = false
    for piece in pieces {
      if piece.width > 0 || piece.isCharacter {
        if isCut { continue }
        if column + piece.width > columns - 1 {
          isCut = true
          result += cutMark
          continue
        }
      }
      column += piece.width
      result += Array(String(piece.text).utf8)
    }
  }
  /// Writes a line in several. Further lines begin below the text of the first: after its blanks
  /// and what is beside the text.
  private func appendFolded(
    _ pieces: [ColoredText.Piece], to columns: Int, _ result: inout [UInt8]
  ) {
    let indent = Self.indent(of: pieces, columns)
    var rest = pieces[...]
    var taken = 0
    while true {
      let room = columns - taken
      let end = Self.endOfLine(rest, room)
      let part = rest[..<end]
      if part.reduce(0, { $0 + $1.width }) <= room {
        for piece in part { result += Array(String(piece.text).utf8) }
      } else {
        appendCut(part, to: room, &result)
      }
      rest = rest[end...].drop { $0.isBlank }
      if rest.isEmpty { return }
      appendNewline(to: &result)
      taken = indent
      result += [UInt8](repeating: UInt8(ascii: " "), count: indent)
    }
  }

  /// The end of the part that fits on a line: the last blank after a word that fits, or the end of
  /// a word that is too wide for any line.
  private static func endOfLine(_ rest: ArraySlice<ColoredText.Piece>, _ room: Int) -> Int {
    var width = 0
    var lastBlank: Int?
    var hasWord = false
    for (index, piece) in zip(rest.indices, rest) {
      if piece.isBlank {
        if hasWord {
          if width > room { return lastBlank ?? index }
          lastBlank = index
        }
      } else if piece.width > 0 {
        hasWord = true
      }
      width += piece.width
    }
    return width > room ? lastBlank ?? rest.endIndex : rest.endIndex
  }

  /// The indent of further lines: below the second column of a table if that leaves half of the
  /// terminal, otherwise a little to the right of the first line.
  private static func indent(of pieces: [ColoredText.Piece], _ columns: Int) -> Int {
    let shown = pieces.filter { $0.isCharacter }
    let start = shown.prefix { $0.isBlank }.count
    var column = start
    var blanks = 0
    for piece in shown[start...] {
      if piece.isBlank {
        blanks += 1
      } else {
        if blanks > 1 { return column <= columns / 2 ? column : min(start + 2, columns / 2) }
        blanks = 0
      }
      column += piece.width
    }
    return min(start + 2, columns / 2)
  }
}

/// The characters and colour sequences of a text, one after the other.
struct ColoredText: Sequence, IteratorProtocol {
  struct Piece {
    let text: Substring.UnicodeScalarView
    let isCharacter: Bool
    let width: Int
    var isBlank: Bool { isCharacter && text.first == " " }
  }

  private var rest: Substring.UnicodeScalarView

  init(_ text: String) { rest = Substring(text).unicodeScalars }

  mutating func next() -> Piece? {
    guard let first = rest.first else { return nil }
    let start = rest
    rest.removeFirst()
    guard first == "\u{1b}" else {
      return Piece(
        text: start[..<rest.startIndex], isCharacter: true, width: displayWidth(of: first))
    }
    while let scalar = rest.popFirst(), scalar != "m" {}
    return Piece(text: start[..<rest.startIndex], isCharacter: false, width: 0)
  }
}
