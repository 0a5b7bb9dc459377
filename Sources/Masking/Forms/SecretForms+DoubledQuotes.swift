// A secret in a field of CSV (RFC 4180), or in another text whose quotes are doubled inside.

extension SecretForms {
  static func withDoubledQuotes(_ secret: [UInt8]) -> [[UInt8]] {
    rewritten(secret, in: ["\"\""]) { byte, style in byte == UInt8(ascii: "\"") ? style : nil }
  }
}
