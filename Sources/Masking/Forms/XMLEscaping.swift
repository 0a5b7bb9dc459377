// A secret inside XML or HTML.

extension SecretForms {
  /// Which characters are escaped, and how.
  private static let xmlStyles: [[UInt8: String]] = {
    let text: [UInt8: String] = [
      UInt8(ascii: "&"): "&amp;", UInt8(ascii: "<"): "&lt;", UInt8(ascii: ">"): "&gt;",
    ]
    let (quote, apostrophe) = (UInt8(ascii: "\""), UInt8(ascii: "'"))
    let lines = [
      UInt8(ascii: "\n"): "&#10;", UInt8(ascii: "\r"): "&#13;", UInt8(ascii: "\t"): "&#9;",
    ]
    var styles = [text, text.filter { $0.key != UInt8(ascii: ">") }]
    for quoted in ["&quot;", "&#34;", "&#x22;"] {
      let withQuote = text.merging([quote: quoted]) { $1 }
      styles += [withQuote, withQuote.merging(lines) { $1 }]
      for single in ["&apos;", "&#39;", "&#x27;"] {
        let withBoth = withQuote.merging([apostrophe: single]) { $1 }
        styles += [withBoth, withBoth.merging(lines) { $1 }]
      }
    }
    return styles
  }()

  static func xmlEscaped(_ secret: [UInt8]) -> [[UInt8]] {
    rewritten(secret, in: xmlStyles) { byte, style in style[byte] }
  }
}
