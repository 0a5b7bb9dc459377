// Finds where a script sends the errors of its commands, as far as the script says.

import Diagnostics

/// The last file that a script redirects standard error to: `build.log` in `make >build.log 2>&1`; nil if there is none.
func targetOfErrors(inScript script: String) -> String? {
  var found: Substring.UTF8View?
  /// The last redirection of standard output, which `2>&1` means.
  var output: Substring.UTF8View?
  var rest = Substring(script).utf8
  var before = UInt8(ascii: " ")
  while let byte = rest.popFirst() {
    defer { before = byte }
    if byte == UInt8(ascii: "\n") { output = nil }
    guard byte == UInt8(ascii: ">") else { continue }
    if rest.first == UInt8(ascii: ">") { rest.removeFirst() }
    let target = word(in: &rest)
    switch before {
    case UInt8(ascii: "2"): found = target.elementsEqual("&1".utf8) ? output ?? found : target
    case UInt8(ascii: "&"): found = target
    case UInt8(ascii: "0")...UInt8(ascii: "9"): break
    default: output = target
    }
  }
  return found.flatMap { String($0) }.flatMap { $0.isEmpty || $0.hasPrefix("&") ? nil : $0 }
    .flatMap(withoutQuotes)
}

/// The word without quotes; nil if a quoted part of it may go on after a blank.
private func withoutQuotes(_ word: String) -> String? {
  var inner = Substring(word)
  if let quote = inner.first, quote == "\"" || quote == "'", inner.count > 1, inner.last == quote {
    inner = inner.dropFirst().dropLast()
  }
  return inner.contains("\"") || inner.contains("'") ? nil : String(inner)
}

/// Removes a word and the blanks before it.
private func word(in rest: inout Substring.UTF8View) -> Substring.UTF8View {
  rest = rest.drop { $0 == UInt8(ascii: " ") }
  let word = rest.prefix { !" \t\n;|()".utf8.contains($0) }
  rest = rest[word.endIndex...]
  return word
}
