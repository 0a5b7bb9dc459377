// A word as a shell would be given it.

/// The word, in single quotes unless every character is safe without.
package func shellQuoted(_ word: String) -> String {
  if !word.isEmpty, word.utf8.allSatisfy(isSafeUnquoted) { return word }
  return "'"
    + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
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
