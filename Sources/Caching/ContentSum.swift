// The checksum of a content, which is kept beside it: what is put back is checked with it, because SHA-256 takes ten
// times as long. docs/design-cache.md, "Files".

import CChecksum
import CLinux

/// Computes the checksum of a content from its pieces.
final class ContentSum {
  typealias Words = (UInt64, UInt64)

  /// The attribute of the content's file in which it is kept. A copy of the state directory may lack it.
  private static let attribute = "user.oprun.xxh3"
  private static let byteCount = MemoryLayout<Words>.size
  /// The SHA-256 of a shorter content is computed faster than an attribute is written.
  private static let leastSize = 1 << 14

  private let state: OpaquePointer
  private var size = 0

  init() {
    guard let state = cchecksum_make() else { preconditionFailure("there is no memory") }
    self.state = state
  }

  deinit { cchecksum_free(state) }

  func add(_ bytes: UnsafeRawBufferPointer) {
    cchecksum_add(state, bytes.baseAddress, bytes.count)
    size += bytes.count
  }

  var words: Words {
    var words: Words = (0, 0)
    withUnsafeMutableBytes(of: &words) { bytes in
      cchecksum_get(state, bytes.bindMemory(to: UInt64.self).baseAddress)
    }
    return words
  }

  /// What is kept beside a content; nil if there is nothing.
  static func noted(of content: Int32) -> Words? {
    var words: Words = (0, 0)
    return fgetxattr(content, attribute, &words, byteCount) == byteCount ? words : nil
  }

  /// Keeps it beside the content. Where the file system cannot, the content will be checked with SHA-256.
  func note(of content: Int32) {
    guard size >= Self.leastSize else { return }
    var words = words
    fsetxattr(content, Self.attribute, &words, Self.byteCount, 0)
  }
}
