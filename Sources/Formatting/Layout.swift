// Builds the formatted text line by line. It knows nothing about YAML.

/// The finished lines, and the current one.
struct Layout {
  private(set) var lines: [FormattedText.Line] = []
  /// The number of the current line before formatting, from 0.
  private(set) var sourceLine = 0
  private var current: [UInt8] = []
  private var isLineOpen = false
  /// The last blank line, which is written only if a line follows.
  private var blankLine: Int?
  var endsWithNewline = true

  /// True if nothing is on the current line.
  var isAtLineStart: Bool { !isLineOpen }

  /// Adds text to the current line, or begins it.
  mutating func append(_ text: some Sequence<UInt8>) {
    open()
    current += text
  }

  mutating func append(spaces count: Int) {
    append(repeatElement(Byte.space, count: max(0, count)))
  }

  /// Ends a line of the source.
  mutating func endLine() {
    if isLineOpen {
      lines.append(FormattedText.Line(source: sourceLine, text: current))
      current = []
      isLineOpen = false
    } else {
      blankLine = sourceLine
    }
    sourceLine += 1
  }

  /// Adds a line that belongs to a value, even if it is empty.
  mutating func addLine(_ text: [UInt8]) {
    append(text)
    endLine()
  }

  /// Ends the last line, and leaves blank lines off.
  mutating func finish() {
    if isLineOpen { endLine() }
    blankLine = nil
  }

  private mutating func open() {
    guard !isLineOpen else { return }
    isLineOpen = true
    if let blankLine, !lines.isEmpty {
      lines.append(FormattedText.Line(source: blankLine, text: []))
    }
    blankLine = nil
  }
}
