// Makes foreign text (commands, names, lines of a log) fit for one line of a screen.

import Diagnostics

/// The text on one line, at most `columns` wide: colours removed, other control characters made
/// visible, an ellipsis where it was cut. Bytes that are not UTF-8 are shown as U+FFFD.
package func oneLine(_ text: String, columns: Int = .max) -> String {
  let text = withoutHidden(text)
  let isPlain = text.utf8.count <= columns && text.utf8.allSatisfy { (0x20..<0x7f).contains($0) }
  if isPlain { return text }
  var result = ""
  var width = 0
  var rest = text.unicodeScalars[...]
  while let scalar = rest.popFirst() {
    if scalar == "\u{1b}", skipColor(&rest) { continue }
    let piece = scalar == "\t" ? " " : escape(scalar) ?? String(scalar)
    width += displayWidth(of: piece)
    if width > columns { return clipped(result, to: columns) }
    result += piece
  }
  return result
}

/// A name, or the words for a condition, cut only if they are longer than a person would write.
func shortName(_ text: String) -> String { oneLine(text, columns: 120) }

package func oneLine(_ text: some Collection<UInt8>, columns: Int = .max) -> String {
  oneLine(String(decoding: text, as: UTF8.self), columns: columns)
}

/// The text on one line, however many lines it has: a space replaces each line break and the white
/// space around it.
package func joinedLines(_ text: String) -> String {
  let lines = text.split(whereSeparator: \.isNewline).map { line in
    line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
  }
  return oneLine(String(lines.filter { !$0.isEmpty }.joined(separator: " ")))
}

/// The text on lines of at most this many columns, broken between words. Its own line breaks are
/// kept.
package func wrapped(_ text: String, columns: Int) -> [String] {
  text.split(whereSeparator: \.isNewline).flatMap { line in
    var lines: [String] = []
    var width = 0
    for word in oneLine(String(line)).split(separator: " ") {
      let wordWidth = displayWidth(of: String(word))
      if lines.isEmpty || width + 1 + wordWidth > columns {
        lines.append(String(word))
        width = wordWidth
      } else {
        lines[lines.count - 1] += " \(word)"
        width += 1 + wordWidth
      }
    }
    return lines
  }
}

/// Cuts the text to the part that fits with an ellipsis.
private func clipped(_ text: String, to columns: Int) -> String {
  var kept = text.unicodeScalars[...]
  var width = displayWidth(of: text)
  while width > columns - 1, let last = kept.popLast() { width -= displayWidth(of: last) }
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
