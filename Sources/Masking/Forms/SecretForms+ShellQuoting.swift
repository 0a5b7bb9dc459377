// A secret inside a command line, as shells and tools print it: `set -x`, `printf %q`, dry runs.

extension SecretForms {
  private enum ShellStyle: CaseIterable {
    /// Single quotes: as in sh and bash, then as in dash and Python.
    case single, singleByDouble
    /// Double quotes; interactive shells escape `!` too.
    case double, doubleWithHistory
    case backslashes
    /// $'…': as it is, or with every non-ASCII byte as a number (bash without a locale).
    case ansi, ansiNumbered
  }

  static func shellQuoted(_ secret: [UInt8]) -> [[UInt8]] {
    let apart =
      secret.contains { number($0) != nil }
      ? [true, false].map { self.apart(secret, isASCII: $0) } : []
    return apart
      + rewritten(secret, in: ShellStyle.allCases) { byte, style in
        switch style {
        case .single: byte == UInt8(ascii: "'") ? "'\\''" : nil
        case .singleByDouble: byte == UInt8(ascii: "'") ? "'\"'\"'" : nil
        case .double: "\"$`\\".utf8.contains(byte) ? backslashed(byte) : nil
        case .doubleWithHistory: "\"$`\\!".utf8.contains(byte) ? backslashed(byte) : nil
        case .backslashes: isSafeUnquoted(byte) || byte >= 0x80 ? nil : backslashed(byte)
        case .ansi: ansiEscape(byte)
        case .ansiNumbered: ansiEscape(byte) ?? number(byte)
        }
      }
  }

  /// The escape for an unprintable byte: `\303`.
  private static func number(_ byte: UInt8) -> String? {
    guard byte < 0x20 || byte >= 0x7F else { return nil }
    let digits = String(byte, radix: 8)
    return "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
  }

  /// Runs of unprintable bytes in separate quotes, as coreutils write them. Which bytes are
  /// unprintable depends on the locale.
  private static func apart(_ secret: [UInt8], isASCII: Bool) -> [UInt8] {
    var result: [UInt8] = []
    var isInRun = false
    for byte in secret {
      let escape = byte < 0x80 || isASCII ? number(byte) : nil
      if (escape != nil) != isInRun { result += (isInRun ? "''" : "'$'").utf8 }
      isInRun = escape != nil
      let short = byte == 0x1B ? nil : ansiEscape(byte)
      let text = isInRun ? short ?? escape : byte == UInt8(ascii: "'") ? "'\\''" : nil
      result += text.map { Array($0.utf8) } ?? [byte]
    }
    return isInRun ? result + "''".utf8 : result
  }

  private static func backslashed(_ byte: UInt8) -> String {
    "\\" + String(Unicode.Scalar(byte))
  }

  private static func ansiEscape(_ byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\\"): backslashed(byte)
    case 0x07: "\\a"
    case 0x08: "\\b"
    case 0x09: "\\t"
    case 0x0A: "\\n"
    case 0x0B: "\\v"
    case 0x0C: "\\f"
    case 0x0D: "\\r"
    case 0x1B: "\\E"
    default: nil
    }
  }

  private static func isSafeUnquoted(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || "_@%+=:,./-".utf8.contains(byte)
  }
}
