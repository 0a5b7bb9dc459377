// A word in the form in which it is written for a shell.

/// The word, in single quotes unless every character is safe without them.
package func shellQuoted(_ word: String) -> String {
  if !word.isEmpty, word.utf8.allSatisfy(isSafeUnquoted) { return word }
  return singleQuotedForShell(word)
}

/// One word for any shell of the Bourne family.
func singleQuotedForShell(_ text: String) -> String {
  var result = "'"
  for scalar in text.unicodeScalars {
    if scalar == "'" { result += #"'\''"# } else { result.unicodeScalars.append(scalar) }
  }
  return result + "'"
}

private func isSafeUnquoted(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"):
    true
  default:
    "_@%+=:,./-".utf8.contains(byte)
  }
}
