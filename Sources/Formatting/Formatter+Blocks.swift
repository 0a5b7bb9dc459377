// Scripts and other texts after `|` and `>`: their lines are indented anew, and nothing else in
// them changes.

extension Formatter {
  /// Writes the header and the lines of a block. The token ends at the start of a line, or at the
  /// end of the file.
  mutating func writeBlock(_ token: YAMLToken) {
    var end = token.start
    while end < token.end, text[end] != Byte.newline { end += 1 }
    let header = text[token.start..<trimmedEnd(token.start..<end)]
    layout.append(header)
    guard end < token.end else {
      if end == text.count { layout.endsWithNewline = true }
      return
    }
    layout.endLine()
    let indicators = BlockIndicators(header)
    let lines = lines(in: (end + 1)..<token.end)
    let columns = columns(of: lines, indicators)
    let last = indicators.keepsLineEnds ? lines.endIndex : lines.afterLastText(columns.old, text)
    for (index, line) in lines.enumerated() {
      let content = line.dropFirst(min(blankCount(line), columns.old))
      if index >= last {
        layout.endLine()
      } else if content.isEmpty {
        layout.addLine([])
      } else {
        layout.addLine(Array(repeatElement(Byte.space, count: columns.new)) + text[content])
      }
    }
    let isOpen = token.end == text.count && text[token.end - 1] != Byte.newline
    if isOpen, !indicators.dropsLineEnds { layout.endsWithNewline = false }
  }

  /// The columns of the text of a block, before and after formatting.
  private func columns(
    of lines: [Range<Int>], _ indicators: BlockIndicators
  ) -> (old: Int, new: Int) {
    if let width = indicators.width {
      return (max(stack.oldColumn, 0) + width, stack.newColumn + width)
    }
    var old = 1
    for line in lines {
      let count = blankCount(line)
      old = max(old, count)
      if count < line.count { return (count, stack.inside) }
    }
    return (old, stack.inside)
  }

  /// The number of spaces at the beginning of a line.
  private func blankCount(_ line: Range<Int>) -> Int {
    line.prefix { text[$0] == Byte.space }.count
  }

  /// The lines in a range, without their line feeds.
  private func lines(in range: Range<Int>) -> [Range<Int>] {
    var lines: [Range<Int>] = []
    var start = range.lowerBound
    for offset in range where text[offset] == Byte.newline {
      lines.append(start..<offset)
      start = offset + 1
    }
    if start < range.upperBound { lines.append(start..<range.upperBound) }
    return lines
  }
}

extension [Range<Int>] {
  /// The index after the last line that has text at or after a column.
  fileprivate func afterLastText(_ column: Int, _ text: UnsafeBufferPointer<UInt8>) -> Int {
    let last = lastIndex { $0.count > column || $0.contains { text[$0] != Byte.space } }
    return last.map { $0 + 1 } ?? 0
  }
}

/// The indicators after `|` or `>`.
private struct BlockIndicators {
  /// The width of the indentation, if the first line begins with a space.
  private(set) var width: Int?
  private(set) var keepsLineEnds = false
  private(set) var dropsLineEnds = false

  init(_ header: Slice<UnsafeBufferPointer<UInt8>>) {
    for byte in header.dropFirst() {
      switch byte {
      case UInt8(ascii: "1")...UInt8(ascii: "9"): width = Int(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "+"): keepsLineEnds = true
      case UInt8(ascii: "-"): dropsLineEnds = true
      default: return
      }
    }
  }
}
