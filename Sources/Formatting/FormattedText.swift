// The entry point of this module: formats the text of a file by the rules of docs/formatting.md.

/// A text before and after formatting, line by line: every remaining line comes from one line before.
package struct FormattedText {
  /// A line after formatting.
  struct Line {
    /// The number of the line before formatting, from 0.
    let source: Int
    var text: [UInt8]
  }

  /// The lines before formatting, without their line feeds.
  let oldLines: [ArraySlice<UInt8>]
  let lines: [Line]
  let endsWithNewline: Bool
  let endedWithNewline: Bool
  package private(set) var isChanged = false

  /// The whole text after formatting.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(lines.reduce(0) { $0 + $1.text.count + 1 })
    for line in lines {
      bytes += line.text
      bytes.append(Byte.newline)
    }
    if !endsWithNewline { bytes.removeLast() }
    return bytes
  }

  /// Formats a text, which must be valid UTF-8. Linear in its size.
  package init(_ bytes: [UInt8]) throws(FormattingFailure) {
    let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let text = Self.withPlainLineEnds(bytes[mark...])
    let layout = try text.withUnsafeBufferPointer { (text) throws(FormattingFailure) -> Layout in
      var formatter = Formatter(text)
      return try formatter.format()
    }
    oldLines = Self.lines(of: bytes)
    lines = layout.lines
    endedWithNewline = bytes.last == Byte.newline || bytes.isEmpty
    endsWithNewline = layout.endsWithNewline
    let result = self.bytes
    guard haveSameMeaning(text, result) else { throw .changesMeaning }
    isChanged = result != bytes
  }

  /// The text with line feeds only: YAML also ends a line with a carriage return, alone or before a line feed.
  private static func withPlainLineEnds(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    guard bytes.contains(Byte.carriageReturn) else { return Array(bytes) }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var last: UInt8 = 0
    for byte in bytes {
      if byte == Byte.carriageReturn {
        result.append(Byte.newline)
      } else if byte != Byte.newline || last != Byte.carriageReturn {
        result.append(byte)
      }
      last = byte
    }
    return result
  }

  /// The lines of a text; a carriage return stays at the end of its line.
  private static func lines(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    for (offset, byte) in bytes.enumerated() {
      let isBeforeNewline = offset + 1 < bytes.count && bytes[offset + 1] == Byte.newline
      if byte == Byte.newline {
        lines.append(bytes[start..<offset])
        start = offset + 1
      } else if byte == Byte.carriageReturn, !isBeforeNewline {
        lines.append(bytes[start...offset])
        start = offset + 1
      }
    }
    if start < bytes.count { lines.append(bytes[start...]) }
    return lines
  }
}

/// Why a text cannot be formatted.
package enum FormattingFailure: Error {
  /// The text is not YAML; a validated file is.
  case invalid
  /// The result would mean something else, which is a bug in oprun.
  case changesMeaning
}

/// Bytes with a name.
enum Byte {
  static let newline = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let space = UInt8(ascii: " ")
  static let tab = UInt8(ascii: "\t")
  static let hash = UInt8(ascii: "#")

  static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }
}
