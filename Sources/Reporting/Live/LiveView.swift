// The content of a block at one moment, and the lines that it becomes: a function of the view, the
// size of the terminal, and nothing else.

import Diagnostics
import Scheduling

struct LiveView: Hashable {
  /// A step, or all instances of one.
  struct Row: Hashable {
    let mark: Mark
    let name: String
    var elapsed: Nanoseconds?
    /// A note about the step besides its last line.
    var note = ""
    var lastLine = LastLine()
  }

  var done = 0
  var total = 0
  var failed = 0
  var running = 0
  var isStopping = false
  /// The pauses by people: `paused by anna 14:02`.
  var pauses: [String] = []
  /// The time since the start of the run.
  var elapsed: Nanoseconds = 0
  /// The time until the end of the run; nil if that cannot be estimated.
  var left: Nanoseconds?
  /// The rows, the oldest first; perhaps more than fit.
  var rows: [Row] = []
  /// The number of all rows, including those without room.
  var rowCount = 0
  /// The column of the ends of finished steps.
  var nameWidth = 0
}

/// How a block is drawn.
struct LiveStyle {
  var isColored = false
  var usesASCII = false
}

extension LiveView {
  /// The rows of steps that fit above two free rows of the terminal, and whether a further line counts the
  /// others.
  static func room(for count: Int, in size: ScreenSize) -> (rows: Int, countsOthers: Bool) {
    let room = max(0, size.rows - 3)
    if count <= room || room < 2 { return (min(count, room), false) }
    return (room - 1, true)
  }

  /// The lines, none of them wider than the terminal; two rows of it stay free.
  func lines(on size: ScreenSize, _ style: LiveStyle) -> [BlockLine] {
    guard size.rows > 2 else { return [] }
    let (count, countsOthers) = Self.room(for: rowCount, in: size)
    let shown = rows.prefix(count)
    var lines = [header(size.columns, style)]
    let times = shown.map { $0.elapsed.map(elapsedText) ?? "" }
    let timeWidth = max(Self.usualTime, times.lazy.map(\.utf8.count).max() ?? 0)
    let hasRest = shown.contains { !$0.note.isEmpty || !$0.lastLine.text.isEmpty }
    let rest = 6 + timeWidth + (hasRest ? 2 + Self.usualRest : 0)
    let room = max(size.columns - rest, size.columns * 2 / 5, 8)
    let names = shown.map { cutInMiddle($0.name, columns: room) }
    let width = max(
      min(nameWidth - 2, room), names.lazy.map { displayWidth(of: $0) }.max() ?? 0)
    for (row, (name, time)) in zip(shown, zip(names, times)) {
      var line = LineOfPieces(size.columns, style)
      line.write("  ")
      line.write(row.mark.text(usesASCII: style.usesASCII).description, row.mark.style)
      line.write(" " + name)
      line.pad(to: 4 + width + 2)
      line.write(time)
      row.writeRest(to: &line, from: 4 + width + 2 + timeWidth + 2)
      lines.append(line.line)
    }
    if countsOthers {
      var line = LineOfPieces(size.columns, style)
      let mark = style.usesASCII ? "..." : "…"
      line.write("  \(mark) and \(counted(rowCount - count)) more", .faint)
      lines.append(line.line)
    }
    return lines
  }

  /// The width of most times, such as `59.9s`.
  private static let usualTime = 5
  /// The columns that long names leave to the rest of a line. They do not depend on what the step
  /// has printed: the names would jump.
  private static let usualRest = 24

  /// The first line: `[4/9] ━━━━━━───────  2 running, 3 waiting  3.1s, about 4s left`.
  private func header(_ columns: Int, _ style: LiveStyle) -> BlockLine {
    let counter = "[\(counted(done))/\(counted(total))]"
    let words = self.words
    let state = words.map(\.text).joined(separator: ", ")
    let time = "  " + elapsedText(elapsed)
    let estimate = left.map { ", about \(roughText($0)) left" } ?? ""
    let width = [counter, " ", state, time].reduce(0) { $0 + displayWidth(of: $1) }
    var room = columns - width
    let showsEstimate = room >= estimate.utf8.count
    if showsEstimate { room -= estimate.utf8.count }
    let bar = min(Self.widestBar, room - 2)
    var line = LineOfPieces(columns, style)
    line.write(counter + " ")
    if bar >= Self.narrowestBar {
      writeBar(bar, to: &line, style)
      line.write("  ")
    }
    for (index, word) in words.enumerated() {
      line.write((index > 0 ? ", " : ""))
      line.write(word.text, word.style)
    }
    line.write(time + (showsEstimate ? estimate : ""))
    return line.line
  }

