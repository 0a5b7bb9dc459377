// A small terminal: what a person would see of the bytes that a program writes to one. It knows what the
// live display uses, and reports everything else.

import Foundation

/// The rows of a terminal, those that have scrolled out of it included.
package final class TerminalEmulator {
  private struct Cell: Equatable {
    var text: String
    /// 0 for the right half of a wide character.
    var width: Int
  }

  private struct Row: Equatable {
    var cells: [Cell] = []
    /// The next row continues it, because it was too long.
    var isWrapped = false

    var text: String {
      let text = cells.map(\.text).joined()
      return String(text.reversed().drop { $0 == " " }.reversed())
    }
  }

  package private(set) var size: (rows: Int, columns: Int)
  /// Whether lines are wrapped again when the width changes; others cut them off.
  private let wrapsAgain: Bool
  private var content = [Row()]
  /// The first row on the screen.
  private var top = 0
  private var row = 0
  private var column = 0
  /// The last column was written: the next character begins a new row.
  private var isAtEnd = false
  private var pending: [UInt8] = []
  package private(set) var isSynchronized = false
  /// What the terminal was asked to do and a live display should not do.
  package private(set) var faults: [String] = []
  /// Called when a synchronized update is complete.
  package var onFrame: (TerminalEmulator) -> Void = { _ in }
  package private(set) var frameCount = 0

  package init(rows: Int, columns: Int, wrapsAgain: Bool = true) {
    size = (rows, columns)
    self.wrapsAgain = wrapsAgain
  }

  /// All rows that are not blank at the end.
  package var lines: [String] {
    var lines = content.map(\.text)
    while lines.last == "" { lines.removeLast() }
    return lines
  }

  package var text: String { lines.map { $0 + "\n" }.joined() }

  package var screen: [String] { content[top...].map(\.text) }

  /// Rows and columns count from 0, at the top left of the screen.
  package var cursor: (row: Int, column: Int) { (row - top, column) }

  /// The number of rows of the screen above the cursor, from the last one that begins with this.
  package func height(from prefix: String) -> Int? {
    content[top..<row].lastIndex { $0.text.hasPrefix(prefix) }.map { row - $0 }
  }

  /// Rows on the screen that were too long.
  package var wrappedRows: [String] { content[top...].filter(\.isWrapped).map(\.text) }

  package func feed(_ bytes: some Sequence<UInt8>) {
    pending += bytes
    var position = 0
    while position < pending.count, let used = obey(pending[position...]) { position += used }
    pending.removeFirst(position)
  }

  package func resize(rows: Int, columns: Int) {
    if columns != size.columns { changeWidth(to: columns) }
    size = (rows, columns)
    while content.count > row + 1, content.last == Row() { content.removeLast() }
    top = max(0, content.count - rows)
  }
}

// What bytes mean.
extension TerminalEmulator {
  /// Returns how many bytes were used; nil if more are needed.
  private func obey(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard let first = bytes.first else { return nil }
    switch first {
    case 0x0a: lineFeed()
    case 0x0d: (column, isAtEnd) = (0, false)
    case 0x08: (column, isAtEnd) = (max(0, column - 1), false)
    case 0x09: column = min(size.columns - 1, (column / 8 + 1) * 8)
    case 0x1b: return sequence(bytes)
    case 0..<0x20, 0x7f: faults.append("control character \(first)")
    default: return character(bytes)
    }
    return 1
  }

  private func character(_ bytes: ArraySlice<UInt8>) -> Int? {
    let length =
      bytes[bytes.startIndex].leadingZeroBitCount == 0
      ? max(1, (~bytes[bytes.startIndex]).leadingZeroBitCount) : 1
    guard bytes.count >= length else { return nil }
    for scalar in String(decoding: bytes.prefix(length), as: UTF8.self).unicodeScalars {
      put(scalar)
    }
    return length
  }

