// Readers of oprun's output that stop reading: nothing in a run waits for them.

import Foundation
import TestSupport
import Testing

/// The reading end of `pipe` in the folder of a run. Nobody reads from it until `readAll`.
private struct Reader {
  let handle: FileHandle

  init(of oprun: OprunProcess) throws {
    #expect(eventually { oprun.exists("pipe") })
    handle = try FileHandle(forReadingFrom: oprun.folder.appending(path: "pipe"))
  }

  func readAll() throws -> String {
    String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
  }
}

@Suite(.blocking) struct `Readers that stand still` {
  private let numbers = (1...200_000).map { "\($0)\n" }.joined()

  /// The shell that becomes oprun waits in `>pipe` until there is a reader.
  private func start(_ pipeline: String, redirection: String = ">pipe") throws -> OprunProcess {
    try OprunProcess(pipeline, prefix: "mkfifo pipe; exec", suffix: redirection)
  }

  @Test func `a time limit is kept, and the next step runs`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try start(
      """
      max_parallel: 1
      steps:
        - {id: loud, run: "seq 200000; touch full; exec sleep \(mark)", timeout: 1s, on_failure: touch hook}
        - {id: next, run: "touch next; echo next"}
      """)
    let reader = try Reader(of: oprun)
    #expect(eventually { oprun.exists("hook") && oprun.exists("next") })
    #expect(mark.processes == [])
    #expect(oprun.isRunning, "it waits for its reader at the end")
    let taken = try reader.readAll()
    #expect(taken.hasSuffix("next\n"))
    // On a slow machine the limit may come before the step has printed everything.
    #expect(taken == numbers + "next\n" || !oprun.exists("full"))
    #expect(oprun.wait() == 1)
  }

  @Test func `a signal ends the run with its teardown`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try start(
      pipeline(
        script: "seq 200000\ntouch full\nsleep \(mark) & sleep \(mark)",
        keys: "on_cancel: echo $OPRUN_STATUS >hook"))
    let reader = try Reader(of: oprun)
    #expect(eventually { oprun.exists("full") && mark.processes.count == 2 })
    oprun.send(SIGTERM)
    #expect(oprun.wait() == 143)
    #expect(mark.processes == [])
    #expect(oprun.content(of: "hook") == "cancelled\n")
    let taken = try reader.readAll()
    #expect(numbers.hasPrefix(taken) && taken.utf8.count < numbers.utf8.count)
  }

  @Test func `whoever reads again after a signal gets the rest`() throws {
    let isWhole = try once {
      let oprun = try start(
        pipeline(
          script: "seq 200000\ntouch full\nwhile :; do sleep 0.01; done",
          keys: "on_cancel: while [ ! -e go ]; do sleep 0.01; done"))
      let reader = try Reader(of: oprun)
      #expect(eventually { oprun.exists("full") })
      oprun.send(SIGTERM)
      #expect(eventually { oprun.standardError.contains("stopping") })
      try Data().write(to: oprun.folder.appending(path: "go"))
      // A reader that needs longer than its grace of two seconds loses the rest.
      let taken = try reader.readAll()
      #expect(oprun.wait() == 143)
      return taken == numbers
    }
    #expect(isWhole)
  }

  @Test func `a second signal gives up what nobody reads`() throws {
    let isSoon = try once {
      let oprun = try start(
        """
        steps: [{id: step, run: "seq 200000; touch full; while :; do sleep 0.01; done"}]
        on_complete: while [ ! -e go ]; do sleep 0.01; done; touch hook
        """)
      let reader = try Reader(of: oprun)
      #expect(eventually { oprun.exists("full") })
      // Each of another kind: signals of one kind that wait together are one.
      oprun.send(SIGINT)
      #expect(eventually { oprun.standardError.contains("stopping") })
      oprun.send(SIGTERM)
      try Data().write(to: oprun.folder.appending(path: "go"))
      #expect(eventually { oprun.exists("hook") })
      let time = duration { #expect(oprun.wait() == 130) }
      try reader.handle.close()
      return time < 2
    }
    #expect(isSoon, "less than the reader's grace")
  }

  @Test func `at the end of a run a signal gives up what nobody reads`() throws {
    let oprun = try start(pipeline(script: "seq 200000", keys: "on_complete: touch hook"))
    let reader = try Reader(of: oprun)
    #expect(eventually { oprun.standardError.contains("1 ok") })
    #expect(!eventually(within: 0.2) { !oprun.isRunning })
    oprun.send(SIGTERM)
    #expect(oprun.wait() == 0, "the run itself had ended")
    #expect(oprun.exists("hook"))
    try reader.handle.close()
  }

  @Test func `a reader that goes away ends the wait`() throws {
    let oprun = try start(pipeline(script: "seq 200000\ntouch full"))
    let reader = try Reader(of: oprun)
    #expect(eventually { oprun.exists("full") })
    try reader.handle.close()
    #expect(oprun.wait() == 0)
  }

  @Test(arguments: ["grouped", "prefixed"])
  func `who reads late sees output and messages in their order`(mode: String) throws {
    let steps = (1...30).map { "  - {id: s\($0), run: seq \($0)000}\n" }.joined()
    let oprun = try OprunProcess(
      "max_parallel: 1\nsteps:\n\(steps)on_complete: touch hook\n",
      arguments: "--output \(mode)", prefix: "mkfifo pipe; exec", suffix: ">pipe 2>&1")
    let reader = try Reader(of: oprun)
    #expect(eventually { oprun.exists("hook") })
    var lines = try reader.readAll().split(separator: "\n").map(String.init)[...]
    #expect(oprun.wait() == 0)
    #expect(lines.popFirst()?.hasPrefix("pipeline.yml  30 steps") == true)
    for step in 1...30 {
      let output = (1...step * 1000).map { mode == "prefixed" ? "[s\(step)] \($0)" : "\($0)" }
      if mode == "grouped" { #expect(lines.popFirst() == "> s\(step)") }
      let isWhole = lines.prefix(output.count).elementsEqual(output)
      #expect(isWhole, "s\(step)")
      lines = lines.dropFirst(output.count)
      #expect(lines.popFirst()?.hasPrefix("✓ s\(step) ") == true)
    }
    #expect(lines.count == 1)
  }

  @Test func `a pipe that cannot be opened anew holds nothing either`() throws {
    // Only root may still open it; in that case oprun runs as another user.
    let user =
      getuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups --" : ""
    let oprun = try OprunProcess(
      pipeline(
        script: "seq 200000\ntouch state/full\nexec sleep 600",
        keys: "timeout: 1s\non_failure: touch state/hook"),
      arguments: "--state-dir state/.oprun",
      prefix: "mkfifo pipe; exec >pipe; chmod 0 pipe; mkdir -m 777 state; exec \(user)")
    let reader = try Reader(of: oprun)
    #expect(eventually { oprun.exists("state/hook") }, "\(oprun.standardError)")
    let taken = try reader.readAll()
    // On a slow machine the limit may come before the step has printed everything.
    #expect(taken == numbers || !oprun.exists("state/full"))
    #expect(oprun.wait() == 1)
  }

  @Test func `a stopped terminal holds nothing, and stays as it was`() throws {
    let terminal = try PseudoTerminal()
    terminal.type("\u{13}")  // Ctrl-S
    let oprun = try OprunProcess(
      pipeline(
        script: "echo one\ntouch said\nexec sleep 600", keys: "timeout: 1s\non_failure: touch hook"),
      suffix: ">\(terminal.path) 2>&1")
    #expect(eventually { oprun.exists("hook") })
    #expect(!eventually(within: 0.2) { !oprun.isRunning })
    #expect(fcntl(terminal.device, F_GETFL) & O_NONBLOCK == 0)
    terminal.type("\u{11}")  // Ctrl-Q
    #expect(oprun.wait() == 1)
    let shown = terminal.shown()
    #expect(shown.contains("one\r\n") || !oprun.exists("said"), "\(shown)")
    #expect(shown.contains("1 timed out"), "\(shown)")
  }

  @Test func `output that nobody reads costs no memory`() throws {
    let oprun = try start(
      pipeline(
        script: """
          yes 'a line of a very talkative step' | head -c 200000000
          grep VmHWM /proc/$PPID/status >peak
          touch full
          """))
    let reader = try Reader(of: oprun)
    #expect(eventually { oprun.exists("full") })
    let peak = Int(oprun.content(of: "peak").filter(\.isNumber)) ?? .max
    #expect(peak < 40 << 10, "\(peak) kB")
    #expect(try reader.handle.readToEnd()?.count == 200_000_000)
    #expect(oprun.wait() == 0)
  }
}
