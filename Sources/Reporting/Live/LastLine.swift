// The last line of a log that may still grow, as a person would see it, without text that a
// progress bar overwrote, and without everything that moves the cursor.

import Glibc
import RunFiles

/// The end of what a command has printed.
struct LastLine: Hashable {
  var text = ""
  /// True if the line began before the part of the log that was read.
  var isCutAtStart = false
}

extension LastLine {
  private static let longest = 1024

  /// The last line with any text up to `byteCount`.
  init(of log: LogFile, upTo byteCount: Int, buffer: UnsafeMutableRawBufferPointer) {
    let start = max(0, byteCount - Self.longest)
    let window = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(byteCount - start)])
    let bytes = UnsafeRawBufferPointer(rebasing: window[..<log.read(at: start, into: window)])
    self.init(bytes, isCutAtStart: start > 0)
  }

  /// `isCutAtStart` is true if the bytes may begin anywhere in a line.
  init(_ bytes: UnsafeRawBufferPointer, isCutAtStart: Bool) {
    var reader = LineReader(isCutAtStart: isCutAtStart)
    var rest = bytes[...]
    // Drops the rest of a character.
    if isCutAtStart { rest = rest.drop { $0 & 0xc0 == 0x80 } }
    while let byte = rest.popFirst() { reader.read(byte, &rest) }
    self = reader.line
  }
}

/// Follows a terminal that only knows the current line.
private struct LineReader {
  private var current: [UInt8] = []
  private var isCurrentCut: Bool
  private var last = LastLine()

  init(isCutAtStart: Bool) { isCurrentCut = isCutAtStart }

  var line: LastLine {
    var reader = self
    reader.endLine()
    return reader.last
  }

  mutating func read(_ byte: UInt8, _ rest: inout Slice<UnsafeRawBufferPointer>) {
    switch byte {
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"): endLine()
    case 0x08: removeLast()
    case 0x1b: skipSequence(&rest)
    case 0x07: break
    default: current.append(byte)
    }
  }

  /// Ends the line: the next text stands in another line, or in the place of this one.
  private mutating func endLine() {
    let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    let text = current.drop { blanks.contains($0) }.reversed().drop { blanks.contains($0) }
    if !text.isEmpty {
      last = LastLine(
        text: String(decoding: Array(text.reversed()), as: UTF8.self), isCutAtStart: isCurrentCut)
    }
    current.removeAll(keepingCapacity: true)
    isCurrentCut = false
  }

  private mutating func removeLast() {
    while let byte = current.popLast(), byte & 0xc0 == 0x80 {}
  }

  /// Skips ECMA-48 control sequences, control strings, and sequences of two bytes.
  private mutating func skipSequence(_ rest: inout Slice<UnsafeRawBufferPointer>) {
    switch rest.popFirst() {
    case UInt8(ascii: "["):
      var parameters: [UInt8] = []
      while let byte = rest.popFirst() {
        guard (0x40...0x7e).contains(byte) else {
          parameters.append(byte)
          continue
        }
        if Self.leavesText(byte, parameters) { endLine() }
        return
      }
    case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"),
      UInt8(ascii: "_"):
      while let byte = rest.popFirst(), byte != 0x07 {
        if byte == 0x1b, rest.first == UInt8(ascii: "\\") { return _ = rest.popFirst() }
      }
    case UInt8(ascii: "("), UInt8(ascii: ")"): _ = rest.popFirst()
    default: break
    }
  }

  /// True if the cursor moves away from the end of the text, or that is erased.
  private static func leavesText(_ final: UInt8, _ parameters: [UInt8]) -> Bool {
    switch final {
    case UInt8(ascii: "K"): parameters == [UInt8(ascii: "1")] || parameters == [UInt8(ascii: "2")]
    case UInt8(ascii: "J"): !parameters.isEmpty && parameters != [UInt8(ascii: "0")]
    default: "ABEFGHdf".utf8.contains(final)
    }
  }
}
