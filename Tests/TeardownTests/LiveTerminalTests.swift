// The real program on a real pseudo-terminal, with a small emulator behind it: what a person sees, and that
// nothing stays of it.

import Foundation
import TestSupport
import Testing

/// oprun with a terminal of its own.
private final class LiveTerminal {
  let device: PseudoTerminal
  let emulator: TerminalEmulator
  private(set) var oprun: OprunProcess
  /// What was wrong in a frame.
  private(set) var frameFaults: [String] = []
  private(set) var greatestHeight = 0
  /// Frames may still be for the old size.
  private var isResized = false

  /// With `then`, oprun is a job of a shell, which runs this when the job has stopped or ended.
  init(
    _ pipeline: String, rows: Int = 24, columns: Int = 80, arguments: String = "--color never",
    then script: String? = nil
  ) throws {
    device = try PseudoTerminal(columns: columns, rows: rows)
    emulator = TerminalEmulator(rows: rows, columns: columns)
    let path = device.path
    oprun = try OprunProcess(
      pipeline, arguments: arguments + (script.map { "; \($0)'" } ?? ""),
      prefix: """
        unset CI GITHUB_ACTIONS GITLAB_CI BUILDKITE TEAMCITY_VERSION TF_BUILD TMUX STY XTERM_VERSION
        unset NO_COLOR OPRUN_OUTPUT_MODE
        export TERM=xterm-256color
        exec <\(path) >\(path) 2>&1
        exec setsid --ctty --wait \(script == nil ? "" : "bash -c 'set -m; ")
        """)
    emulator.onFrame = { [unowned self] in check($0) }
  }

  private func check(_ terminal: TerminalEmulator) {
    if isResized { return }
    if terminal.cursor.column != 0 { frameFaults.append("cursor at \(terminal.cursor)") }
    guard let height = terminal.height(from: "[") else { return }
    greatestHeight = max(greatestHeight, height)
    if height > terminal.size.rows - 2 { frameFaults.append("height \(height)") }
    let block = terminal.screen.prefix(terminal.cursor.row).suffix(height)
    frameFaults += block.filter { terminal.wrappedRows.contains($0) }.map { "wrapped: \($0)" }
  }

  func look() { emulator.feed(device.news()) }

  func see(_ condition: (TerminalEmulator) -> Bool) -> Bool {
    defer { isResized = false }
    return eventually {
      look()
      return condition(emulator)
    }
  }

  func resize(rows: Int, columns: Int) {
    look()
    isResized = true
    device.resize(columns: columns, rows: rows)
    emulator.resize(rows: rows, columns: columns)
  }

  /// Its exit status.
  func wait() -> Int32 {
    _ = see { _ in !oprun.isRunning }
    look()
    return oprun.wait()
  }

  /// What is shown, with all times replaced.
  var text: String {
    emulator.text.replacing(/[0-9]+(\.[0-9]+s|ms)/, with: "TIME").replacing(/TIME +/, with: "TIME ")
      .replacing(/[0-9]{8}-[0-9]{6}-[0-9a-z]+/, with: "RUN")
  }

  func checkFrames() {
    #expect(frameFaults == [])
    #expect(emulator.faults == [])
    #expect(!emulator.isSynchronized)
  }

  var modes: [UInt32] {
    var modes = termios()
    tcgetattr(device.device, &modes)
    return [modes.c_lflag, modes.c_oflag, modes.c_iflag]
  }
}

