// Parses strings of the command line into values.

import BuiltinSteps
import Diagnostics

extension ValueKind {
  /// The value of a string; nil if it is not of this kind.
  func value(of text: String) -> OptionValue? {
    switch self {
    case .count(let least):
      return wholeNumber(text).flatMap { $0 < least ? nil : OptionValue.count($0) }
    case .duration: return nanoseconds(text).map(OptionValue.duration)
    case .assignment: return parseAssignment(text)
    case .choice(let words): return words.contains(text) ? .text(text) : nil
    case .text: return text.isEmpty ? nil : .text(text)
    }
  }
}

/// Parses an assignment; the value is everything after the first `=`.
private func parseAssignment(_ text: String) -> OptionValue? {
  guard let equals = text.firstIndex(of: "="), equals > text.startIndex else { return nil }
  let value = text[text.index(after: equals)...]
  return .assignment(name: String(text[..<equals]), value: String(value))
}

/// Parses a number of digits only: no sign, no spaces, and no leading zero, as in a file.
private func wholeNumber(_ text: some StringProtocol) -> Int? {
  guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
    text == "0" || !text.hasPrefix("0")
  else { return nil }
  return Int(text)
}
