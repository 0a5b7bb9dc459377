// The part of the output that a log lacks because its command printed more than `log_limit`. While
// the command runs, the middle of its log is dropped again and again, and the text after it moves:
// readers must know how far.

import Glibc

/// The part of the output that a log lacks.
package struct LogGap: Equatable {
  /// The number of bytes at the beginning that the log has.
  package let start: Int
  /// The number of bytes that are missing after `start`.
  package let byteCount: Int

  package init(at start: Int, byteCount: Int) {
    self.start = start
    self.byteCount = byteCount
  }

  /// The text in the log in place of the missing bytes.
  package var marker: String {
    "\n[oprun: \(byteCount) bytes of output dropped here, see log_limit]\n"
  }

  fileprivate var end: Int { start + marker.utf8.count }

  /// The new position of a byte that was at `position` when the log lacked `earlier`; that of the
  /// marker if the byte was dropped.
  package func position(of position: Int, after earlier: LogGap?) -> Int {
    if position <= start { return position }
    let wasInMarker = earlier.map { position < $0.end } ?? false
    let printed = earlier.map { position - $0.end + $0.start + $0.byteCount } ?? position
    if wasInMarker || printed < start + byteCount { return start }
    return printed - start - byteCount + end
  }
}

/// The file that says which part a log lacks. It is beside the log, and exists only if something was dropped.
package struct LogGapFile {
  private let file: LogFile

  package init?(of log: String, in directory: RunDirectory) {
    guard let descriptor = try? directory.make(RunDirectory.gapName(of: log)) else { return nil }
    file = LogFile(owning: descriptor)
  }

  /// Writes what is about to be dropped, calls `body`, which drops it, and writes that this was
  /// done; false if it was not. Only readers of the growing log depend on the file.
  package func announce(_ gap: LogGap, after earlier: Int, while body: () -> Bool) -> Bool {
    write([gap.start, gap.byteCount, earlier])
    guard body() else {
      // Nothing will move again, and nobody has to wait.
      ftruncate(file.descriptor, 0)
      return false
    }
    write([gap.start, gap.byteCount, gap.byteCount])
    return true
  }

  private func write(_ numbers: [Int]) {
    _ = numbers.withUnsafeBytes { writeFully($0, to: file.descriptor, at: 0) }
  }
}

extension RunDirectory {
  /// The name of the file that says which part of a log is missing.
  package static func gapName(of log: String) -> String { "\(log).gap" }

  /// Removes a log, so that another one can take its name. The file of its gap goes first: it would
  /// be taken for that of the other log.
  package func removeLog(_ name: String) {
    remove(Self.gapName(of: name))
    remove(name)
  }

  /// The part that a log lacks; nil if it is complete. With `isLive`, waits until nothing moves.
  fileprivate func gap(ofLog name: String, isLive: Bool) -> LogGap? {
    let descriptor = open(Self.gapName(of: name))
    guard descriptor >= 0 else { return nil }
    let file = LogFile(owning: descriptor)
    for _ in 0..<Self.longestMove {
      var numbers = [0, 0, 0]
      let count = numbers.withUnsafeMutableBytes { file.read(at: 0, into: $0) }
      // A command of the run may have put the file there.
      guard count == 3 * MemoryLayout<Int>.stride,
        numbers.allSatisfy({ (0...Self.longestLog).contains($0) })
      else { return nil }
      if numbers[1] == numbers[2] || !isLive {
        return LogGap(at: numbers[0], byteCount: numbers[1])
      }
      usleep(1000)
    }
    return nil
  }

  /// A limit that no file exceeds.
  private static let longestLog = 1 << 60
  /// The longest time in milliseconds that bytes may take to move. A mebibyte takes about one.
  private static let longestMove = 1000
}

/// A log to which a command may be writing.
package struct GrowingLog {
  let file: LogFile
  let name: String
  let directory: RunDirectory
  /// False if the log's command has ended.
  let isLive: Bool

  package init(_ file: LogFile, named name: String, in directory: RunDirectory, isLive: Bool) {
    self.file = file
    self.name = name
    self.directory = directory
    self.isLive = isLive
  }

  fileprivate var gap: LogGap? { directory.gap(ofLog: name, isLive: isLive) }
}

/// The position up to which a log has been read that may still grow.
package struct LogCursor {
  /// The position in the log.
  package private(set) var position = 0
  private var gap: LogGap?
  /// The position at which reading stops.
  private var end = Int.max

  package init() {}

  package mutating func advance(by count: Int) { position += count }

  /// Makes reading stop at the present end of a log.
  package mutating func stopAtEnd(of log: GrowingLog) {
    var now = log.gap
    repeat {
      follow(now)
      end = log.file.size
      now = log.isLive ? log.gap : nil
    } while now != nil && now != gap
  }

  /// Adapts the positions to a new gap. The bytes after the end may be dropped as well; then the
  /// marker says so.
  private mutating func follow(_ now: LogGap?) {
    guard let now, now != gap else { return }
    position = now.position(of: position, after: gap)
    if end != .max {
      let moved = now.position(of: end, after: gap)
      end = moved == now.start && end > moved ? now.end : moved
    }
    gap = now
  }

  /// Fills the buffer with the next bytes; returns fewer at the end of the log.
  package mutating func read(
    _ log: GrowingLog, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    while true {
      follow(log.gap)
      let wanted = max(0, min(buffer.count, end - position))
      let count = log.file.read(
        at: position, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
      guard log.isLive else { return count }
      let now = log.gap
      if now == nil || now == gap { return count }
    }
  }
}
