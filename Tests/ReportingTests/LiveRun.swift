// A run in virtual time with a block, and the terminal that shows it.

import Plans
import TestSupport
import Testing

@testable import Reporting

struct LiveRun {
  let run: StagedRun
  let terminal: TerminalEmulator
  let frames: Frames

  /// What was wrong in a frame, and how high blocks were.
  final class Frames {
    var faults: [String] = []
    var heights: [Int] = []
  }

  init(
    _ plan: Plan, rows: Int = 24, columns: Int = 80, wrapsAgain: Bool = true,
    _ change: (inout ScreenOptions) -> Void = { _ in }
  ) throws {
    let terminal = TerminalEmulator(rows: rows, columns: columns, wrapsAgain: wrapsAgain)
    let frames = Frames()
    terminal.onFrame = { terminal in
      if terminal.cursor.column != 0 { frames.faults.append("cursor at \(terminal.cursor)") }
      if let height = terminal.height(from: "[") {
        frames.heights.append(height)
        if height > terminal.size.rows - 2 { frames.faults.append("height \(height)") }
        let block = terminal.screen.prefix(terminal.cursor.row).suffix(height)
        frames.faults += block.filter { terminal.wrappedRows.contains($0) }.map { "wrapped \($0)" }
      }
    }
    var options = ScreenOptions()
    options.isLive = true
    options.color = .never
    change(&options)
    run = try StagedRun(
      plan, .live, options, emulator: terminal,
      environment: wrapsAgain ? [:] : ["TERM": "linux"])
    self.terminal = terminal
    self.frames = frames
  }

  func check() {
    #expect(frames.faults == [])
    #expect(terminal.faults == [])
    #expect(!terminal.isSynchronized)
  }
}
