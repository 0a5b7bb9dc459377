// The SHA-256 of files, and of what a step is.

import CCrypto

/// A SHA-256.
package struct CacheDigest: Hashable, Sendable {
  private let first: UInt64
  private let second: UInt64
  private let third: UInt64
  private let fourth: UInt64

  static let byteCount = 32
  /// Stands for no digest.
  static let none = CacheDigest(words: (0, 0, 0, 0))

  init(words: (UInt64, UInt64, UInt64, UInt64)) {
    (first, second, third, fourth) = words
  }

  /// A part of it is as good as all: it is as random as a hash can be.
  package func _rawHashValue(seed: Int) -> Int { Int(truncatingIfNeeded: first) ^ seed }

  /// 63 bits of it, for where less than all will do; never 0.
  package var number: Int { max(1, Int(first >> 1)) }

  /// Its four parts, for storing.
  var words: (UInt64, UInt64, UInt64, UInt64) { (first, second, third, fourth) }

  /// It in hexadecimal, 64 characters.
  package var hexadecimal: String {
    [first, second, third, fourth].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }

  /// Nil if the text is not one.
  init?(hexadecimal text: String) {
    guard text.utf8.count == 64 else { return nil }
    var words: [UInt64] = []
    var rest = text[...]
    for _ in 0..<4 {
      guard let word = UInt64(rest.prefix(16), radix: 16) else { return nil }
      words.append(word)
      rest = rest.dropFirst(16)
    }
    self.init(words: (words[0], words[1], words[2], words[3]))
  }

  /// Where something of this name lies: `ab/cdef…`.
  var path: String {
    let name = hexadecimal
    return "\(name.prefix(2))/\(name.dropFirst(2))"
  }

  package init(of text: String) { self.init(of: "", text) }

  /// The digest of two texts as one.
  init(of start: String, _ text: String) {
    var builder = DigestBuilder()
    builder.add(start.utf8.count + text.utf8.count)
    var (start, text) = (start, text)
    start.withUTF8 { builder.addRaw(UnsafeRawBufferPointer($0)) }
    text.withUTF8 { builder.addRaw(UnsafeRawBufferPointer($0)) }
    self = builder.finish()
  }
}

/// Computes a digest of parts, each with its length.
struct DigestBuilder {
  private var context = SHA256_CTX()

  init() { ccrypto_sha256_init(&context) }

  /// Adds bytes as they are, without their number.
  mutating func addRaw(_ bytes: UnsafeRawBufferPointer) {
    ccrypto_sha256_update(&context, bytes.baseAddress, bytes.count)
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      add(bytes.count)
      addRaw(UnsafeRawBufferPointer(bytes))
    }
  }

  mutating func add(_ number: Int) {
    withUnsafeBytes(of: number.littleEndian) { addRaw($0) }
  }

  mutating func add(_ digest: CacheDigest) {
    withUnsafeBytes(of: digest.words) { addRaw($0) }
  }

  mutating func finish() -> CacheDigest {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { bytes in
      ccrypto_sha256_final(&context, bytes.bindMemory(to: UInt8.self).baseAddress)
    }
    return CacheDigest(
      words: (
        words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian
      ))
  }
}
