// Lines that their command overwrote by carriage returns, as progress bars do: where a block shows
// them while they change, only their last state stays.

import Glibc

extension Screen {
  /// Passes on the bytes that would be seen; returns the number of bytes used. `isLast` is true if nothing follows.
  func writeVisible(
    _ bytes: UnsafeRawBufferPointer, isLast: Bool, through filter: inout TerminalFilter
  ) -> Int {
    guard pane != nil, let start = bytes.baseAddress,
      memchr(start, Self.carriageReturn, bytes.count) != nil
    else { return filter.write(bytes, isLast: isLast, to: output) }
    var position = 0
    while position < bytes.count {
      let rest = bytes[position...]
      let newline = rest.firstIndex(of: UInt8(ascii: "\n"))
      // Later text may overwrite the line, unless it is too long to wait for.
      if newline == nil, !isLast, position > 0 { return position }
      let end = newline.map { $0 + 1 } ?? bytes.count
      let visible = Self.visiblePart(of: rest[..<end])
      let used = filter.write(
        UnsafeRawBufferPointer(rebasing: visible), isLast: newline != nil || isLast, to: output)
      if used < visible.count { return visible.startIndex + used }
      position = end
    }
    return position
  }

  private static let carriageReturn = Int32(UInt8(ascii: "\r"))

  /// The text after the last carriage return before the end of the line.
  private static func visiblePart(of line: Slice<UnsafeRawBufferPointer>) -> Slice<
    UnsafeRawBufferPointer
  > {
    var end = line.endIndex
    while end > line.startIndex, [UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains(line[end - 1]) {
      end -= 1
    }
    guard let last = line[..<end].lastIndex(of: UInt8(ascii: "\r")) else { return line }
    return line[(last + 1)...]
  }
}
