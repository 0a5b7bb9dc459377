// The last lines of a log, for people. They are read from its end, in fixed memory however long it
// is.

import RunFiles

/// The end of a log.
struct LogTail {
  let lines: [String]
  /// The number of lines of the whole log; nil if it is too long to count.
  let lineCount: Int?
  let byteCount: Int

  private static let longestCounted = 64 << 20

  /// Reads at most `limit` lines, each at most `columns` wide.
  init(of log: LogFile, limit: Int, columns: Int, buffer: UnsafeMutableRawBufferPointer) {
    byteCount = log.size
    let start = max(0, byteCount - buffer.count)
    let isCounted = byteCount <= Self.longestCounted
    var counter = LineCounter()
    if isCounted { counter.count(log, upTo: start, buffer) }
    let end = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(byteCount - start)])
    var text = UnsafeRawBufferPointer(rebasing: end[..<log.read(at: start, into: end)])
    counter.count(text)
    lineCount = isCounted ? counter.lineCount : nil
    if text.last == UInt8(ascii: "\n") { text = UnsafeRawBufferPointer(rebasing: text.dropLast()) }
    guard !text.isEmpty else {
      lines = []
      return
    }
    let whole = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    lines = whole.suffix(limit).map { oneLine(Self.shownPart(of: $0), columns: columns) }
  }

  /// The part of a line that a terminal would finally show: a carriage return restarts the line.
  private static func shownPart(of line: Slice<UnsafeRawBufferPointer>) -> some Collection<UInt8> {
    let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    guard let start = line.lastIndex(of: UInt8(ascii: "\r")) else { return line }
    return line[(start + 1)...]
  }
}

/// The number of lines of what it is given piece by piece.
private struct LineCounter {
  private var newlines = 0
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