@Suite(.blocking) struct `A run on a terminal` {
  /// Wide characters, combining marks, colours, cursor movements, a progress bar, a line without end.
  private let hostile = #"""
    max_parallel: 2
    steps:
      - {id: wide, run: "printf '図書館%.0s' 1 2 3 4 5 6 7 8 9 10; echo; printf 'e\\314\\201%.0s' 1 2 3; echo"}
      - {id: colour, run: "printf '\\033[31mred\\033[0m \\033[2J\\033[5A\\n'", depends_on: [wide]}
      - {id: bar, run: "for i in 1 2 3 4 5 6 7 8; do printf \"$i of 8\\r\"; sleep 0.05; done; echo", depends_on: [colour]}
      - {id: endless, run: "for i in 1 2 3 4 5 6 7 8 9; do printf '%0200d' 0; sleep 0.04; done; until [ -e go ]; do sleep 0.05; done", depends_on: [bar]}
    """#

  @Test(arguments: [(24, 80), (24, 60), (4, 40), (50, 200)])
  func `shows finished lines once and no block in the end`(rows: Int, columns: Int) throws {
    let live = try LiveTerminal(hostile, rows: rows, columns: columns)
    #expect(live.see { $0.frameCount > 5 && live.greatestHeight > 0 })
    try Data().write(to: live.oprun.folder.appending(path: "go"))
    #expect(live.wait() == 0)
    live.checkFrames()
    #expect(
      Self.joined(live.text)
        == Self.joined(
          """
          pipeline.yml  4 steps, 2 at once
          > wide
          │ \(String(repeating: "図書館", count: 10))
          │ e\u{301}e\u{301}e\u{301}
          ✓ wide     TIME
          > colour
          │ red \\u{1b}[2J\\u{1b}[5A
          ✓ colour   TIME
          > bar
          │ 8 of 8
          ✓ bar      TIME
          > endless
          │ \(String(repeating: "0", count: 1800))
          ✓ endless  TIME
          ✓ pipeline.yml: 4 ok in TIME (TIME of work, critical path wide > colour > bar > endless TIME)

          """))
  }

  /// Without blanks and line breaks: the terminal and oprun break long lines.
  private static func joined(_ text: String) -> String { text.filter { !$0.isWhitespace } }

  @Test func `shows a thousand running steps in the rows that there are`() throws {
    let steps = (1...1000).map { "  - {id: s\($0), run: 'until [ -e go ]; do sleep 1; done'}\n" }
    let live = try LiveTerminal(
      "max_parallel: 1000\nsteps:\n" + steps.joined(), rows: 10, columns: 60)
    #expect(live.see { $0.text.contains("1,000 running") })
    #expect(live.see { $0.screen.contains { $0.hasPrefix("  … and 994 more") } })
    #expect(live.emulator.screen.contains { $0.hasPrefix("  > s1 ") })
    try Data().write(to: live.oprun.folder.appending(path: "go"))
    #expect(live.wait() == 0)
    live.checkFrames()
    #expect(live.emulator.lines.filter { $0.hasPrefix("✓ s") }.count == 1000)
    #expect(live.greatestHeight == 8)
  }

  @Test func `follows the size of the terminal`() throws {
    let live = try LiveTerminal(
      "max_parallel: 1\nsteps: [{id: a, run: \"printf 'a quite long line that is not at its end yet'; until [ -e go ]; do sleep 0.05; done\"}]"
    )
    #expect(live.see { $0.text.contains("end yet") })
    live.resize(rows: 24, columns: 40)
    #expect(
      live.see { $0.screen.contains { $0.hasSuffix("…") && $0.hasPrefix("  > a") } })
    live.resize(rows: 10, columns: 100)
    #expect(live.see { $0.text.contains("end yet") })
    try Data().write(to: live.oprun.folder.appending(path: "go"))
    #expect(live.wait() == 0)
    live.checkFrames()
    #expect(
      live.text == """
        pipeline.yml  1 step, 1 at once
        > a
        │ a quite long line that is not at its end yet
        ✓ a  TIME
        ✓ pipeline.yml: 1 ok in TIME

        """)
  }

  @Test func `is clean after Ctrl-C`() throws {
    let live = try LiveTerminal(
      "max_parallel: 1\nsteps: [{id: a, run: sleep 60}, {id: b, run: 'true'}]", columns: 120)
    #expect(live.see { $0.text.contains("> a") })
    let modes = live.modes
    live.device.type("\u{3}")
    #expect(live.wait() == 130)
    live.checkFrames()
    #expect(live.modes == modes)
    #expect(
      live.text == """
        pipeline.yml  2 steps, 1 at once
        ! stopping: SIGINT; a second signal kills running commands
        - b  did not start: SIGINT
        - a  cancelled: SIGINT

        - a  stopped after TIME pipeline.yml:2
          $ sleep 60

          try  oprun resume RUN   run what failed or did not run

        ✗ pipeline.yml: 2 cancelled in TIME, stopped: SIGINT   (TIME of work, longest a TIME)

        """)
  }

  @Test func `leaves a usable terminal after kill -9`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let live = try LiveTerminal(
      "steps: [{id: a, run: 'echo $PPID >pid; exec sleep \(mark)'}]")
    #expect(live.see { $0.text.contains("> a") } && eventually { mark.processes.count == 1 })
    let modes = live.modes
    kill(Int32(live.oprun.content(of: "pid").trimmingCharacters(in: .newlines)) ?? 0, SIGKILL)
    _ = live.wait()
    #expect(live.modes == modes)
    #expect(!live.emulator.isSynchronized && live.emulator.faults == [])
    #expect(live.emulator.cursor.column == 0)
    #expect(live.emulator.screen[live.emulator.cursor.row...].joined() == "")
    #expect(eventually { mark.processes.isEmpty })
  }

  @Test func `steps aside for a step that talks with the person`() throws {
    let live = try LiveTerminal(
      """
      max_parallel: 1
      steps:
        - {id: ask, tty: true, run: "printf 'name? '; read -r name; echo \\"hello $name\\""}
        - {id: after, run: 'until [ -e go ]; do sleep 0.05; done', depends_on: [ask]}
      """)
    #expect(live.see { $0.screen.contains("name?") && $0.cursor.column == 6 })
    live.device.type("you\r")
    #expect(live.see { $0.text.contains("  > after") })
    try Data().write(to: live.oprun.folder.appending(path: "go"))
    #expect(live.wait() == 0)
    live.checkFrames()
    #expect(
      live.text.hasPrefix(
        """
        pipeline.yml  2 steps, 1 at once
        > ask
        name? you
        hello you
        ✓ ask    TIME
        ✓ after  TIME
        ✓ pipeline.yml: 2 ok in TIME
        """), "\(live.text)")
  }

  @Test func `can be stopped by Ctrl-Z, and goes on below what others wrote`() throws {
    let live = try LiveTerminal(
      "max_parallel: 1\nsteps: [{id: a, run: 'until [ -e go ]; do sleep 0.05; done'}]",
      then: "echo the shell; fg")
    #expect(live.see { $0.text.contains("  > a") }, "\(live.text)")
    live.device.type("\u{1a}")
    #expect(live.see { $0.text.contains("the shell") }, "\(live.text)")
    #expect(live.see { $0.text.contains("  > a") }, "\(live.text)")
    try Data().write(to: live.oprun.folder.appending(path: "go"))
    #expect(live.wait() == 0)
    #expect(live.emulator.faults == [])
    let lines = live.text.split(separator: "\n")
    #expect(lines.first == "pipeline.yml  1 step, 1 at once")
    #expect(lines.suffix(2) == ["✓ a  TIME", "✓ pipeline.yml: 1 ok in TIME"])
    #expect(!live.text.contains("running"))
  }

  @Test func `goes on without a terminal that accepts nothing, and shows everything later`() throws
  {
    let live = try LiveTerminal(
      """
      max_parallel: 1
      steps:
        - {id: loud, run: seq 30000}
        - {id: slow, run: sleep 3, depends_on: [loud]}
      """, arguments: "--color never --junit over.xml")
    // Nobody reads.
    #expect(eventually { live.oprun.exists("over.xml") })
    #expect(live.see { $0.lines.contains("│ 30000") })
    let frameCount = live.emulator.frameCount
    #expect(live.wait() == 0)
    #expect(live.emulator.faults == [])
    #expect(
      live.emulator.lines.filter { $0.hasPrefix("│ ") }
        == (1...30000).map { "│ \($0)" })
    #expect(live.emulator.frameCount < frameCount + 10, "no blocks for nobody")
    #expect(!live.text.contains("running"))
  }

  @Test func `shows the block alone where output goes to a file`() throws {
    let live = try LiveTerminal(
      "max_parallel: 1\nsteps: [{id: a, run: 'echo out; until [ -e go ]; do sleep 0.05; done'}]",
      arguments: "--color never >out.txt")
    #expect(live.see { $0.text.contains("  > a") && $0.text.contains(" out\n") })
    try Data().write(to: live.oprun.folder.appending(path: "go"))
    #expect(live.wait() == 0)
    live.checkFrames()
    #expect(
      live.text == "pipeline.yml  1 step, 1 at once\n✓ a  TIME\n✓ pipeline.yml: 1 ok in TIME\n")
    #expect(live.oprun.content(of: "out.txt") == "out\n")
  }
}