  private static let widestBar = 20
  private static let narrowestBar = 8

  private func writeBar(_ width: Int, to line: inout LineOfPieces, _ style: LiveStyle) {
    let full = total > 0 ? min(width, done * width / total) : 0
    line.write(
      String(repeating: style.usesASCII ? "=" : "━", count: full), failed > 0 ? .bad : .good)
    line.write(String(repeating: style.usesASCII ? "-" : "─", count: width - full), .faint)
  }

  /// The numbers of steps: `1 failed, 2 running, 3 waiting`.
  var words: [(text: String, style: Style?)] {
    let waiting = max(0, total - done - running)
    var words: [(String, Style?)] = []
    if isStopping { words.append(("stopping", .warning)) }
    if failed > 0 { words.append(("\(counted(failed)) failed", .bad)) }
    words.append(("\(counted(running)) running", nil))
    for pause in isStopping ? [] : pauses { words.append((pause, .warning)) }
    if waiting > 0, !isStopping { words.append(("\(counted(waiting)) waiting", nil)) }
    return words
  }
}

extension LiveView.Row {
  fileprivate func writeRest(to line: inout LineOfPieces, from column: Int) {
    if !note.isEmpty || !lastLine.text.isEmpty { line.pad(to: column) }
    line.write(note, .faint)
    guard !lastLine.text.isEmpty else { return }
    if !note.isEmpty { line.write("  ") }
    if lastLine.isCutAtStart {
      line.write(end: lastLine.text, .faint)
    } else {
      line.write(lastLine.text, .faint)
    }
  }
}

/// Collects the pieces of one line, as many as fit.
private struct LineOfPieces {
  private let columns: Int
  private let style: LiveStyle
  private var bytes: [UInt8] = []
  private var width = 0
  private var isFull = false

  init(_ columns: Int, _ style: LiveStyle) {
    self.columns = columns
    self.style = style
  }

  var line: BlockLine { BlockLine(bytes: bytes, width: width) }

  mutating func write(_ text: String, _ pieceStyle: Style? = nil) {
    let room = columns - width
    guard !isFull, room > 0, !text.isEmpty else { return }
    let whole = oneLine(Self.steady(text))
    isFull = displayWidth(of: whole) > room
    append(isFull ? oneLine(whole, columns: room) : whole, pieceStyle)
  }

  /// Writes as much of the end of the text as fits, after an ellipsis.
  mutating func write(end text: String, _ pieceStyle: Style? = nil) {
    let room = columns - width - 1
    guard !isFull, room >= 0 else { return }
    var kept: [Character] = []
    var keptWidth = 0
    for character in oneLine(Self.steady(text)).reversed() {
      keptWidth += displayWidth(of: String(character))
      if keptWidth > room { break }
      kept.append(character)
    }
    append("…" + String(kept.reversed()), pieceStyle)
  }

  mutating func pad(to column: Int) {
    guard !isFull else { return }
    let count = max(0, min(column, columns) - width)
    bytes += [UInt8](repeating: UInt8(ascii: " "), count: count)
    width += count
  }

  private mutating func append(_ text: String, _ pieceStyle: Style?) {
    guard !text.isEmpty else { return }
    let text = style.usesASCII ? withASCIIEllipses(text) : text
    if style.isColored, let pieceStyle {
      bytes += Array(pieceStyle.code.description.utf8)
      bytes += Array(text.utf8)
      bytes += Array("\u{1b}[0m".utf8)
    } else {
      bytes += Array(text.utf8)
    }
    width += displayWidth(of: text)
  }

  private func withASCIIEllipses(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "…" ? "~" : $0 }))
  }

  /// The text without variation selector 16, with which some terminals draw a narrow character wide.
  private static func steady(_ text: String) -> String {
    guard text.unicodeScalars.contains("\u{fe0f}") else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\u{fe0f}" }))
  }
}

/// A count for people: `1,000`.
func counted(_ number: Int) -> String {
  let sink = ByteSink.intoMemory()
  sink.write(grouped: number)
  return sink.text
}

/// An estimated time in whole seconds: `4s`, `2m05s`.
func roughText(_ time: Nanoseconds) -> String {
  let seconds = (max(0, time) + 999_999_999) / 1_000_000_000
  return seconds < 60 ? "\(seconds)s" : elapsedText(seconds * 1_000_000_000)
}
