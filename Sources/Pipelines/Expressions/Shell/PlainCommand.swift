// The scripts that need no scanner: one command without any of the shell's signs.

/// Whether a script is one plain command with values among its arguments: each is a part of a word
/// then. `text` holds a `valueMark` for each value.
func isPlainCommand(_ text: [UInt8]) -> Bool {
  guard let start = text.firstIndex(where: { $0 != UInt8(ascii: " ") }),
    let end = text[start...].firstIndex(of: UInt8(ascii: " "))
  else { return false }
  for byte in text where !isInert(byte) && byte != UInt8(ascii: " ") && byte != valueMark {
    return false
  }
  let name = text[start..<end]
  guard !name.contains(valueMark), !name.contains(UInt8(ascii: "=")) else { return false }
  return !ShellWords.special.contains(String(decoding: name, as: UTF8.self))
}

/// `[A-Za-z0-9_@%+=:,./-]`: no shell takes any of them for more than a character of a word.
func isInert(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "@"),
    UInt8(ascii: "%"), UInt8(ascii: "+"), UInt8(ascii: "="), UInt8(ascii: ":"),
    UInt8(ascii: ","), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "-"):
    true
  default: false
  }
}

extension ShellWords {
  /// Words that, as the first of a command, give its arguments a meaning of their own.
  fileprivate static let special: Set<String> = grammar.union(prefixes).union(commands)
    .union(interpreters).union(declarations).union(tests)
}
