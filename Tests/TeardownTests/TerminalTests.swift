// Steps with `tty: true`, and the terminal that oprun was started in: who gets its keys, and that it is
// as it was in the end.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `A step with a terminal` {
  private let terminal: PseudoTerminal

  init() throws { terminal = try PseudoTerminal(columns: 70, rows: 20) }

  /// oprun in a session of its own, with this terminal.
  private func start(_ pipeline: String, arguments: String = "") throws -> OprunProcess {
    try OprunProcess(
      pipeline, arguments: "--output grouped " + arguments,
      prefix: "exec <\(terminal.path) >\(terminal.path) 2>&1; exec setsid --ctty --wait")
  }

  /// Without the returns, whoever added them.
  private var shown: String {
    String(String.UnicodeScalarView(terminal.shown().unicodeScalars.filter { $0 != "\r" }))
      .replacing(/[0-9]+(\.[0-9]+s|ms)/, with: "TIME")
  }

  /// Whether keys come one by one, and are not repeated by the terminal.
  private var isRaw: Bool {
    var modes = termios()
    tcgetattr(terminal.device, &modes)
    return modes.c_lflag & tcflag_t(ICANON | ECHO) == 0 && modes.c_oflag & tcflag_t(OPOST) == 0
  }

  private func oprunsNumber(_ oprun: OprunProcess) -> Int32 {
    Int32(oprun.content(of: "pid").trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
  }

  @Test func `talks with the person at the keyboard`() throws {
    let oprun = try start(
      """
      max_parallel: 1
      steps:
        - id: ask
          tty: true
          run: |
            printf 'name? '; read -r name; echo "hello $name"
            stty size; test -t 0 && test -t 1 && test -t 2 && printf '\\033[1mall three'
        - {id: after, run: echo done, depends_on: [ask]}
      """, arguments: "--color never")
    #expect(eventually { shown.hasSuffix("> ask\nname? ") && isRaw })
    terminal.type("world\r")
    #expect(oprun.wait() == 0)
    let progress = shown.prefix(
      upTo: shown.firstRange(of: "✓ pipeline")?.lowerBound ?? shown.endIndex)
    #expect(
      progress == """
        pipeline.yml  2 steps, 1 at once
        > ask
        name? world
        hello world
        20 70
        \u{1b}[1mall three\u{1b}[0m\u{1b}[?25h
        ✓ ask    TIME
        > after
        │ done
        ✓ after  TIME

        """)
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGQUIT, SIGINT, SIGKILL])
  func `leaves the terminal as it was, however oprun ends`(signal: Int32) throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try start(
      "steps:\n  - {id: ask, tty: true, run: 'echo $PPID >pid; exec sleep \(mark)'}\n")
    #expect(eventually { isRaw && oprunsNumber(oprun) > 0 && mark.processes.count == 1 })
    #expect(eventually { guardians(of: oprunsNumber(oprun)).count == 2 })
    kill(oprunsNumber(oprun), signal)
    #expect(eventually { !isRaw && mark.processes.isEmpty })
    _ = oprun.wait()
  }

  @Test func `is stopped by Ctrl-C as any other, and its hooks run`() throws {
    let oprun = try start(
      "steps:\n  - {id: ask, tty: true, run: 'read -r x; sleep 60', on_cancel: touch hook}\n")
    #expect(eventually { isRaw })
    terminal.type("\u{3}")
    #expect(oprun.wait() == 130)
    #expect(oprun.exists("hook"))
    #expect(!isRaw)
    #expect(shown.contains("! stopping: SIGINT"), "\(shown)")
  }

  @Test func `hears of a new size`() throws {
    let oprun = try start(
      """
      steps:
        - id: size
          tty: true
          run: |
            trap 'stty size; exit 0' WINCH
            echo ready
            while :; do sleep 0.05; done
      """)
    #expect(eventually { shown.contains("ready\n") })
    terminal.resize(columns: 50, rows: 10)
    #expect(oprun.wait() == 0)
    #expect(shown.contains("\n10 50\n"), "\(shown)")
  }

  @Test func `has the keys once it runs alone, and output of others waits`() throws {
    let oprun = try start(
      """
      max_parallel: 2
      steps:
        - {id: other, run: "until [ -e go ]; do sleep 0.01; done; echo other"}
        - {id: ask, tty: true, run: "touch asked; read -r name; echo \\"hello $name\\""}
      """)
    #expect(eventually { oprun.exists("asked") })
    #expect(!isRaw)
    try Data().write(to: oprun.folder.appending(path: "go"))
    #expect(eventually { isRaw })
    terminal.type("you\r")
    #expect(oprun.wait() == 0)
    #expect(shown.contains("hello you\n"), "\(shown)")
  }

  @Test func `without a keyboard has a terminal of 80 columns and no input`() throws {
    let oprun = try OprunProcess(
      """
      steps:
        - id: step
          tty: true
          run: |
            stty size; tty | sed 's/[0-9]*$/N/'; read -r x || echo "end of input"
            ps -o tty= -o tpgid= -o pgid= -p $$ | awk '{ print ($1 == "?"), $2 == $3 }'
            cat /dev/tty; printf 'last'
      """, arguments: "--output quiet")
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    let runs = oprun.folder.appending(path: ".oprun/runs")
    let run = try FileManager.default.contentsOfDirectory(atPath: runs.path)
    #expect(
      oprun.content(of: ".oprun/runs/\(run.first ?? "")/step.1.log")
        == "24 80\r\n/dev/pts/N\r\nend of input\r\n0 1\r\nlast")
  }

  /// As `oprun run … | less` does, which reads keys from `/dev/tty`: whoever is faster has them.
  @Test func `has its time limit although somebody else reads the keys, too`() throws {
    let oprun = try OprunProcess(
      "steps:\n  - {id: ask, tty: true, timeout: 3s, run: 'echo $PPID >pid; exec cat >/dev/null'}\n",
      arguments: "--output grouped",
      prefix: """
        exec <\(terminal.path) >\(terminal.path) 2>&1
        exec setsid --ctty --wait sh -c 'cat </dev/tty >/dev/null & exec "$@"' sh
        """)
    #expect(eventually { isRaw && oprunsNumber(oprun) > 0 || !oprun.isRunning })
    // A read of standard input that waits would wait until the next key.
    let call = "/proc/\(oprunsNumber(oprun))/syscall"
    for _ in 0..<50 {
      terminal.type("k")
      usleep(10_000)
      if (try? String(contentsOfFile: call, encoding: .utf8))?.hasPrefix("0 0x0 ") == true { break }
    }
    let hasEnded = eventually { !oprun.isRunning }
    #expect(hasEnded)
    if !hasEnded { kill(oprunsNumber(oprun), SIGKILL) }
    #expect(oprun.wait() == 1)
    #expect(shown.contains("✗ ask"), "\(shown)")
  }

  @Test func `leaves no process behind`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try start(
      pipeline(
        script:
          "sleep \(mark) & setsid sleep \(mark) & (trap '' HUP TERM; sleep \(mark)) &\necho on",
        keys: "tty: true"))
    #expect(oprun.wait() == 0, "\(shown)")
    #expect(mark.processes == [])
    #expect(!isRaw)
  }
}
