// The text of a script. One that stands in the file as it is stays there: as strings of their own the
// scripts of 100,000 steps would take more memory than all else of the plan.

package import Diagnostics
import Expressions

/// Equal to one with the same bytes, wherever these are.
package struct ScriptText: Sendable {
  /// Of a file, or of the text alone.
  private let bytes: [UInt8]
  private let start: UInt32
  private let byteCount: UInt32

  package init(_ text: String) {
    bytes = Array(text.utf8)
    start = 0
    byteCount = UInt32(bytes.count)
  }

  /// What is written at a place.
  package init(_ span: Span, in sources: SourceMap) {
    let file = sources.files[sources.fileIndex(at: Int(span.start))]
    bytes = file.bytes
    start = span.start - UInt32(file.start)
    byteCount = span.end - span.start
  }

  package var string: String { withUTF8 { String(decoding: $0, as: UTF8.self) } }

  package func withUTF8<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    bytes.withUnsafeBufferPointer { bytes in
      body(UnsafeBufferPointer(rebasing: bytes[Int(start)..<Int(start) + Int(byteCount)]))
    }
  }
}

extension ScriptText: Hashable {
  package static func == (left: ScriptText, right: ScriptText) -> Bool {
    left.withUTF8 { left in right.withUTF8 { right in areEqual(left, right) } }
  }

  package func hash(into hasher: inout Hasher) {
    withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension ScriptText: ExpressibleByStringInterpolation {
  package init(stringLiteral text: String) { self.init(text) }
}
