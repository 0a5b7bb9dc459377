// Locations in text. A location is a byte offset; lines and columns are computed only for printing.

/// A range of bytes in the text of a `SourceMap`.
package struct Span: Hashable, Sendable {
  package var start: UInt32
  package var end: UInt32

  @inlinable
  @inline(__always)
  package init(start: Int, end: Int) {
    self.start = UInt32(truncatingIfNeeded: start)
    self.end = UInt32(truncatingIfNeeded: end)
  }

  package var range: Range<Int> { Int(start)..<Int(end) }
}
