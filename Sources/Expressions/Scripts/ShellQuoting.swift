// Words as they are written for a shell.

/// The word, in single quotes unless every character is safe without them.
package func shellQuoted(_ word: String) -> String {
  if !word.isEmpty, word.utf8.allSatisfy(isSafeInShell) { return word }
  return singleQuotedForShell(word)
}

/// The text as one word for any shell of the Bourne family.
func singleQuotedForShell(_ text: String) -> String {
  var result = "'"
  for scalar in text.unicodeScalars {
    if scalar == "'" { result += #"'\''"# } else { result.unicodeScalars.append(scalar) }
  }
  return result + "'"
}

/// True if the byte has no special meaning in any position in any shell: `[A-Za-z0-9_@%+=:,./-]`.
func isSafeInShell(_ byte: UInt8) -> Bool {
  if isNameByte(byte) { return true }
  switch byte {
  case UInt8(ascii: "@"), UInt8(ascii: "%"), UInt8(ascii: "+"), UInt8(ascii: "="),
    UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "."), UInt8(ascii: "/"),
    UInt8(ascii: "-"):
    return true
  default: return false
  }
}
