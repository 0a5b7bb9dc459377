// Numbers and pairs as people write them for built-in steps.

/// Digits, perhaps after a minus.
func wholeNumber(_ text: some StringProtocol) -> Int? {
  let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
  guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
  return Int(text)
}

/// `Name: value`; blanks around the value do not count.
func pair(_ text: String) -> BuiltinValue? {
  guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return nil }
  var value = text[text.index(after: colon)...]
  while value.first == " " || value.first == "\t" { value.removeFirst() }
  while value.last == " " || value.last == "\t" { value.removeLast() }
  return .pair(name: String(text[..<colon]), value: String(value))
}
