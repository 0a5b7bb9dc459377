// Rails as characters: `├` feeds and continues, `╯` ends here, `┼` crosses, `●` is the operation.

/// The characters of which rails consist.
enum RailGlyph: Int {
  case blank, rail, across, crossing, feedRight, feedLeft, endRight, endLeft, endBoth, node

  private var box: Unicode.Scalar {
    switch self {
    case .blank: " "
    case .rail: "│"
    case .across: "─"
    case .crossing: "┼"
    case .feedRight: "├"
    case .feedLeft: "┤"
    case .endRight: "╰"
    case .endLeft: "╯"
    case .endBoth: "┴"
    case .node: "●"
    }
  }

  private var ascii: Unicode.Scalar {
    switch self {
    case .blank: " "
    case .rail: "|"
    case .across: "-"
    case .crossing: "+"
    case .feedRight, .feedLeft: "|"
    case .endRight: "`"
    case .endLeft: "'"
    case .endBoth: "^"
    case .node: "*"
    }
  }

  static let maxByteCount = 3

  /// Writes the character at `end`, and moves it on.
  @inline(__always)
  fileprivate func append(to end: inout UnsafeMutableRawPointer, usesASCII: Bool) {
    let scalar = (usesASCII ? ascii : box).value
    if scalar < 0x80 {
      end.storeBytes(of: UInt8(scalar), as: UInt8.self)
      end += 1
    } else {
      end.storeBytes(of: UInt8(0xE0 | scalar >> 12), as: UInt8.self)
      end.storeBytes(of: UInt8(0x80 | scalar >> 6 & 0x3F), toByteOffset: 1, as: UInt8.self)
      end.storeBytes(of: UInt8(0x80 | scalar & 0x3F), toByteOffset: 2, as: UInt8.self)
      end += 3
    }
  }
}

extension RailLine {
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
    sink.write(atMost: (2 * last + 1) * RailGlyph.maxByteCount) { start in
      var end = start
      for column in 0...last {
        glyph(at: column, in: span).append(to: &end, usesASCII: usesASCII)
        guard column < last else { break }
        let isJoined = node >= 0 && column >= span.lowerBound && column < span.upperBound
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
