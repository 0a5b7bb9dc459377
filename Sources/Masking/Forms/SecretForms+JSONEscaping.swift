// A secret inside a JSON string. Every writer must escape some characters, and may escape others.

import Diagnostics

extension SecretForms {
  /// How a JSON writer escapes.
  private struct JSONStyle {
    /// True if `/` is written as `\/`, as PHP does.
    var escapesSlash = false
    /// Further characters that are escaped by number: those that HTML would interpret, and more.
    var markup = ""
    /// True if control characters are written as `\u000a` instead of `\n`.
    var escapesControlsByNumber = false
    var uppercase = false
  }

  /// The characters of common writers: none, or those of Go, PHP, Gson, Ruby on Rails and .NET.
  private static let markups = ["", "<>&", "<>&'", "<>&'=", "<>&'\"", "<>&'\"+`", "<>&'\"+`\u{7f}"]

  private static let jsonStyles: [JSONStyle] = markups.flatMap { markup in
    (0..<8).map { bits in
      JSONStyle(
        escapesSlash: bits & 1 != 0, markup: markup, escapesControlsByNumber: bits & 2 != 0,
        uppercase: bits & 4 != 0)
    }
  }

  /// Most writers, PHP, and Go.
  private static let frequentStyles = [
    JSONStyle(), JSONStyle(escapesSlash: true), JSONStyle(markup: "<>&"),
  ]

  /// The secret in all styles, with characters beyond ASCII as they are, and by number as Python
  /// writes them.
  static func jsonEscaped(_ secret: [UInt8], _ everyForm: Bool) -> [[UInt8]] {
    let styles = everyForm ? jsonStyles : frequentStyles
    let plain = rewritten(secret, in: styles, jsonEscape)
    guard everyForm else { return plain + [numbered(plain[0], uppercase: false)] }
    guard secret.contains(where: { $0 >= 0x7F }) else { return plain }
    return plain
      + plain.flatMap { [numbered($0, uppercase: false), numbered($0, uppercase: true)] }
  }

  private static func jsonEscape(_ byte: UInt8, _ style: JSONStyle) -> String? {
    switch byte {
    case UInt8(ascii: "\"") where !style.markup.utf8.contains(byte): return "\\\""
    case UInt8(ascii: "\\"): return "\\\\"
    case UInt8(ascii: "/"): return style.escapesSlash ? "\\/" : nil
    case 0..<0x20:
      if !style.escapesControlsByNumber, let short = shortEscapes[byte] { return short }
    default: guard style.markup.utf8.contains(byte) else { return nil }
    }
    return "\\u" + hexadecimal(UInt64(byte), digits: 4, uppercase: style.uppercase)
  }

  private static let shortEscapes: [UInt8: String] = [
    0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r",
  ]

  private static func numbered(_ text: [UInt8], uppercase: Bool) -> [UInt8] {
    var result: [UInt8] = []
    for unit in String(decoding: text, as: UTF8.self).utf16 {
      if unit < 0x7F {
        result.append(UInt8(unit))
      } else {
        let digits = hexadecimal(UInt64(unit), digits: 4, uppercase: uppercase)
        result.append(contentsOf: "\\u\(digits)".utf8)
      }
    }
    return result
  }
}
