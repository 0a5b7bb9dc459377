// The last lines of a log, for people. They are read from its end, in fixed memory however long it
// is.

import Diagnostics
import RunFiles

/// The end of a log.
struct LogTail {
  let lines: [String]
  /// True if the first of the lines lacks its beginning, which is too far away.
  let isCutAtStart: Bool
  let byteCount: Int
  private let log: LogFile
  /// The position of the part that was read.
  private let start: Int
  private let counter: LineCounter

  private static let longestCounted = 64 << 20

  /// Reads at most `limit` lines, each at most `columns` wide.
  init(of log: LogFile, limit: Int, columns: Int, buffer: UnsafeMutableRawBufferPointer) {
    self.log = log
    byteCount = log.finalSize
    start = max(0, byteCount - buffer.count)
    let beginsLine = start == 0 || log.endsInNewline(at: start, buffer: buffer)
    let end = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(byteCount - start)])
    var text = UnsafeRawBufferPointer(rebasing: end[..<log.read(at: start, into: end)])
    var counter = LineCounter()
    counter.count(text)
    self.counter = counter
    if text.last == UInt8(ascii: "\n") { text = UnsafeRawBufferPointer(rebasing: text.dropLast()) }
    guard !text.isEmpty else {
      lines = []
      isCutAtStart = false
      return
    }
    let whole = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let shown = whole.suffix(limit).map(Self.shownPart)
    var lines = shown.map { oneLine($0, columns: columns) }
    isCutAtStart = !beginsLine && whole.count <= limit && shown[0].startIndex == text.startIndex
    if isCutAtStart { lines[0] = Self.end(of: shown[0], columns: columns) }
    self.lines = lines
  }

  /// The number of lines of the whole log; nil if more than `most` bytes would have to be read for that.
  func lineCount(
    readingAtMost most: Int = longestCounted, buffer: UnsafeMutableRawBufferPointer
  ) -> Int? {
    guard byteCount <= most else { return nil }
    var whole = LineCounter()
    whole.count(log, upTo: start, buffer)
    return whole.newlines + counter.lineCount
  }

  /// The part of a line that a terminal would finally show: a carriage return restarts the line.
  private static func shownPart(of line: Slice<UnsafeRawBufferPointer>) -> Slice<
    UnsafeRawBufferPointer
  > {
    let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    guard let start = line.lastIndex(of: UInt8(ascii: "\r")) else { return line }
    return line[(start + 1)...]
  }

  /// An ellipsis, and as much of the end as fits.
  private static func end(of line: Slice<UnsafeRawBufferPointer>, columns: Int) -> String {
    // Drops the rest of a character.
    let text = oneLine(line.drop { $0 & 0xc0 == 0x80 })
    var width = 1
    let start = text.unicodeScalars.indices.reversed().prefix { index in
      width += displayWidth(of: text.unicodeScalars[index])
      return width <= columns
    }.last
    return "…" + (start.map { String(text.unicodeScalars[$0...]) } ?? "")
  }
}

/// Counts the lines of a text that is given piece by piece.
private struct LineCounter {
  private(set) var newlines = 0
  private var last = UInt8(ascii: "\n")

  var lineCount: Int { last == UInt8(ascii: "\n") ? newlines : newlines + 1 }

  mutating func count(_ bytes: UnsafeRawBufferPointer) {
    guard let last = bytes.last else { return }
    newlines += bytes.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    self.last = last
  }

  /// Counts the beginning of a log.
  mutating func count(_ log: LogFile, upTo end: Int, _ buffer: UnsafeMutableRawBufferPointer) {
    var position = 0
    while position < end {
      let size = min(buffer.count, end - position)
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])
      let count = log.read(at: position, into: piece)
      guard count > 0 else { return }
      self.count(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      position += count
    }
  }
}
