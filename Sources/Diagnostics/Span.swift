// Locations in text. A location is a byte offset; lines and columns are computed only for printing.

/// A range of bytes in the text of a `SourceMap`. It is public, although no product exposes this module, for
/// the same reason as `OperationID`: each one that was made was a call.
public struct Span: Hashable, Sendable {
  /// The offset of the first byte.
  public var start: UInt32
  /// The offset after the last byte.
  public var end: UInt32

  /// The range between two offsets.
  @inlinable
  @inline(__always)
  public init(start: Int, end: Int) {
    self.start = UInt32(truncatingIfNeeded: start)
    self.end = UInt32(truncatingIfNeeded: end)
  }

  package var range: Range<Int> { Int(start)..<Int(end) }
}
