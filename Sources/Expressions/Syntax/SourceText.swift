// The text of a pipeline file while it is being planned: spans refer to it, without a copy.

package import Diagnostics

/// The text; it is valid only as long as the bytes it points to.
package struct SourceText {
  private let bytes: UnsafeBufferPointer<UInt8>
  /// The offset of the bytes on the number line of the source map.
  private let start: Int
  /// The offsets in the scalar that was used last; without it each location is computed anew.
  private(set) var offsets: ScalarOffsets?

  package init(_ bytes: UnsafeBufferPointer<UInt8>, start: Int) {
    self.bytes = bytes
    self.start = start
  }

  package subscript(span: Span) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      rebasing: bytes[(Int(span.start) - start)..<(Int(span.end) - start)])
  }

  /// The same text, for finding many locations in it.
  package var remembering: SourceText {
    var text = self
    if text.offsets == nil { text.offsets = ScalarOffsets() }
    return text
  }

  package func string(_ span: Span) -> String { String(decoding: self[span], as: UTF8.self) }
}

extension SourceMap {
  /// Gives access to the text of the file that contains a location.
  package func withText<R>(at span: Span, _ body: (SourceText) -> R) -> R {
    let file = files[fileIndex(at: Int(span.start))]
    return file.bytes.withUnsafeBufferPointer { body(SourceText($0, start: file.start)) }
  }
}
