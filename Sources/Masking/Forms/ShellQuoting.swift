// A secret inside a command line, as shells and tools print it: `set -x`, `printf %q`, dry runs.

extension SecretForms {
  static func shellQuoted(_ secret: [UInt8]) -> [[UInt8]] {
    guard !secret.allSatisfy(isSafeUnquoted) else { return [secret] }
    let apostrophe = UInt8(ascii: "'")
    return [
      // Inside single quotes: sh and bash, then dash and Python.
      replacing(secret) { $0 == apostrophe ? "'\\''" : nil },
      replacing(secret) { $0 == apostrophe ? "'\"'\"'" : nil },
      // Inside double quotes.
      replacing(secret) { "\"$`\\".utf8.contains($0) ? backslashed($0) : nil },
      replacing(secret) { "\"$`\\!".utf8.contains($0) ? backslashed($0) : nil },
      // Without quotes.
      replacing(secret) { isSafeUnquoted($0) || $0 >= 0x80 ? nil : backslashed($0) },
      // Inside $'…'.
      replacing(secret, ansiEscape),
    ]
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
