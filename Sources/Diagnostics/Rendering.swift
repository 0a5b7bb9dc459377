// Diagnostics as text, for people and for programs. It decides nothing and finds nothing.

/// How diagnostics are written.
package enum DiagnosticFormat: String, CaseIterable, Sendable {
  /// Human-readable: the source line, underlined, with a help line; at most 20.
  case human
  /// `file:line:column: error: message`, one line each.
  case short
  /// One JSON object per line: `file`, `line`, `column`, `endLine`, `endColumn`, `severity`,
  /// `message`, and where there are any `label`, `help` and `related` (a list of objects with
  /// `file`, `line`, `column`, `message`).
  case json
  /// One workflow command of GitHub Actions per diagnostic.
  case github
}

/// The terminal on which diagnostics are shown.
package struct DiagnosticTerminal {
  package var isColored: Bool
  /// Source lines are clipped to this width, so that what is underlined stays above its underline;
  /// nil means that they are shown whole.
  package var columns: Int?

  package init(isColored: Bool = false, columns: Int? = nil) {
    self.isColored = isColored
    self.columns = columns
  }
}

/// Writes diagnostics of one severity that are sorted by location; each line ends with a newline.
package func render(
  _ diagnostics: [Diagnostic], in sources: SourceMap, format: DiagnosticFormat = .human,
  on terminal: DiagnosticTerminal = DiagnosticTerminal()
) -> String {
  let colors = DiagnosticColors(color: terminal.isColored)
  var renderer = Renderer(sources, style: colors, upTo: diagnostics)
  renderer.columns = terminal.columns
  switch format {
  case .human: return renderer.report(diagnostics)
  case .short: return diagnostics.map { renderer.headline($0) + "\n" }.joined()
  case .json: return diagnostics.map { renderer.json($0) + "\n" }.joined()
  case .github: return diagnostics.map { renderer.annotation($0) + "\n" }.joined()
  }
}

/// Colours of a report; all empty when there are none.
struct DiagnosticColors {
  let place: String
  let error: String
  let secondary: String
  let gutter: String
  let help: String
  let reset: String

  init(color: Bool) {
    place = color ? "\u{1b}[1m" : ""
    error = color ? "\u{1b}[1;31m" : ""
    secondary = color ? "\u{1b}[34m" : ""
    gutter = color ? "\u{1b}[2m" : ""
    help = color ? "\u{1b}[1;32m" : ""
    reset = color ? "\u{1b}[0m" : ""
  }
}

struct Renderer {
  private static let maxShown = 20

  let sources: SourceMap
  let style: DiagnosticColors
  /// The width of the terminal; nil elsewhere.
  var columns: Int?
  private let lines: [LineTable]

  init(_ sources: SourceMap, style: DiagnosticColors, upTo diagnostics: [Diagnostic]) {
    self.sources = sources
    self.style = style
    var furthest = 0
    for diagnostic in diagnostics {
      for label in [diagnostic.primary] + diagnostic.secondary {
        furthest = max(furthest, Int(label.span.end))
      }
    }
    lines = sources.files.map { LineTable($0.bytes, upTo: furthest - $0.start) }
  }

  func report(_ diagnostics: [Diagnostic]) -> String {
    guard !diagnostics.isEmpty else { return "" }
    var text = diagnostics.prefix(Self.maxShown).map(paragraph).joined()
    if diagnostics.count > Self.maxShown {
      text += "… and \(diagnostics.count - Self.maxShown) more\n"
    }
    let path = pathAtLineStart(sources.files[0].path)
    let more = diagnostics.count >= DiagnosticLog.limit ? " or more" : ""
    if diagnostics[0].severity == .notice { return text }
    let noun = diagnostics.count == 1 ? "error" : "errors"
    return text + "\(style.place)\(path): \(diagnostics.count)\(more) \(noun)\(style.reset)\n"
  }

