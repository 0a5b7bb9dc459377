// The text of a pipeline file while it is being planned: what spans refer to, without a copy.

package import Diagnostics

/// Lives only as long as the bytes it looks at.
package struct SourceText {
  private let bytes: UnsafeBufferPointer<UInt8>
  /// Where the bytes begin on the number line of the source map.
  private let start: Int
  /// In the scalar that was looked at last; without it each place is found anew.
  private(set) var offsets: ScalarOffsets?

  package init(_ bytes: UnsafeBufferPointer<UInt8>, start: Int) {
    self.bytes = bytes
    self.start = start
  }

  package subscript(span: Span) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      rebasing: bytes[(Int(span.start) - start)..<(Int(span.end) - start)])
  }

  /// The same text, for finding many places in it.
  package var remembering: SourceText {
    var text = self
    if text.offsets == nil { text.offsets = ScalarOffsets() }
    return text
  }

  package func string(_ span: Span) -> String { String(decoding: self[span], as: UTF8.self) }
}

extension SourceMap {
  /// Looks at the text of the file that holds a place.
  package func withText<R>(at span: Span, _ body: (SourceText) -> R) -> R {
    let file = files[fileIndex(at: Int(span.start))]
    return file.bytes.withUnsafeBufferPointer { body(SourceText($0, start: file.start)) }
  }
}
