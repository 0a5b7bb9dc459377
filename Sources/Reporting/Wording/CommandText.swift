// What a step runs, as people would type it.

import Masking
package import Pipelines

extension Action {
  /// The whole command: a script as it is, an argument vector quoted for a shell.
  package var commandText: String {
    switch self {
    case .script(let text): text
    case .arguments(let words): words.map(shellQuoted).joined(separator: " ")
    }
  }
}

extension ByteSink {
  /// The command's first line that says something, clipped; `…` also stands for further lines.
  package func write(firstLineOf action: Action, columns: Int) {
    // Before it is clipped: half a secret is no longer found.
    var text = masker?.mask(action.commandText) ?? action.commandText
    let isWritten = text.withUTF8 { writeIfPlain($0, columns: columns) }
    if !isWritten { write(firstLine(of: text, columns: columns)) }
  }

  /// Nearly every command begins with a line of printable ASCII.
  private func writeIfPlain(_ bytes: UnsafeBufferPointer<UInt8>, columns: Int) -> Bool {
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    let line = UnsafeBufferPointer(rebasing: bytes[..<end])
    let start = line.first ?? UInt8(ascii: " ")
    guard start != UInt8(ascii: " "), start != UInt8(ascii: "#"),
      line.allSatisfy({ (0x20..<0x7f).contains($0) })
    else { return false }
    let hasMore = bytes[end...].contains { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: " ") }
    let room = hasMore ? columns - 2 : columns
    if end <= room {
      write(UnsafeRawBufferPointer(line))
      if hasMore { write(" …") }
    } else {
      write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(line)[..<max(0, columns - 1)]))
      write("…")
    }
    return true
  }

  private func firstLine(of text: String, columns: Int) -> String {
    let lines = text.split(separator: "\n").map { $0.drop { $0 == " " || $0 == "\t" } }
      .filter { !$0.isEmpty }
    let code = lines.first { !$0.hasPrefix("#") } ?? lines.first ?? ""
    return oneLine(lines.count > 1 ? code + " …" : String(code), columns: columns)
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
