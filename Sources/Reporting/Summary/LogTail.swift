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
    lineCount = byteCount <= Self.longestCounted ? Self.countLines(log, buffer) : nil
    let start = max(0, byteCount - buffer.count)
    let count = log.read(at: start, into: buffer)
    var text = UnsafeRawBufferPointer(rebasing: buffer[..<count])
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

  private static func countLines(
    _ log: LogFile, _ buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    var position = 0
    var lines = 0
    var last = UInt8(ascii: "\n")
    while true {
      let count = log.read(at: position, into: buffer)
      guard count > 0 else { break }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      lines += bytes.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
      last = bytes[count - 1]
      position += count
    }
    return last == UInt8(ascii: "\n") ? lines : lines + 1
  }
}
