// One line of a source file as a terminal shows it, with a range of it underlined.

/// The text to print and where the underline goes, in columns.
struct SourceLine {
  let text: String
  let underlineStart: Int
  let underlineWidth: Int

  /// The shown part of the line; a second span in that part can be underlined below it.
  private let shown: Shown

  /// Wider lines are clipped around the underlined range.
  static let maxWidth = 120
  private static let tabStop = 4

  /// A part of a line, as the terminal shows it.
  private struct Shown {
    let cells: [Cell]
    let isCutLeft: Bool
    let isCutRight: Bool

    var text: String {
      (isCutLeft ? "…" : "") + cells.map(\.text).joined() + (isCutRight ? "…" : "")
    }

    func underline(_ span: Range<Int>) -> (start: Int, width: Int) {
      let before = cells.prefix { $0.offset < span.lowerBound }
      let marked = cells.dropFirst(before.count).prefix { $0.offset < span.upperBound }
      let start = (isCutLeft ? 1 : 0) + before.reduce(0) { $0 + $1.width }
      return (start, max(1, marked.reduce(0) { $0 + $1.width }))
    }

    /// True if the line is not cut between the place and this part of it.
    func reaches(_ place: Int) -> Bool {
      if isCutLeft, place < cells.first?.offset ?? .max { return false }
      return !isCutRight || place <= cells.last?.offset ?? -1
    }
  }

  private struct Cell {
    let text: String
    let width: Int
    let offset: Int
  }

  /// `span` counts from the start of `bytes`; the line begins at `lineStart`. At most `width`
  /// columns are shown: the same part of the line as in `last`, which shows that line, too, if the
  /// span begins there.
  init(
    _ bytes: [UInt8], lineStart: Int, span: Range<Int>, width: Int = maxWidth,
    after last: SourceLine? = nil
  ) {
    let hidden = HiddenLine(bytes, lineStart: lineStart, span: span)
    let span = hidden?.span ?? span
    if let last, last.shown.reaches(span.lowerBound) {
      shown = last.shown
    } else {
      shown = Self.shown(
        of: hidden?.bytes ?? bytes, lineStart: hidden == nil ? lineStart : 0, span, width)
    }
    text = shown.text
    (underlineStart, underlineWidth) = shown.underline(span)
  }

  private static func shown(
    of bytes: [UInt8], lineStart: Int, _ span: Range<Int>, _ width: Int
  ) -> Shown {
    let window = window(of: bytes, lineStart: lineStart, around: span.lowerBound)
    let cells = cells(of: bytes[window.range])
    let range = clip(cells, to: span.lowerBound, width)
    return Shown(
      cells: Array(cells[range]), isCutLeft: window.isCutLeft || range.lowerBound > 0,
      isCutRight: window.isCutRight || range.upperBound < cells.count)
  }

  private struct Window {
    let range: Range<Int>
    let isCutLeft: Bool
    let isCutRight: Bool
  }

  /// The part of the line that is shown: at most 512 bytes on either side of the offset, cut between characters; no
  /// line ending.
  private static func window(of bytes: [UInt8], lineStart: Int, around place: Int) -> Window {
    let place = min(max(place, lineStart), bytes.count)
    var start = max(lineStart, place - 512)
    while start < place, start > lineStart, bytes[start] & 0xC0 == 0x80 { start += 1 }
    let limit = min(bytes.count, place + 512)
    var end = place
    while end < limit, bytes[end] != UInt8(ascii: "\n") { end += 1 }
    let isCutRight = end < bytes.count && bytes[end] != UInt8(ascii: "\n")
    while isCutRight, end > place, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    if !isCutRight, end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return Window(range: start..<end, isCutLeft: start > lineStart, isCutRight: isCutRight)
  }

  private static func cells(of bytes: ArraySlice<UInt8>) -> [Cell] {
    var cells: [Cell] = []
    var column = 0
    var offset = bytes.startIndex
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      var text = escape(scalar) ?? String(scalar)
      if scalar == "\t" {
        text = String(repeating: " ", count: tabStop - column % tabStop)
      }
      let width = displayWidth(of: text)
      cells.append(Cell(text: text, width: width, offset: offset))
      column += width
      offset += byteCount(of: scalar, in: bytes, at: offset)
    }
    return cells
  }

  /// The number of bytes of a scalar. A byte that is not UTF-8 was decoded to U+FFFD, which is
  /// longer than the byte itself.
  private static func byteCount(
    of scalar: Unicode.Scalar, in bytes: ArraySlice<UInt8>, at offset: Int
  ) -> Int {
    guard scalar == "\u{FFFD}", offset < bytes.endIndex, bytes[offset] != 0xEF else {
      return UTF8.width(scalar)
    }
    return 1
  }

  /// The cells to show: all, or `maxWidth` columns that contain the place well inside. Ellipses are
  /// added to that.
  private static func clip(_ cells: [Cell], to place: Int, _ maxWidth: Int) -> Range<Int> {
    let total = cells.reduce(0) { $0 + $1.width }
    guard total > maxWidth else { return 0..<cells.count }
    let before = cells.prefix { $0.offset < place }.reduce(0) { $0 + $1.width }
    let skipped = before > maxWidth * 2 / 3 ? before - maxWidth / 3 : 0
    var start = 0
    var column = 0
    while column < skipped {
      column += cells[start].width
      start += 1
    }
    var end = start
    var width = 0
    while end < cells.count, width + cells[end].width <= maxWidth {
      width += cells[end].width
      end += 1
    }
    return start..<end
  }
}

/// A line with its hidden parts replaced; nil if there are none.
private struct HiddenLine {
  let bytes: [UInt8]
  /// The underlined range in the bytes.
  let span: Range<Int>

  init?(_ bytes: [UInt8], lineStart: Int, span: Range<Int>) {
    guard
      let line = bytes[min(lineStart, bytes.count)...].split(
        separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false
      ).first,
      let shown = withoutHidden(line), !shown.elementsEqual(line)
    else { return nil }
    let start = min(max(span.lowerBound, line.startIndex), line.endIndex)
    let end = min(max(span.upperBound, start), line.endIndex)
    let before = withoutHidden(line[..<start])?.count ?? 0
    let upTo = withoutHidden(line[..<end])?.count ?? before
    self.bytes = shown
    self.span = min(before, shown.count)..<min(max(before, upTo), shown.count)
  }
}

extension UTF8 {
  /// The number of bytes of a scalar's encoding.
  static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case ..<0x80: 1
    case ..<0x800: 2
    case ..<0x10000: 3
    default: 4
    }
  }
}
