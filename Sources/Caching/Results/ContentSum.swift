// The checksum of a content, which is kept beside it: what is put back is checked with it, because SHA-256 takes ten
// times as long. docs/design-cache.md, "Files".

import CChecksum
import CLinux

/// Computes the checksum of a content from its pieces.
final class ContentSum {
  typealias Words = (UInt64, UInt64)

  /// The attribute of the content's file in which it is kept. A copy of the state directory may lack it.
  private static let attribute = "user.oprun.sum"
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

  /// The checksum that is kept beside the content of a name; nil if there is none.
  static func noted(of content: Int32, named digest: CacheDigest) -> Words? {
    var words: Words = (0, 0)
    guard fgetxattr(content, attribute, &words, byteCount) == byteCount else { return nil }
    return bound(words, to: digest)
  }

  /// Keeps it beside the content of a name. Where the file system cannot, the content will be checked with SHA-256.
  func note(of content: Int32, named digest: CacheDigest) {
    guard size >= Self.leastSize else { return }
    var words = Self.bound(words, to: digest)
    fsetxattr(content, Self.attribute, &words, Self.byteCount, 0)
  }

  /// A checksum as it is kept, and back: whole as it may be, a content in the place of another one is not the one of that
  /// name.
  private static func bound(_ words: Words, to digest: CacheDigest) -> Words {
    (words.0 ^ digest.words.0, words.1 ^ digest.words.1)
  }
}
