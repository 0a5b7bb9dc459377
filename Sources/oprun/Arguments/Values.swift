// Texts of the command line into values.

import Scheduling

extension ValueKind {
  /// Nil if the text is not what the option wants.
  func value(of text: String) -> OptionValue? {
    switch self {
    case .count: return wholeNumber(text).map(OptionValue.count)
    case .duration: return parseDuration(text).map(OptionValue.duration)
    case .assignment: return parseAssignment(text)
    case .choice(let words, _): return words.contains(text) ? .text(text) : nil
    case .text: return text.isEmpty ? nil : .text(text)
    }
  }
}

/// The value is all that follows the first `=`.
private func parseAssignment(_ text: String) -> OptionValue? {
  guard let equals = text.firstIndex(of: "="), equals > text.startIndex else { return nil }
  let value = text[text.index(after: equals)...]
  return .assignment(name: String(text[..<equals]), value: String(value))
}

/// Digits alone: no sign, no blanks.
private func wholeNumber(_ text: some StringProtocol) -> Int? {
  guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
  return Int(text)
}

/// `250ms`, `30s`, `1h30m`: each unit once, the largest first.
private func parseDuration(_ text: String) -> Nanoseconds? {
  var rest = text[...]
  var total: Nanoseconds = 0
  let units: [(name: String, length: Nanoseconds)] = [
    ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000),
  ]
  var next = units[...]
  while !rest.isEmpty {
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    let name = rest.dropFirst(digits.count).prefix { $0.isASCII && $0.isLetter }
    guard let number = wholeNumber(digits),
      let index = next.firstIndex(where: { $0.name == name })
    else { return nil }
    let part = Nanoseconds(number).multipliedReportingOverflow(by: next[index].length)
    let sum = total.addingReportingOverflow(part.partialValue)
    guard !part.overflow, !sum.overflow else { return nil }
    total = sum.partialValue
    rest = rest.dropFirst(digits.count + name.count)
    next = next[(index + 1)...]
  }
  return text.isEmpty ? nil : total
}
