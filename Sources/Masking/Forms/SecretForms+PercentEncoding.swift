// A secret inside a URL or the body of a form. Tools differ in the characters that they leave
// unchanged.

import Diagnostics

extension SecretForms {
  private struct PercentStyle {
    /// The characters that are left unchanged besides letters and digits.
    let kept: String
    var spaceIsPlus = false
    var uppercase = true
  }

  private static let percentStyles: [PercentStyle] = {
    let styles = [
      // RFC 3986, curl.
      PercentStyle(kept: "-._~"),
      // Python's `quote`.
      PercentStyle(kept: "-._~/"),
      // encodeURIComponent and encodeURI of JavaScript.
      PercentStyle(kept: "-._~!'()*"), PercentStyle(kept: "-._~!'()*;/?:@&=+$,#"),
      // Go's `PathEscape`.
      PercentStyle(kept: "-._~$&+:=@"),
      // PHP's `urlencode`.
      PercentStyle(kept: "-._", spaceIsPlus: true),
      // Forms: WHATWG's, and Python's `quote_plus`.
      PercentStyle(kept: "-._*", spaceIsPlus: true),
      PercentStyle(kept: "-._~", spaceIsPlus: true),
      // .NET's `UrlEncode`.
      PercentStyle(kept: "-._!*()", spaceIsPlus: true),
      // The characters that parsers of URLs leave in a path and in a query, by WHATWG's standard.
      PercentStyle(kept: "-._~!$%&'()*+,/:;=@[]\\^|"),
      PercentStyle(kept: "-._~!$%&()*+,/:;=?@[]\\^|`{}"),
    ]
    return styles
      + styles.map { PercentStyle(kept: $0.kept, spaceIsPlus: $0.spaceIsPlus, uppercase: false) }
  }()

  static func percentEncoded(_ secret: [UInt8], _ everyForm: Bool) -> [[UInt8]] {
    // RFC 3986, Python and JavaScript.
    let styles = everyForm ? percentStyles : Array(percentStyles[..<3])
    return rewritten(secret, in: styles) { byte, style in
      if style.spaceIsPlus, byte == UInt8(ascii: " ") { return "+" }
      if isAlphanumeric(byte) || style.kept.utf8.contains(byte) { return nil }
      return "%" + hexadecimal(UInt64(byte), digits: 2, uppercase: style.uppercase)
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
