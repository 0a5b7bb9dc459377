// The output of a command that has the keys of the terminal: passed on as it is, even within a
// line, because the command is a program that talks with a person.

import RunFiles

/// The log of one command, shown byte for byte.
final class Dialogue {
  let stream: Stream
  private let stage: Stage
  private var shown: Int
  private var isOpened = false
  /// True if standard output belongs to others: in `quiet`, the dialogue is on standard error.
  private let isQuiet: Bool

  private var screen: Screen { stage.screen }
  private var sink: ByteSink { isQuiet ? screen.messages : screen.output }

  /// The log was shown before, up to `position`.
  init(_ stream: Stream, from position: Int, on stage: Stage, isQuiet: Bool) {
    self.isQuiet = isQuiet
    self.stream = stream
    self.stage = stage
    shown = position
  }

  func show(upTo byteCount: Int) {
    guard byteCount > shown, let log = stage.operations.log(of: stream) else { return }
    if !isOpened { screen.writeOpening(of: stage.operations.heading(of: stream)) }
    isOpened = true
    if !isQuiet { screen.turnToOutput() }
    screen.passOn(shown..<byteCount, of: log, to: sink)
    shown = byteCount
  }

  /// Returns the terminal to oprun: its cursor is at the start of a line.
  func close() {
    guard isOpened else { return }
    if !isQuiet { screen.turnToOutput() }
    if isQuiet ? screen.clipsMessages : screen.filtersOutput {
      sink.write("\u{1b}[0m\u{1b}[?25h")
    }
    screen.endLine()
  }
}
