// Writes the command of a step, as a person would type it.

import Diagnostics
import Glibc
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
    // The text is masked before it is clipped, because half a secret would not be found.
    var text = masker?.mask(command.text) ?? command.text
    let isWritten = text.withUTF8 { writeIfPlain($0, columns: columns) }
    if !isWritten { write(firstLine(of: text, columns: columns)) }
  }

  /// Writes the first line if it is printable ASCII, as nearly always; false otherwise.
  private func writeIfPlain(_ bytes: UnsafeBufferPointer<UInt8>, columns: Int) -> Bool {
    let end = lineEnd(of: bytes)
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

  private func lineEnd(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
    guard let start = bytes.baseAddress,
      let newline = memchr(start, Int32(UInt8(ascii: "\n")), bytes.count)
    else { return bytes.count }
    return UnsafeRawPointer(newline) - UnsafeRawPointer(start)
  }

  /// Looks at eight bytes at a time; some of the last eight may be looked at twice.
  private func isPrintableASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard bytes.count >= 8 else { return bytes.allSatisfy { $0 &- 0x20 < 0x5F } }
    let bytes = UnsafeRawBufferPointer(bytes)
    var bad = Self.unprintable(
      bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self))
    var offset = 0
    while offset + 8 < bytes.count {
      bad |= Self.unprintable(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    return bad == 0
  }

  /// Zero if all eight bytes are printable ASCII.
  @inline(__always)
  private static func unprintable(_ word: UInt64) -> UInt64 {
    let each: UInt64 = 0x0101_0101_0101_0101
    let upper = each << 7
    let isControl = ~((word | upper) &- 0x20 * each)
    let isDelete = word &+ each
    return (word | isControl | isDelete) & upper
  }

  /// The lines of the command that are not empty, clipped, from the first one that is not a comment.
  func lines(of command: ShownCommand, columns: Int) -> [String] {
    let (lines, start) = lines(of: masker?.mask(command.text) ?? command.text)
    return lines[start...].map { oneLine(String($0), columns: columns) }
  }

  private func firstLine(of text: String, columns: Int) -> String {
    let (lines, start) = lines(of: text)
    let code = lines[start...].first?.drop(while: Self.isBlank) ?? ""
    return oneLine(lines.count > 1 ? code + " …" : String(code), columns: columns)
  }

  /// The lines that are not empty, and the index of the first one that is not a comment, or 0.
  private func lines(of text: String) -> ([Substring], start: Int) {
    let lines = text.split(separator: "\n").filter { !$0.allSatisfy(Self.isBlank) }
    return (lines, lines.firstIndex { $0.first { !Self.isBlank($0) } != "#" } ?? 0)
  }

  private static func isBlank(_ character: Character) -> Bool {
    character == " " || character == "\t"
  }
}
