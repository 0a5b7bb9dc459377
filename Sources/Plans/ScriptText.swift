// The text of a script. If it appears in the file unchanged, it stays there: as separate strings
// the scripts of 100,000 steps would take more memory than the rest of the plan.

package import Diagnostics
import Expressions

/// The text of a script. It equals any other with the same bytes, wherever these are stored.
package struct ScriptText: Sendable {
  /// The bytes of a whole file, or only of the text.
  private let bytes: [UInt8]
  private let start: UInt32
  private let byteCount: UInt32

  package init(_ text: String) { self.init(utf8: Array(text.utf8)) }

  /// Makes the text of bytes that are UTF-8.
  package init(utf8 bytes: [UInt8]) {
    self.bytes = bytes
    start = 0
    byteCount = UInt32(bytes.count)
  }

  /// Makes the text at a location of the sources.
  package init(_ span: Span, in sources: SourceMap) {
    let file = sources.files[sources.fileIndex(at: Int(span.start))]
    bytes = file.bytes
    start = span.start - UInt32(file.start)
    byteCount = span.end - span.start
  }

  package var string: String { withBytes { String(decoding: $0, as: UTF8.self) } }

  /// Calls `body` with the bytes. It is not generic, because generic code is not specialised for other modules.
  package func withUTF8(_ body: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool { withBytes(body) }

  private func withBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
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
    withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension ScriptText: ExpressibleByStringInterpolation {
  package init(stringLiteral text: String) { self.init(text) }
}
