// A secret inside something that was written in hexadecimal, without spaces: `xxd -p`, `hexdump`,
// `od` through `tr`.

extension SecretForms {
  static func inHexadecimal(_ secret: [UInt8]) -> [[UInt8]] {
    ["0123456789abcdef", "0123456789ABCDEF"].map { digits in
      let digits = Array(digits.utf8)
      return secret.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
  }
}