  func headline(_ diagnostic: Diagnostic) -> String {
    let place = location(of: diagnostic.primary.span)
    let path = pathAtLineStart(sources.files[place.file].path)
    return "\(style.place)\(path):\(place.line):\(place.column):\(style.reset)"
      + " \(style.error)\(diagnostic.severity.rawValue):\(style.reset) \(messageLine(diagnostic.message))"
  }

  private func paragraph(_ diagnostic: Diagnostic) -> String {
    let labels = [diagnostic.primary] + diagnostic.secondary
    let places = labels.map { location(of: $0.span) }
    let gutter = places.map { String($0.line).utf8.count }.max() ?? 1
    var text = headline(diagnostic) + "\n"
    var last: SourceLine?
    for (index, label) in labels.enumerated() {
      let place = places[index]
      if sources.files[place.file].isSecret {
        text += index == 0 ? "" : "  \(messageLine(label.text)): \(shown(place))\n"
        last = nil
        continue
      }
      let isRepeated = index > 0 && place.isSameLine(as: places[index - 1])
      let isForeign = index > 0 && place.file != places[index - 1].file
      if isForeign { text += "  in \(printable(sources.files[place.file].path))\n" }
      let line = sourceLine(of: label, at: place, gutter: gutter, after: isRepeated ? last : nil)
      if !isRepeated || line.text != last?.text { text += source(line, at: place, gutter: gutter) }
      text += underline(line, label, isPrimary: index == 0, gutter: gutter)
      last = line
    }
    if let help = diagnostic.help {
      text += "  \(style.help)help:\(style.reset) \(messageLine(help))\n"
    }
    return text
  }

  private func shown(_ place: Location) -> String {
    "\(printable(sources.files[place.file].path)):\(place.line):\(place.column)"
  }

  /// The columns of ` | ` and of an ellipsis on either side, in addition to the line number.
  private static let besideSource = 6
  private static let narrowestSource = 8

  private func sourceLine(
    of label: Diagnostic.Label, at place: Location, gutter: Int, after last: SourceLine?
  ) -> SourceLine {
    let file = sources.files[place.file]
    let span = label.span.range
    let room = columns.map { max(Self.narrowestSource, $0 - gutter - Self.besideSource) } ?? .max
    return SourceLine(
      file.bytes, lineStart: place.lineStart,
      span: (span.lowerBound - file.start)..<(span.upperBound - file.start),
      width: min(SourceLine.maxWidth, room), after: last)
  }

  private func source(_ line: SourceLine, at place: Location, gutter: Int) -> String {
    let number = String(place.line)
    let padding = String(repeating: " ", count: gutter - number.utf8.count + 1)
    let source = "\(style.gutter)\(padding)\(number) |\(style.reset) \(line.text)"
    return source.trimmingSpaces() + "\n"
  }

  private func underline(
    _ line: SourceLine, _ label: Diagnostic.Label, isPrimary: Bool, gutter: Int
  ) -> String {
    let color = isPrimary ? style.error : style.secondary
    let tail = String(repeating: "~", count: line.underlineWidth - (isPrimary ? 1 : 0))
    let words = label.text.isEmpty ? "" : " " + messageLine(label.text)
    return "\(style.gutter)\(String(repeating: " ", count: gutter + 1)) |\(style.reset) "
      + String(repeating: " ", count: line.underlineStart)
      + "\(color)\(isPrimary ? "^" : "")\(tail)\(words)\(style.reset)\n"
  }
}

/// The start of a span, with everything that printing needs.
struct Location {
  let file: Int
  let line: Int
  let column: Int
  let lineStart: Int

  func isSameLine(as other: Location) -> Bool { file == other.file && line == other.line }
}

extension Renderer {
  func location(of span: Span) -> Location { location(at: Int(span.start)) }

  func location(at offset: Int) -> Location {
    let index = sources.fileIndex(at: offset)
    let file = sources.files[index]
    let place = lines[index].position(at: offset - file.start, in: file.bytes)
    return Location(
      file: index, line: place.line, column: place.column, lineStart: place.lineStart)
  }
}

extension String {
  func trimmingSpaces() -> String {
    var text = Substring(self)
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
