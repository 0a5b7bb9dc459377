// What a command with the keys of the terminal prints: passed on as it is, also what is no whole line, for
// it is a program that talks with a person.

import RunFiles

/// The log of one command, shown byte for byte.
final class Dialogue {
  let stream: Stream
  private let stage: Stage
  private var shown: Int
  private var isOpened = false

  private var screen: Screen { stage.screen }

  /// Up to `position` it was shown before.
  init(_ stream: Stream, from position: Int, on stage: Stage) {
    self.stream = stream
    self.stage = stage
    shown = position
  }

  func show(upTo byteCount: Int) {
    guard byteCount > shown, let log = stage.operations.log(of: stream) else { return }
    if !isOpened { screen.writeOpening(of: stage.operations.heading(of: stream)) }
    isOpened = true
    screen.turnToOutput()
    screen.passOn(shown..<byteCount, of: log)
    shown = byteCount
  }

  /// The terminal is oprun's again: its cursor is at the start of a line.
  func close() {
    guard isOpened else { return }
    screen.turnToOutput()
    if screen.filtersOutput { screen.output.write("\u{1b}[0m\u{1b}[?25h") }
    screen.endLine()
  }
}
