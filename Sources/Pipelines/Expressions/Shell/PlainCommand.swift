// The scripts that need no scanner: one command without any of the shell's signs.

/// Whether a script is one plain command with values among its arguments: each is a part of a word
/// then. The pieces are what stands before, between and behind the values.
func isPlainCommand(_ pieces: some Sequence<ArraySlice<UInt8>>) -> Bool {
  var isFirst = true
  for piece in pieces {
    guard piece.withUnsafeBufferPointer({ isPlain($0) && (!isFirst || beginsPlainly($0)) }) else {
      return false
    }
    isFirst = false
  }
  return !isFirst
}

/// Whether there are no signs of the shell, and no word ends as the names of shells do.
private func isPlain(_ piece: UnsafeBufferPointer<UInt8>) -> Bool {
  var last: UInt8 = 0
  var lastButOne: UInt8 = 0
  for byte in piece {
    if byte == UInt8(ascii: " ") {
      if last == UInt8(ascii: "h"), lastButOne == UInt8(ascii: "s") { return false }
    } else if !isInert(byte) {
      return false
    }
    lastButOne = last
    last = byte
  }
  return true
}

/// Whether the first word is whole, and names a command that gives its arguments no meaning of their
/// own.
private func beginsPlainly(_ piece: UnsafeBufferPointer<UInt8>) -> Bool {
  guard let start = piece.firstIndex(where: { $0 != UInt8(ascii: " ") }),
    let end = piece[start...].firstIndex(of: UInt8(ascii: " "))
  else { return false }
  let name = piece[start..<end]
  return !name.contains(UInt8(ascii: "="))
    && !ShellWords.special.contains(ShellWords.program(name).utf8)
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
  fileprivate static let special = NameTable(
    grammar.union(prefixes).union(commands).union(interpreters).union(declarations).union(tests))
}
