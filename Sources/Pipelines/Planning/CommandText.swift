// What a step runs, as people would type it.

import BuiltinSteps

extension Action {
  /// The whole command: a script as it is, an argument vector quoted for a shell. Credentials in the
  /// inputs of a built-in step are masked.
  package var commandText: String {
    switch self {
    case .script(let text): text.string
    case .arguments(let words): words.map(shellQuoted).joined(separator: " ")
    case .helper(let words):
      ([BuiltinStep.program] + BuiltinStep.shown(words)).map(shellQuoted).joined(separator: " ")
    }
  }
}

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
