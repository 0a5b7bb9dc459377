// Text that is not ours (commands, names, lines of a log), made fit for one line of a screen.

/// One line of the text, at most `columns` wide: colours removed, other control characters as
/// `^[`, an ellipsis where it was cut. Bytes that are no UTF-8 show as U+FFFD.
package func printable(_ text: some Collection<UInt8>, columns: Int = .max) -> String {
  printable(String(decoding: text, as: UTF8.self), columns: columns)
}

package func printable(_ text: String, columns: Int = .max) -> String {
  var result = ""
  var width = 0
  var rest = text.unicodeScalars[...]
  while let scalar = rest.popFirst() {
    if scalar == "\u{1b}", skipColor(&rest) { continue }
    let piece = visible(scalar)
    width += columnCount(piece.unicodeScalars)
    if width > columns { return clipped(result, to: columns) }
    result += piece
  }
  return result
}

private func columnCount(_ scalars: some Sequence<Unicode.Scalar>) -> Int {
  scalars.reduce(0) { $0 + displayWidth($1) }
}

/// As much of the text as fits beside an ellipsis.
private func clipped(_ text: String, to columns: Int) -> String {
  var kept = text.unicodeScalars[...]
  var width = columnCount(kept)
  while width > columns - 1, let last = kept.popLast() { width -= displayWidth(last) }
  return String(kept) + "…"
}

/// Consumes the rest of a colour sequence whose escape character was just read.
private func skipColor(_ rest: inout Substring.UnicodeScalarView) -> Bool {
  guard rest.first == "[" else { return false }
  var ahead = rest.dropFirst()
  while let scalar = ahead.popFirst() {
    if scalar == "m" {
      rest = ahead
      return true
    }
    guard ("0"..."9").contains(scalar) || scalar == ";" || scalar == ":" else { return false }
  }
  return false
}

private func visible(_ scalar: Unicode.Scalar) -> String {
  switch scalar.value {
  case 0x09: " "
  case ..<0x20, 0x7f: "^" + String(Unicode.Scalar(UInt8(scalar.value) ^ 0x40))
  case 0x80..<0xa0: "\\u{" + String(scalar.value, radix: 16) + "}"
  default: String(scalar)
  }
}
