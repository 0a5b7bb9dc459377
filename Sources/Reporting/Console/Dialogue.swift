// What a command with the keys of the terminal prints: passed on as it is, also what is no whole line, for
// it is a program that talks with a person.

import RunFiles

/// The log of one command, shown byte for byte.
final class Dialogue {
  let stream: Stream
  private let stage: Stage
  private var shown: Int
  private var isOpened = false
  /// Standard output belongs to others: in `quiet` a person is talked with beside it.
  private let isQuiet: Bool

  private var screen: Screen { stage.screen }
  private var sink: ByteSink { isQuiet ? screen.messages : screen.output }

  /// Up to `position` it was shown before.
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

  /// The terminal is oprun's again: its cursor is at the start of a line.
  func close() {
    guard isOpened else { return }
    if !isQuiet { screen.turnToOutput() }
    if isQuiet ? screen.clipsMessages : screen.filtersOutput {
      sink.write("\u{1b}[0m\u{1b}[?25h")
    }
    screen.endLine()
  }
}
