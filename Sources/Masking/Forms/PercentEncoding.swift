// A secret inside an address or the body of a form. Tools differ in which characters they leave.

extension SecretForms {
  /// What is left as it is besides letters and digits.
  private static let styles: [(kept: String, spaceIsPlus: Bool)] = [
    // RFC 3986, curl.
    ("-._~", false),
    // Python's `quote`.
    ("-._~/", false),
    // encodeURIComponent and encodeURI of JavaScript.
    ("-._~!'()*", false),
    ("-._~!'()*;/?:@&=+$,#", false),
    // Forms: WHATWG's, and Python's `quote_plus`.
    ("-._*", true),
    ("-._~", true),
  ]

  static func percentEncoded(_ secret: [UInt8]) -> [[UInt8]] {
    styles.flatMap { style in
      [true, false].map { uppercase in
        replacing(secret) { byte in
          if style.spaceIsPlus, byte == UInt8(ascii: " ") { return "+" }
          if isAlphanumeric(byte) || style.kept.utf8.contains(byte) { return nil }
          return "%" + hexadecimal(byte, digits: 2, uppercase: uppercase)
        }
      }
    }
  }
}

func isAlphanumeric(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"):
    true
  default: false
  }
}
