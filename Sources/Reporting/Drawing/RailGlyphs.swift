// Rails as characters: `├` feeds and continues, `╯` ends here, `┼` crosses, `●` is the operation.

/// The characters of which rails consist.
enum RailGlyph: Int {
  case blank, rail, across, crossing, feedRight, feedLeft, endRight, endLeft, endBoth, node

  private var box: UInt32 {
    switch self {
    case .blank: Self.bytes(of: " ")
    case .rail: Self.bytes(of: "│")
    case .across: Self.bytes(of: "─")
    case .crossing: Self.bytes(of: "┼")
    case .feedRight: Self.bytes(of: "├")
    case .feedLeft: Self.bytes(of: "┤")
    case .endRight: Self.bytes(of: "╰")
    case .endLeft: Self.bytes(of: "╯")
    case .endBoth: Self.bytes(of: "┴")
    case .node: Self.bytes(of: "●")
    }
  }

  private var ascii: UInt32 {
    switch self {
    case .blank: Self.bytes(of: " ")
    case .rail: Self.bytes(of: "|")
    case .across: Self.bytes(of: "-")
    case .crossing: Self.bytes(of: "+")
    case .feedRight, .feedLeft: Self.bytes(of: "|")
    case .endRight: Self.bytes(of: "`")
    case .endLeft: Self.bytes(of: "'")
    case .endBoth: Self.bytes(of: "^")
    case .node: Self.bytes(of: "*")
    }
  }

  /// The one or three bytes of a character in UTF-8, the first one lowest.
  @inline(__always)
  private static func bytes(of scalar: Unicode.Scalar) -> UInt32 {
    let value = scalar.value
    if value < 0x80 { return value }
    return (0xE0 | value >> 12) | (0x80 | value >> 6 & 0x3F) << 8 | (0x80 | value & 0x3F) << 16
  }

  fileprivate func bytes(usesASCII: Bool) -> UInt32 { usesASCII ? ascii : box }

  /// The number of bytes that `append` touches; the next character may begin earlier.
  static let maxByteCount = 4

  /// Writes the character at `end`, and moves it on.
  @inline(__always)
  fileprivate func append(to end: inout UnsafeMutableRawPointer, usesASCII: Bool) {
    let bytes = bytes(usesASCII: usesASCII)
    end.storeBytes(of: bytes.littleEndian, as: UInt32.self)
    end += bytes < 0x80 ? 1 : 3
  }
}

/// A column in which nothing happens, with the blank after it; most columns are such.
private struct PassedColumn {
  private let bytes: UInt32
  private let count: Int

  init(_ glyph: RailGlyph, _ usesASCII: Bool) {
    let bytes = glyph.bytes(usesASCII: usesASCII)
    let isShort = bytes < 0x80
    self.bytes = bytes | UInt32(UInt8(ascii: " ")) << (isShort ? 8 : 24)
    count = isShort ? 2 : 4
  }

  @inline(__always)
  func append(to end: inout UnsafeMutableRawPointer) {
    end.storeBytes(of: bytes.littleEndian, as: UInt32.self)
    end += count
  }
}

extension RailLine {
  @inline(__always)
  private func glyph(at column: Int, in span: ClosedRange<Int>) -> RailGlyph {
    if column == node { return .node }
    let bit: UInt32 = column < limit ? 1 << UInt32(column) : 0
    if feeds & bit != 0 {
      if ends & bit == 0 { return column < node ? .feedRight : .feedLeft }
      if column > span.lowerBound, column < span.upperBound { return .endBoth }
      return column < node ? .endRight : .endLeft
    }
    let isJoined = node >= 0 && span.contains(column)
    if above & bit != 0 { return isJoined ? .crossing : .rail }
    return isJoined ? .across : .blank
  }

  /// The number of columns that `write` uses.
  var textWidth: Int {
    let columns = node < 0 ? 2 * (31 - above.leadingZeroBitCount) + 1 : width
    return max(0, columns) + (hidden > 0 ? 2 + digitCount(UInt(hidden)) : 0)
  }

  /// Writes the columns, then ` +12` if there are rails that are not drawn.
  func write(to sink: ByteSink, usesASCII: Bool) {
    let span = node < 0 ? 0...0 : self.span
    let last = node < 0 ? 31 - above.leadingZeroBitCount : lastColumn
    guard last >= 0 else { return }
    let (rail, blank) = (PassedColumn(.rail, usesASCII), PassedColumn(.blank, usesASCII))
    sink.write(atMost: (2 * last + 1) * RailGlyph.maxByteCount) { start in
      var end = start
      for column in 0...last {
        let isPassed = node < 0 || column < span.lowerBound || column > span.upperBound
        if isPassed, column < last {
          let isRail = above & 1 << UInt32(column) != 0
          (isRail ? rail : blank).append(to: &end)
          continue
        }
        glyph(at: column, in: span).append(to: &end, usesASCII: usesASCII)
        guard column < last else { break }
        let isJoined = column < span.upperBound
        (isJoined ? RailGlyph.across : .blank).append(to: &end, usesASCII: usesASCII)
      }
      return end - start
    }
    if hidden > 0 {
      sink.write(" +")
      sink.write(decimal: hidden)
    }
  }
}