  private func sequence(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.count > 2 else { return nil }
    guard bytes[bytes.startIndex + 1] == UInt8(ascii: "[") else {
      faults.append("escape sequence")
      return 2
    }
    guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7e).contains($0) }) else {
      return nil
    }
    let parameters = String(decoding: bytes[(bytes.startIndex + 2)..<end], as: UTF8.self)
    perform(Character(UnicodeScalar(bytes[end])), parameters)
    return end - bytes.startIndex + 1
  }

  private func perform(_ final: Character, _ parameters: String) {
    switch (final, parameters) {
    case ("m", _): break
    case ("h", "?2026"): isSynchronized = true
    case ("l", "?2026"):
      isSynchronized = false
      frameCount += 1
      onFrame(self)
    case ("h", "?25"): break
    case ("A", _):
      if !isSynchronized { faults.append("cursor moved outside a frame") }
      row = max(top, row - (Int(parameters) ?? 1))
      isAtEnd = false
    case ("B", _):
      if !isSynchronized { faults.append("cursor moved outside a frame") }
      row = min(top + size.rows - 1, row + (Int(parameters) ?? 1))
      while row >= content.count { content.append(Row()) }
      isAtEnd = false
    case ("K", ""):
      if !isSynchronized { faults.append("erased outside a frame") }
      content[row].cells = Array(content[row].cells.prefix(column))
      content[row].isWrapped = false
    case ("J", ""):
      if !isSynchronized { faults.append("erased outside a frame") }
      if row == top, column == 0 { faults.append("erased the whole screen, which tmux keeps") }
      content.removeSubrange((row + 1)...)
      content[row].cells = Array(content[row].cells.prefix(column))
      content[row].isWrapped = false
    default: faults.append("\\e[\(parameters)\(final)")
    }
  }
}

// The rows.
extension TerminalEmulator {
  private func lineFeed() {
    isAtEnd = false
    row += 1
    if row == content.count { content.append(Row()) }
    top = max(top, row - size.rows + 1)
  }

  private func put(_ scalar: Unicode.Scalar) {
    let width = Self.width(of: scalar)
    guard width > 0 else { return combine(scalar) }
    if isAtEnd || column + width > size.columns {
      content[row].isWrapped = true
      lineFeed()
      column = 0
    }
    while content[row].cells.count < column { content[row].cells.append(Cell(text: " ", width: 1)) }
    let cells =
      [Cell(text: String(scalar), width: width)]
      + (width == 2 ? [Cell(text: "", width: 0)] : [])
    let end = min(content[row].cells.count, column + width)
    content[row].cells.replaceSubrange(column..<max(column, end), with: cells)
    column += width
    isAtEnd = column >= size.columns
    if isAtEnd { column = size.columns - 1 }
  }

  private func combine(_ scalar: Unicode.Scalar) {
    let last = isAtEnd ? content[row].cells.count - 1 : column - 1
    guard content[row].cells.indices.contains(last) else { return }
    let base = content[row].cells[last].width == 0 ? last - 1 : last
    content[row].cells[base].text.unicodeScalars.append(scalar)
  }

  private func changeWidth(to columns: Int) {
    guard wrapsAgain else {
      for index in content.indices {
        content[index].cells = Array(content[index].cells.prefix(columns))
      }
      column = min(column, columns - 1)
      return
    }
    var rows: [Row] = []
    var newRow = 0
    var line: [Cell] = []
    for (index, old) in content.enumerated() {
      if index == row { newRow = rows.count + (line.count + column) / columns }
      line += old.cells
      if old.isWrapped { continue }
      rows += Self.wrap(line, columns)
      line = []
    }
    (content, row, column, isAtEnd) = (rows, newRow, column % columns, false)
  }

  private static func wrap(_ line: [Cell], _ columns: Int) -> [Row] {
    var rows = [Row()]
    for cell in line where cell.width > 0 {
      if rows[rows.count - 1].cells.count + cell.width > columns {
        rows[rows.count - 1].isWrapped = true
        rows.append(Row())
      }
      rows[rows.count - 1].cells.append(cell)
      if cell.width == 2 { rows[rows.count - 1].cells.append(Cell(text: "", width: 0)) }
    }
    return rows
  }

  /// As most terminals do it, and independent of what is tested.
  private static func width(of scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0x300...0x36f, 0x200b...0x200f, 0x20d0...0x20ff, 0xfe00...0xfe0f: 0
    case 0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
      0xff00...0xff60, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1f9ff, 0x20000...0x3fffd:
      2
    default: 1
    }
  }
}
