// A secret inside XML or HTML.

extension SecretForms {
  /// The characters that are escaped, and how.
  private static let xmlStyles: [[UInt8: String]] = {
    let text: [UInt8: String] = [
      UInt8(ascii: "&"): "&amp;", UInt8(ascii: "<"): "&lt;", UInt8(ascii: ">"): "&gt;",
    ]
    let (quote, apostrophe) = (UInt8(ascii: "\""), UInt8(ascii: "'"))
    let lines = [
      UInt8(ascii: "\n"): "&#10;", UInt8(ascii: "\r"): "&#13;", UInt8(ascii: "\t"): "&#9;",
    ]
    let padded = lines.merging([UInt8(ascii: "\t"): "&#09;"]) { $1 }
    var styles = [text, text.filter { $0.key != UInt8(ascii: ">") }]
    for quoted in ["&quot;", "&#34;", "&#x22;"] {
      let withQuote = text.merging([quote: quoted]) { $1 }
      styles += [withQuote, withQuote.merging(lines) { $1 }, withQuote.merging(padded) { $1 }]
      for single in ["&apos;", "&#39;", "&#x27;"] {
        let withBoth = withQuote.merging([apostrophe: single]) { $1 }
        styles += [withBoth, withBoth.merging(lines) { $1 }]
      }
    }
    return styles + templateStyles
  }()

  /// Templates escape more: in an attribute without quotes, or in a script, other characters have a
  /// meaning, too. The styles are the apostrophe, and the characters that are escaped besides the
  /// other four, as mustache.js, Dart, Handlebars, Underscore, OWASP, Askama and validator.js do.
  private static let templateStyles: [[UInt8: String]] = {
    let styles: [(apostrophe: String, more: [Character: String])] = [
      ("&#39;", ["/": "&#x2F;", "`": "&#x60;", "=": "&#x3D;"]), ("&#39;", ["/": "&#47;"]),
      ("&#x27;", ["`": "&#x60;", "=": "&#x3D;"]), ("&#x27;", ["`": "&#x60;"]),
      ("&#x27;", ["/": "&#x2F;"]), ("&#x27;", ["/": "&#x2f;"]),
      ("&#x27;", ["/": "&#x2F;", "\\": "&#x5C;", "`": "&#96;"]),
    ]
    let four: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]
    return styles.map { style in
      let all = four.merging(style.more) { $1 }.merging(["'": style.apostrophe]) { $1 }
      return Dictionary(
        uniqueKeysWithValues: all.compactMap { key, value in key.asciiValue.map { ($0, value) } })
    }
  }()

  static func xmlEscaped(_ secret: [UInt8], _ everyForm: Bool) -> [[UInt8]] {
    let styles = everyForm ? xmlStyles : frequentStyles
    return rewritten(secret, in: styles) { byte, style in style[byte] }
      + (everyForm ? numbered(secret) : [])
  }

  /// The styles for text and attributes, and those of Python and Go for both.
  private static let frequentStyles: [[UInt8: String]] = {
    let text = xmlStyles[0]
    let both = ["&quot;": "&#x27;", "&#34;": "&#39;"].map { quote, apostrophe in
      text.merging([UInt8(ascii: "\""): quote, UInt8(ascii: "'"): apostrophe]) { $1 }
    }
    return [text, text.merging([UInt8(ascii: "\""): "&quot;"]) { $1 }] + both
  }()

  /// Characters outside ASCII by their numbers, as Python and others write them without an encoding.
  private static func numbered(_ secret: [UInt8]) -> [[UInt8]] {
    guard secret.contains(where: { $0 >= 0x80 }),
      let text = String(validating: secret, as: UTF8.self)
    else { return [] }
    let numbers: [(Unicode.Scalar) -> String] = [
      { "&#\($0.value);" }, { "&#x\(String($0.value, radix: 16));" },
      { "&#x\(String($0.value, radix: 16, uppercase: true));" },
    ]
    return numbers.flatMap { number in
      xmlStyles.map { style in
        text.unicodeScalars.flatMap { scalar -> [UInt8] in
          guard scalar.isASCII else { return Array(number(scalar).utf8) }
          let byte = UInt8(scalar.value)
          return style[byte].map { Array($0.utf8) } ?? [byte]
        }
      }
    }
  }
}
