// POSIX extended regular expressions, as the C library has them.

import Glibc

/// Whether whole texts look like a pattern.
struct RegularExpression {
  private let pattern: String

  /// What is wrong with a pattern; nil if nothing is.
  static func fault(in pattern: String) -> String? {
    var compiled = regex_t()
    let status = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB)
    guard status != 0 else {
      regfree(&compiled)
      return nil
    }
    var reason = [CChar](repeating: 0, count: 256)
    _ = regerror(status, &compiled, &reason, reason.count)
    let bytes = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return String(decoding: bytes, as: UTF8.self).lowercased()
  }

  /// A pattern without faults.
  init(_ pattern: String) { self.pattern = pattern }

  /// Whether all of the text matches.
  func matches(_ text: String) -> Bool {
    // A text with a NUL would be cut there.
    guard !text.utf8.contains(0) else { return false }
    var compiled = regex_t()
    guard regcomp(&compiled, "^(\(pattern))$", REG_EXTENDED | REG_NOSUB) == 0 else { return false }
    defer { regfree(&compiled) }
    return regexec(&compiled, text, 0, nil, 0) == 0
  }
}
