// A line of a message made of pieces. On a terminal that is too narrow for it the pieces go on in further
// lines, so that each can be read whole where there is room for it.

import Diagnostics
import Masking

/// One piece of a line.
struct Piece {
  /// The part that is left out of a piece that is wider than the terminal.
  enum Cut {
    case end, middle
    /// Nothing: the text is for another program, and the terminal wraps it.
    case nothing
  }

  let text: String
  var style: Style?
  var cut = Cut.end
  /// The columns between the piece and the one before it.
  var gap = 2

  init(_ text: String, _ style: Style? = nil, cut: Cut = .end, gap: Int = 2) {
    self.text = text
    self.style = style
    self.cut = cut
    self.gap = gap
  }
}

extension Screen {
  /// Writes the pieces and a newline. `column` is the number of columns of the line that are taken;
  /// further lines begin after `indent` blanks.
  func write(_ pieces: [Piece], at column: Int = 0, indent: Int = 2) {
    let limit = clipsMessages ? columns : .max
    var column = column
    var isFirst = true
    for piece in pieces where !piece.text.isEmpty {
      // Secrets are masked before anything is cut: half a secret is no longer found.
      let whole = messages.masker?.mask(piece.text) ?? piece.text
      let width = displayWidth(of: whole)
      let gap = isFirst ? 0 : piece.gap
      isFirst = false
      let startsLine = width > limit - column - gap && column > indent
      if startsLine { messages.writeNewline() }
      if startsLine, piece.cut == .nothing, width > limit - indent {
        messages.write(LineClipper.wholeLine)
      }
      messages.write(spaces: startsLine ? indent : gap)
      column = startsLine ? indent : column + gap
      let text = cut(whole, piece.cut, to: limit - column)
      if let style = piece.style {
        messages.write(text, in: style, isColored: colorsMessages)
      } else {
        messages.write(text)
      }
      column += min(width, limit - column)
    }
    messages.writeNewline()
  }

  /// A text whose words may go on in further lines; none of it is left out.
  func words(of text: String, _ style: Style? = nil) -> [Piece] {
    guard clipsMessages else { return [Piece(text, style, cut: .nothing)] }
    return text.split(separator: " ").map { Piece(String($0), style, cut: .nothing, gap: 1) }
  }

  private func cut(_ text: String, _ cut: Piece.Cut, to columns: Int) -> String {
    switch cut {
    case .nothing: text
    case .middle: cutInMiddle(text, columns: columns)
    case .end: oneLine(text, columns: columns)
    }
  }
}
