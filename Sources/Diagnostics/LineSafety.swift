// Lines of messages: values in them neither make a line of their own nor begin one. CI runners take
// lines that begin with `::`, `##`, `---` or `+++` as commands, even after spaces.

/// The words of a message on one line, at most 2,000 characters: whatever would move the cursor or
/// end the line is escaped.
package func messageLine(_ text: String) -> String {
  let longest = 2000
  if text.utf8.count <= longest, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
  return shortened(text, to: longest)
}

/// A path that begins a line of a message: `./::x.yml`, which is the same file.
package func pathAtLineStart(_ path: String) -> String {
  let path = printable(path)
  return mayBeginLine(path) ? path : "./" + path
}

/// A name that begins a line of a message, in quotes if it could be taken for a command.
package func nameAtLineStart(_ name: String) -> String {
  mayBeginLine(name) ? name : "'\(name)'"
}

private func mayBeginLine(_ text: String) -> Bool {
  guard let first = text.unicodeScalars.first else { return true }
  return !" :#-+~^%".unicodeScalars.contains(first) && !first.properties.isWhitespace
}
