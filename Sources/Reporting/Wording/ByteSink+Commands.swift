// Writes what a step runs, as a person would type it.

import Masking
package import Plans

extension ByteSink {
  /// Writes the command's first line that is not empty, clipped; `…` also stands for further lines.
  package func write(firstLineOf command: ShownCommand, columns: Int) {
    if masker == nil, let script = command.script,
      script.withUTF8({ writeIfPlain($0, columns: columns) })
    {
      return
    }
    // It is masked before it is clipped, because half a secret would not be found.
    var text = masker?.mask(command.text) ?? command.text
    let isWritten = text.withUTF8 { writeIfPlain($0, columns: columns) }
    if !isWritten { write(firstLine(of: text, columns: columns)) }
  }

  /// Nearly every command begins with a line of printable ASCII.
  private func writeIfPlain(_ bytes: UnsafeBufferPointer<UInt8>, columns: Int) -> Bool {
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    let line = UnsafeBufferPointer(rebasing: bytes[..<end])
    let start = line.first ?? UInt8(ascii: " ")
    guard start != UInt8(ascii: " "), start != UInt8(ascii: "#"), isPrintableASCII(line) else {
      return false
    }
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

  /// There is no branch in the loop, so that the compiler can process many bytes at once.
  private func isPrintableASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var bad: UInt8 = 0
    for byte in bytes { bad |= byte &- 0x20 < 0x5F ? 0 : 1 }
    return bad == 0
  }

  private func firstLine(of text: String, columns: Int) -> String {
    let lines = text.split(separator: "\n").map { $0.drop { $0 == " " || $0 == "\t" } }
      .filter { !$0.isEmpty }
    let code = lines.first { !$0.hasPrefix("#") } ?? lines.first ?? ""
    return oneLine(lines.count > 1 ? code + " …" : String(code), columns: columns)
  }
}
