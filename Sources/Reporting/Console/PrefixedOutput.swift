// Shows every line of every command as it comes, with the command's name in front. Only whole lines
// are shown: a partial one waits in its log for its newline or the end.

import RunFiles
import Scheduling

struct PrefixedOutput: StepOutput {
  private struct Position {
    /// The position up to which the log has been shown, the start of a line or of a piece of a very
    /// long one.
    var shown = 0
    /// The position up to which there is no newline after `shown`.
    var searched = 0
  }

  private let screen: Screen
  private let operations: RunOperations
  private var positions: [Stream: Position] = [:]

  init(screen: Screen, operations: RunOperations) {
    self.screen = screen
    self.operations = operations
  }

  mutating func grew(
    _ stream: Stream, to byteCount: Int, start: Nanoseconds, at now: Nanoseconds
  ) {
    var room = Int.max
    _ = show(stream, upTo: byteCount, within: &room)
  }

  /// Shows no more than `room` bytes, and reduces that; false if that was not all.
  mutating func show(_ stream: Stream, upTo byteCount: Int, within room: inout Int) -> Bool {
    guard let log = operations.log(of: stream) else { return true }
    return show(stream, Written(log: log, size: byteCount, isAll: false), within: &room)
  }

  mutating func ended(_ stream: Stream, isFailure: Bool) {
    if let log = operations.log(of: stream) {
      var room = Int.max
      _ = close(stream, log, within: &room)
    } else {
      screen.writeUnreadable(operations.logPath(of: stream), .neverWritten)
    }
  }

  /// Shows the rest of a log; false if there is no room for all of it.
  mutating func close(_ stream: Stream, _ log: LogFile, within room: inout Int) -> Bool {
    let all = Written(log: log, size: log.size, isAll: true)
    guard show(stream, all, within: &room) else { return false }
    positions[stream] = nil
    return true
  }

  mutating func suspend(for stream: Stream) -> Int {
    positions.removeValue(forKey: stream)?.shown ?? 0
  }

  /// The output that a command has written by now.
  private struct Written {
    let log: LogFile
    let size: Int
    /// True if the command writes no more.
    let isAll: Bool
  }

  private mutating func show(
    _ stream: Stream, _ written: Written, within room: inout Int
  ) -> Bool {
    let (log, size) = (written.log, written.size)
    if screen.output.hasFailed { return true }
    var position = positions[stream, default: Position()]
    defer { positions[stream] = position }
    let fresh =
      position.searched..<(position.searched + max(0, min(room, size - position.searched)))
    room -= fresh.count
    let byteCount = fresh.upperBound
    let isWhole = byteCount >= size
    let isEnd = written.isAll && isWhole
    let hasNewline = log.endOfLastLine(in: fresh, buffer: screen.scratch) != nil
    position.searched = byteCount
    let isFull = byteCount - position.shown >= screen.scratch.count
    guard hasNewline || isFull || isEnd else { return isWhole }
    screen.turnToOutput()
    let isTrusted = screen.ci == nil || operations.isTrusted(stream)
    if !isTrusted { screen.output.guardRules = screen.ci?.dialect.rules }
    defer { if !isTrusted { screen.output.guardRules = nil } }
    let prefix = "[\(operations.title(of: stream))] "
    while position.shown < byteCount {
      let wanted = min(screen.scratch.count, byteCount - position.shown)
      let window = UnsafeMutableRawBufferPointer(rebasing: screen.scratch[..<wanted])
      let bytes = UnsafeRawBufferPointer(
        rebasing: window[..<log.read(at: position.shown, into: window)])
      let isLast = position.shown + bytes.count == byteCount
      let used = writeLines(bytes, after: prefix, takesAll: isEnd && isLast)
      if used == 0 { break }
      position.shown += used
    }
    return isWhole
  }

  /// Writes the whole lines, and the text after the last one if `takesAll`. A line that fills the
  /// buffer is cut. Returns the number of bytes.
  private func writeLines(
    _ bytes: UnsafeRawBufferPointer, after prefix: String, takesAll: Bool
  ) -> Int {
    var start = 0
    while start < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
      if let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
        writeLine(UnsafeRawBufferPointer(rebasing: rest[..<newline]), after: prefix)
        start += newline + 1
      } else if takesAll {
        writeLine(rest, after: prefix)
        start = bytes.count
      } else if start == 0, bytes.count == screen.scratch.count {
        let cut = Self.lastCut(in: bytes)
        writeLine(UnsafeRawBufferPointer(rebasing: bytes[..<cut]), after: prefix)
        start = cut
      } else {
        break
      }
    }
    return start
  }

  /// The place to cut a line that continues, so that no UTF-8 character is split.
  private static func lastCut(in bytes: UnsafeRawBufferPointer) -> Int {
    let tail = bytes.suffix(4)
    let start = tail.lastIndex { $0 & 0xc0 != 0x80 } ?? bytes.count
    return start < bytes.count && bytes[start] >= 0xc0 ? start : bytes.count
  }

  private func writeLine(_ line: UnsafeRawBufferPointer, after prefix: String) {
    screen.output.write(prefix, in: .faint, isColored: screen.colorsOutput)
    if screen.filtersOutput || screen.output.guardRules != nil {
      var filter = TerminalFilter(
        keepsColor: screen.colorsOutput && screen.ci == nil, rail: prefix)
      filter.continueLine()
      _ = filter.write(line, isLast: true, to: screen.output)
      filter.suspendColors(to: screen.output)
    } else {
      screen.output.write(line)
    }
    screen.output.writeNewline()
  }
}
