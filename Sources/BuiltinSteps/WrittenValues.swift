// Numbers, durations, sizes and pairs as people write them.

/// Digits, perhaps after a minus.
func wholeNumber(_ text: some StringProtocol) -> Int? {
  let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
  guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
  return Int(text)
}

/// `250ms`, `30s`, `1h30m`, `7d`: each unit once, the largest first.
package func nanoseconds(_ text: String) -> Int64? {
  var rest = text[...]
  var total: Int64 = 0
  let units: [(name: String, length: Int64)] = [
    ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000),
    ("s", 1_000_000_000), ("ms", 1_000_000),
  ]
  var next = units[...]
  while !rest.isEmpty {
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    let name = rest.dropFirst(digits.count).prefix { $0.isASCII && $0.isLetter }
    guard let number = wholeNumber(digits), let index = next.firstIndex(where: { $0.name == name })
    else { return nil }
    let part = Int64(number).multipliedReportingOverflow(by: next[index].length)
    let sum = total.addingReportingOverflow(part.partialValue)
    guard !part.overflow, !sum.overflow else { return nil }
    total = sum.partialValue
    rest = rest.dropFirst(digits.count + name.count)
    next = next[(index + 1)...]
  }
  return text.isEmpty ? nil : total
}

/// `512K`, `2M`, `1G`, `1T`: bytes in powers of 1024.
package func byteCount(_ text: String) -> Int? {
  let shifts: [Character: Int] = ["K": 10, "M": 20, "G": 30, "T": 40]
  guard let unit = text.last, let shift = shifts[unit],
    let count = wholeNumber(text.dropLast()), count >= 0
  else { return nil }
  let (bytes, overflow) = count.multipliedReportingOverflow(by: 1 << shift)
  return overflow ? nil : bytes
}

/// `Name: value`; blanks around the value do not count.
func pair(_ text: String) -> BuiltinValue? {
  guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return nil }
  var value = text[text.index(after: colon)...]
  while value.first == " " || value.first == "\t" { value.removeFirst() }
  while value.last == " " || value.last == "\t" { value.removeLast() }
  return .pair(name: String(text[..<colon]), value: String(value))
}
