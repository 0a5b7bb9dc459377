// A secret inside a JSON string. Every writer must escape some characters, and may escape others.

extension SecretForms {
  /// How a writer of JSON escapes.
  private struct JSONStyle {
    /// PHP.
    var escapesSlash = false
    /// Python.
    var escapesNonASCII = false
    /// What HTML would understand: Go writes these by number, PHP the apostrophe too.
    var escapedMarkup = ""
    /// `\u000a` instead of `\n`.
    var escapesControlsByNumber = false
    var uppercase = false
  }

  static func jsonEscaped(_ secret: [UInt8]) -> [[UInt8]] {
    guard let text = String(validating: secret, as: UTF8.self), !isPlainJSON(secret) else {
      return [secret]
    }
    return ["", "<>&", "<>&'"].flatMap { markup in
      (0..<16).map { bits in
        let style = JSONStyle(
          escapesSlash: bits & 1 != 0, escapesNonASCII: bits & 2 != 0, escapedMarkup: markup,
          escapesControlsByNumber: bits & 4 != 0, uppercase: bits & 8 != 0)
        return Array(escaped(text, style).utf8)
      }
    }
  }

  /// Every writer leaves it as it is.
  private static func isPlainJSON(_ text: [UInt8]) -> Bool {
    text.allSatisfy { (0x20..<0x7F).contains($0) && !"\"\\/<>&'".utf8.contains($0) }
  }

  private static func escaped(_ text: String, _ style: JSONStyle) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if let short = shortEscape(scalar, style) {
        result += short
      } else if isNumbered(scalar, style) {
        for unit in String(scalar).utf16 {
          result += "\\u" + hexadecimal(unit, digits: 4, uppercase: style.uppercase)
        }
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func shortEscape(_ scalar: Unicode.Scalar, _ style: JSONStyle) -> String? {
    switch scalar {
    case "\"": "\\\""
    case "\\": "\\\\"
    case "/": style.escapesSlash ? "\\/" : nil
    case "\n" where !style.escapesControlsByNumber: "\\n"
    case "\t" where !style.escapesControlsByNumber: "\\t"
    case "\r" where !style.escapesControlsByNumber: "\\r"
    case "\u{8}" where !style.escapesControlsByNumber: "\\b"
    case "\u{c}" where !style.escapesControlsByNumber: "\\f"
    default: nil
    }
  }

  private static func isNumbered(_ scalar: Unicode.Scalar, _ style: JSONStyle) -> Bool {
    switch scalar.value {
    case 0..<0x20: true
    case 0x7F...: style.escapesNonASCII
    default: style.escapedMarkup.unicodeScalars.contains(scalar)
    }
  }
}
