// Lines and columns of one file's bytes, for printing. It knows only offsets within the file.

/// A table of checkpoints at equal distances, so that finding any position costs at most one such
/// distance, even in a file that is one line of 60 MB.
struct LineTable {
  struct Position {
    /// The line, counted from 1.
    let line: Int
    /// The column, counted from 1, in Unicode scalars; a byte order mark does not count.
    let column: Int
    /// The offset of the line's first byte.
    let lineStart: Int
  }

  private struct Checkpoint {
    /// The number of newlines before the checkpoint.
    var line = 0
    var lineStart = 0
    /// The number of scalars between the line's start and the checkpoint.
    var scalars = 0

    mutating func advance(over bytes: ArraySlice<UInt8>, from offset: Int) {
      bytes.withUnsafeBytes { bytes in
        var index = 0
        while index < bytes.count {
          let byte = bytes[index]
          index += 1
          if byte == UInt8(ascii: "\n") {
            line += 1
            lineStart = offset + index
            scalars = 0
          } else if byte & 0xC0 != 0x80 {
            scalars += 1
          }
        }
      }
    }
  }

  private static let stretch = 2048
  private var checkpoints: [Checkpoint] = []

  /// Reads the bytes once, up to a limit beyond which no position will be requested.
  init(_ bytes: [UInt8], upTo limit: Int) {
    var current = Checkpoint()
    var offset = byteOrderMark(of: bytes)
    current.lineStart = offset
    checkpoints.append(current)
    while offset < min(limit, bytes.count) {
      let end = min((offset / Self.stretch + 1) * Self.stretch, bytes.count)
      current.advance(over: bytes[offset..<end], from: offset)
      checkpoints.append(current)
      offset = end
    }
  }

  func position(at offset: Int, in bytes: [UInt8]) -> Position {
    let block = min(offset / Self.stretch, checkpoints.count - 1)
    var found = checkpoints[block]
    let start = max(block * Self.stretch, byteOrderMark(of: bytes))
    let end = min(offset, bytes.count)
    if start < end { found.advance(over: bytes[start..<end], from: start) }
    return Position(line: found.line + 1, column: found.scalars + 1, lineStart: found.lineStart)
  }
}

/// The length of a UTF-8 byte order mark, or 0.
package func byteOrderMark(of bytes: [UInt8]) -> Int {
  bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
}
