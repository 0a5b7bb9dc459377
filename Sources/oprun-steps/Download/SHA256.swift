// SHA-256 by libcrypto, which uses the instructions of the processor for it.

import CLate

/// A hash under construction.
struct SHA256: ~Copyable {
  private let context = ccrypto_sha256_start()

  deinit { ccrypto_sha256_end(context) }

  borrowing func update(_ bytes: UnsafeRawBufferPointer) {
    ccrypto_sha256_add(context, bytes.baseAddress, bytes.count)
  }

  /// The hash of everything so far; more can follow.
  borrowing func finish() -> Digest {
    var bytes = [UInt8](repeating: 0, count: 32)
    ccrypto_sha256_result(context, &bytes)
    return Digest(bytes: bytes)
  }

  static func hash(_ text: String) -> Digest {
    let hash = SHA256()
    var text = text
    text.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
    return hash.finish()
  }
}

/// A hash of 32 bytes.
struct Digest: Hashable, Sendable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Parses 64 hexadecimal digits.
  init?(_ text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 64 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: 64, by: 2) {
      guard let high = hexadecimalValue(digits[index]),
        let low = hexadecimalValue(digits[index + 1])
      else { return nil }
      bytes.append(high << 4 | low)
    }
    self.bytes = bytes
  }

  var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

private func hexadecimalValue(_ digit: UInt8) -> UInt8? {
  switch digit {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
  default: nil
  }
}
