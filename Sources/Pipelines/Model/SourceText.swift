// The text of a pipeline file while it is being planned: what spans refer to, without a copy.

import Diagnostics

/// Lives only as long as the bytes it looks at.
struct SourceText {
  private let bytes: UnsafeBufferPointer<UInt8>
  /// Where the bytes begin on the number line of the source map.
  private let start: Int

  init(_ bytes: UnsafeBufferPointer<UInt8>, start: Int) {
    self.bytes = bytes
    self.start = start
  }

  subscript(span: Span) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      rebasing: bytes[(Int(span.start) - start)..<(Int(span.end) - start)])
  }

  func string(_ span: Span) -> String { String(decoding: self[span], as: UTF8.self) }
}
