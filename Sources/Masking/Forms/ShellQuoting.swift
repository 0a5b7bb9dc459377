// A secret inside a command line, as shells and tools print it: `set -x`, `printf %q`, dry runs.

extension SecretForms {
  private enum ShellStyle: CaseIterable {
    /// Between single quotes: sh and bash, then dash and Python.
    case single, singleByDouble
    /// Between double quotes; interactive shells escape `!` too.
    case double, doubleWithHistory
    case backslashes
    /// $'…'.
    case ansi
  }

  static func shellQuoted(_ secret: [UInt8]) -> [[UInt8]] {
    rewritten(secret, in: ShellStyle.allCases) { byte, style in
      switch style {
      case .single: byte == UInt8(ascii: "'") ? "'\\''" : nil
      case .singleByDouble: byte == UInt8(ascii: "'") ? "'\"'\"'" : nil
      case .double: "\"$`\\".utf8.contains(byte) ? backslashed(byte) : nil
      case .doubleWithHistory: "\"$`\\!".utf8.contains(byte) ? backslashed(byte) : nil
      case .backslashes: isSafeUnquoted(byte) || byte >= 0x80 ? nil : backslashed(byte)
      case .ansi: ansiEscape(byte)
      }
    }
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
