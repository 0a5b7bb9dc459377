// A secret inside Base64 (RFC 4648): by itself, or between other bytes. Line breaks are handled
// elsewhere.

extension SecretForms {
  private static let standard = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let urlSafe = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  static func base64(_ secret: [UInt8]) -> [[UInt8]] {
    var forms: [[UInt8]] = []
    for alphabet in [standard, urlSafe] {
      for offset in 0..<3 { forms.append(inner(secret, after: offset, alphabet)) }
      // The secret by itself, and with the newline of `echo`: then its ends are known, too.
      for text in [secret, secret + [UInt8(ascii: "\n")]] {
        let encoded = whole(text, alphabet)
        let padded = encoded + Array(repeating: UInt8(ascii: "="), count: (3 - text.count % 3) % 3)
        forms += [encoded, padded]
      }
    }
    return forms
  }

  /// The characters that only the secret determines when `offset` other bytes of a group precede
  /// it: characters that also encode neighbouring bytes are left out.
  private static func inner(
    _ secret: [UInt8], after offset: Int, _ alphabet: [UInt8]
  ) -> [UInt8] {
    let encoded = whole(Array(repeating: 0, count: offset) + secret, alphabet)
    let first = (offset * 8 + 5) / 6
    let end = (offset + secret.count) * 8 / 6
    return first < end ? Array(encoded[first..<end]) : []
  }

  /// The whole encoding, without padding.
  private static func whole(_ bytes: [UInt8], _ alphabet: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count * 4 / 3 + 3)
    var bits: UInt32 = 0
    var bitCount = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      bitCount += 8
      while bitCount >= 6 {
        bitCount -= 6
        result.append(alphabet[Int(bits >> UInt32(bitCount)) & 63])
      }
    }
    if bitCount > 0 { result.append(alphabet[Int(bits << UInt32(6 - bitCount)) & 63]) }
    return result
  }
}
