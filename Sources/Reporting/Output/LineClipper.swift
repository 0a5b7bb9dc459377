// Lines that fit into a terminal: what is too wide is cut, by the columns that it takes, so that nothing
// is wrapped. It knows bytes and colours, nothing of what they say.

import Diagnostics

/// Cuts the lines of a stream. What follows the last newline waits for the next bytes.
struct LineClipper {
  /// Columns of the terminal; nil cuts nothing.
  var columns: Int?
  /// The terminal does not go back to the first column by itself: it is in raw mode.
  var addsReturns = false
  private var line: [UInt8] = []

  /// What is in front of a line that stays whole, however wide: to cut it would make it useless. No text that is
  /// shown holds this character.
  static let wholeLine: UInt8 = 1

  /// Whether anything is changed.
  var isNeeded: Bool { columns != nil || addsReturns || !line.isEmpty }

  mutating func clip(_ bytes: UnsafeRawBufferPointer, into result: inout [UInt8]) {
    for byte in bytes {
      if byte == UInt8(ascii: "\n") { endLine(into: &result) } else { line.append(byte) }
    }
  }

  /// What has no newline yet is shown, too.
  mutating func finish(into result: inout [UInt8]) {
    appendLine(to: &result)
    line.removeAll(keepingCapacity: true)
  }

  private mutating func endLine(into result: inout [UInt8]) {
    finish(into: &result)
    if addsReturns { result.append(UInt8(ascii: "\r")) }
    result.append(UInt8(ascii: "\n"))
  }

  private func appendLine(to result: inout [UInt8]) {
    if line.first == Self.wholeLine {
      result += line.dropFirst()
    } else if let columns, line.count > columns {
      appendCut(to: columns, &result)
    } else {
      result += line
    }
  }

  private func appendCut(to columns: Int, _ result: inout [UInt8]) {
    let text = String(decoding: line, as: UTF8.self)
    let pieces = Array(ColoredText(text))
    let width = pieces.reduce(0) { $0 + $1.width }
    guard width > columns else { return result += line }
    var column = 0
    var isCut = false
    for piece in pieces {
      if piece.width > 0 || piece.isCharacter {
        if isCut { continue }
        if column + piece.width > columns - 1 {
          isCut = true
          result += Array("…".utf8)
          continue
        }
      }
      column += piece.width
      result += Array(String(piece.text).utf8)
    }
  }
}

/// The characters and colour sequences of a text, one after the other.
private struct ColoredText: Sequence, IteratorProtocol {
  struct Piece {
    let text: Substring.UnicodeScalarView
    let isCharacter: Bool
    let width: Int
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
