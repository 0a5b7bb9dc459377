// Runs in virtual time on a terminal: what is on its screen in the end, what has scrolled out of it, and
// what holds in every frame.

import Masking
import Plans
import Scheduling
import TestSupport
import Testing

@testable import Reporting

struct `The live display` {
  @Test func `shows what runs below what has ended`() throws {
    let live = try LiveRun(samplePlan("fetch~4; lint~1; build~6: fetch", width: 2))
    live.run.start("fetch", "lint")
    live.run.pass(until: 50)
    #expect(
      live.terminal.text == """
        sample.yml  3 steps, 2 at once
        [0/3] ────────────────────  2 running, 1 waiting  50ms, about 10s left
          > fetch  50ms
          > lint   50ms

        """)
    try live.run.print("fetch", "10%\r20%\r")
    try live.run.print("lint", "main.c: fine\nlast.c: ")
    live.run.pass(until: 1100)
    live.run.end("lint")
    live.run.settle("lint")
    live.run.pass(until: 1500)
    #expect(
      live.terminal.text == """
        sample.yml  3 steps, 2 at once
        > lint
        │ main.c: fine
        │ last.c:
        ✓ lint   0.1s
        [1/3] ━━━━━━──────────────  1 running, 1 waiting  1.5s, about 9s left
          > fetch  1.5s   20%

        """)
    try live.run.print("fetch", "100%\n")
    live.run.end("fetch")
    live.run.settle("fetch")
    try live.run.pass("build", after: 2000)
    live.run.finish()
    #expect(
      live.terminal.text == """
        sample.yml  3 steps, 2 at once
        > lint
        │ main.c: fine
        │ last.c:
        ✓ lint   0.1s
        > fetch
        │ 100%
        ✓ fetch  0.1s
        ✓ build  2.0s
        ✓ sample.yml: 3 ok in 3.5s   (2.2s of work, critical path fetch > build 3.5s)

        """)
    live.check()
  }

  @Test(arguments: [(24, 80), (24, 60), (4, 40), (50, 200), (3, 20), (2, 10), (1, 1)])
  func `loses no line and adds none, whatever the size`(rows: Int, columns: Int) throws {
    let ids = (1...60).map { "s\($0)" }
    let live = try LiveRun(samplePlan(ids.joined(separator: ";")), rows: rows, columns: columns)
    live.run.start("s1")
    for (index, id) in ids.enumerated() {
      if index + 1 < ids.count { live.run.start(ids[index + 1]) }
      if index + 2 < ids.count, index % 3 == 0 { try live.run.print(id, "out \(index)\n") }
      live.run.pass(until: (index + 1) * 40)
      live.run.end(id)
      live.run.settle(id)
    }
    live.run.pass(until: 3000)
    live.run.finish()
    live.check()
    guard columns > 10 else { return }
    let ends = live.terminal.lines.filter { $0.hasPrefix("✓ s") && !$0.contains("sample") }
    #expect(
      ends.map { $0.split(separator: " ")[1] } == ids.map { $0[...] }, "once each, in order")
    #expect(live.terminal.lines.filter { $0.hasPrefix("│ out") }.count == 20)
    #expect(!live.terminal.text.contains("running"))
    if rows > 2 { #expect((live.frames.heights.max() ?? 0) > 0) }
  }

  @Test func `shows as many of a thousand as fit, the oldest first`() throws {
    let ids = (1...1000).map { "s\($0)" }
    let live = try LiveRun(samplePlan(ids.joined(separator: ";"), width: 1000), rows: 8)
    for id in ids { live.run.start(id) }
    live.run.pass(until: 100)
    live.run.end("s2")
    live.run.settle("s2")
    live.run.pass(until: 2000)
    #expect(
      live.terminal.text == """
        sample.yml  1,000 steps, 1000 at once
        ✓ s2     0.1s
        [1/1,000] ────────────────────  999 running  2.0s
          > s1   2.0s
          > s3   2.0s
          > s4   2.0s
          > s5   2.0s
          … and 995 more

        """)
    live.check()
  }

  @Test func `folds the instances of a step, as their last line does`() throws {
    let plan = samplePlan("t; t1; t2; t3; t4").group("t", of: ["t1", "t2", "t3", "t4"])
    let live = try LiveRun(plan)
    live.run.start("t1", "t2")
    try live.run.print("t2", "two\n")
    live.run.pass(until: 200)
    live.run.end("t1")
    live.run.settle("t1")
    live.run.start("t3")
    live.run.pass(until: 1000)
    #expect(
      live.terminal.lines.suffix(2) == [
        "[1/4] ━━━━━───────────────  2 running, 1 waiting  1.0s",
        "  > t ×4  1.0s   1 ok, 2 running  two",
      ])
    live.check()
    let unfolded = try LiveRun(plan) { $0.unfoldsInstances = true }
    unfolded.run.start("t1", "t2")
    unfolded.run.pass(until: 1000)
    #expect(unfolded.terminal.lines.suffix(2) == ["  > t1  1.0s", "  > t2  1.0s"])
  }

  @Test func `tells the next attempt, hooks, and services last`() throws {
    let settings = StepSettings(name: "for people")
    let live = try LiveRun(samplePlan("db; unit; lint", settings: settings))
    live.run.start("db")
    live.run.tell(.ready(live.run.operation("db")))
    live.run.start("unit", "lint")
    live.run.end("unit", .exited(1))
    live.run.tell(.retrying(live.run.operation("unit"), nextAttempt: 2, delay: 5_000_000_000))
    live.run.end("lint")
    live.run.tell(.started(live.run.operation("lint"), .hook(.onSuccess, index: 1)))
    live.run.pass(until: 1000)
    #expect(
      live.terminal.lines.suffix(4) == [
        "[0/3] ────────────────────  2 running, 1 waiting  1.0s",
        "  ↻ unit               1.0s   attempt 2 in 4.0s",
        "  > lint (on_success)  1.0s   (for people)",
        "  > db                 1.0s   (for people)",
      ])
    live.run.start("unit")
    live.run.tell(.stopping(.signal(2)))
    live.run.pass(until: 2000)
    #expect(
      live.terminal.lines.suffix(4).prefix(2) == [
        "[0/3] ────────────────────  stopping, 3 running  2.0s",
        "  > unit (attempt 2)   2.0s   (for people)",
      ])
    live.check()
  }

  @Test func `draws at most every 50 ms, and twice a second if nothing happens`() throws {
    let live = try LiveRun(samplePlan("a; b"))
    live.run.start("a")
    live.run.awaitDeadline(at: 50)
    #expect(live.terminal.frameCount == 1)
    live.run.awaitDeadline(at: 500)
    #expect(live.terminal.frameCount == 2)
    live.run.at(560)
    live.run.start("b")
    live.run.at(600)
    try live.run.print("b", "x\n")
    #expect(live.terminal.frameCount == 2)
    live.run.awaitDeadline(at: 610)
    #expect(live.terminal.frameCount == 3)
  }

  @Test(arguments: [true, false])
  func `leaves no trace when the terminal is made narrower`(wrapsAgain: Bool) throws {
    let live = try LiveRun(samplePlan("a; b~9"), rows: 12, columns: 70, wrapsAgain: wrapsAgain)
    live.run.start("a", "b")
    try live.run.print("a", "finished line\n")
    try live.run.print("b", "a rather long last line that takes most of the width of it")
    live.run.pass(until: 1000)
    live.run.resize(rows: 12, columns: 30)
    live.run.pass(until: 1001)
    #expect(
      live.terminal.text == """
        sample.yml  2 steps, 4 at once
        > a
        │ finished line
        [0/2] 2 running  1.0s
          > a  1.0s   finished line
          > b  1.0s   a rather long l…

        """)
    live.run.resize(rows: 6, columns: 100)
    live.run.pass(until: 1002)
    live.run.end("a")
    live.run.settle("a")
    live.run.end("b")
    live.run.settle("b")
    live.run.finish()
    #expect(
      live.terminal.lines.filter { $0.hasPrefix("✓") || $0.hasPrefix("│") } == [
        "│ finished line", "✓ a  0.1s",
        "│ a rather long last line that takes most of the width of it",
        "✓ b  0.1s", "✓ sample.yml: 2 ok in 1.0s   (0.2s of work, longest a 1.0s)",
      ])
    #expect(!live.terminal.text.contains("running"))
    live.check()
  }

  @Test func `steps aside while oprun is stopped, and starts anew below the shell`() throws {
    let live = try LiveRun(samplePlan("a"))
    live.run.start("a")
    live.run.pass(until: 100)
    live.run.suspend()
    #expect(live.terminal.text == "sample.yml  1 step, 4 at once\n")
    live.terminal.feed("^Z\r\n[1]+  Stopped\r\n$ fg\r\n".utf8)
    live.run.resume()
    live.run.pass(until: 700)
    #expect(
      live.terminal.text == """
        sample.yml  1 step, 4 at once
        ^Z
        [1]+  Stopped
        $ fg
        [0/1] ────────────────────  1 running  0.5s
          > a  0.5s

        """)
  }

  @Test func `leaves the terminal to a step that has its keys`() throws {
    let live = try LiveRun(samplePlan("other; ask"))
    live.run.start("other", "ask")
    live.run.pass(until: 100)
    live.run.at(110)
    live.run.end("other")
    live.run.settle("other")
    live.run.tell(.terminalTaken(live.run.operation("ask"), .attempt(1)))
    #expect(live.terminal.text == "sample.yml  2 steps, 4 at once\n✓ other  0.1s\n")
    try live.run.print("ask", "name? ")
    live.run.pass(until: 5000)
    #expect(live.terminal.lines.last == "name?")
    #expect(live.terminal.cursor.column == 6)
    live.run.tell(.terminalReturned(live.run.operation("ask"), .attempt(1)))
    live.run.pass(until: 6000)
    #expect(
      live.terminal.text == """
        sample.yml  2 steps, 4 at once
        ✓ other  0.1s
        > ask
        name?
        [1/2] ━━━━━━━━━━──────────  1 running  6.0s
          > ask  6.0s   name?

        """)
    live.check()
  }

  @Test func `hides secrets before anything is cut`() throws {
    let secret = "hunter2-and-more"
    let live = try LiveRun(samplePlan("\(secret)x"), columns: 34) {
      $0.masker = Masker(secrets: [Array(secret.utf8)])
    }
    live.run.start("\(secret)x")
    live.run.pass(until: 1000)
    #expect(live.terminal.lines.last == "  > ***x         1.0s")
  }
}

struct `The live display, whatever happens,` {
  private static let texts = [
    "plain\n", "no end", "\r", "50%\r", "図書館", "e\u{301}\n", "\u{1b}[31mred", "\u{1b}[0m\n",
    "\u{1b}[2J\u{1b}[5A", "\t", "\u{8}\u{7}\n", "👩‍👩‍👧\n", String(repeating: "long ", count: 60),
    String(repeating: "x", count: 2000) + "\n", "[9/9] not a block\n",
  ]

  enum Terminals: CaseIterable {
    /// Large enough for the block, even after its lines were wrapped again.
    case large
    case smallOfOneSize
    /// Parts of a block that is larger than the terminal scroll out of reach.
    case smallOfManySizes
  }

  @Test(arguments: Terminals.allCases, 1...6)
  func `shows each end once, and every frame is whole`(kind: Terminals, seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let isLarge = kind == .large
    func rows() -> Int { .random(in: isLarge ? 50...60 : 3...30, using: &generator) }
    func columns() -> Int { .random(in: isLarge ? 40...120 : 24...120, using: &generator) }
    let ids = (1...30).map { "s\($0)" }
    let live = try LiveRun(
      samplePlan(ids.joined(separator: ";"), width: 30), rows: rows(), columns: columns(),
      wrapsAgain: seed % 2 == 0)
    var waiting = ids
    var running: [String] = []
    var ended: [String] = []
    var time = 0
    while ended.count < ids.count {
      switch Int.random(in: 0..<8, using: &generator) {
      case 0...1 where !waiting.isEmpty && running.count < (isLarge ? 8 : 30):
        running.append(waiting.removeFirst())
        live.run.start(running[running.count - 1])
      case 2...4:
        guard let id = running.randomElement(using: &generator),
          let text = Self.texts.randomElement(using: &generator)
        else { continue }
        try live.run.print(id, text)
      case 5 where !running.isEmpty:
        let id = running.remove(at: .random(in: running.indices, using: &generator))
        live.run.end(id)
        live.run.settle(id)
        ended.append(id)
      case 6 where kind != .smallOfOneSize && Int.random(in: 0..<4, using: &generator) == 0:
        live.run.resize(rows: rows(), columns: columns())
      default:
        time += .random(in: 1...300, using: &generator)
        live.run.pass(until: time)
      }
    }
    live.run.finish()
    live.check()
    if kind == .smallOfManySizes { return }
    let ends = live.terminal.lines.filter { $0.hasPrefix("✓ s") && !$0.hasPrefix("✓ sample") }
    #expect(ends.map { String($0.split(separator: " ")[1]) } == ended)
    #expect(live.terminal.lines.count { $0.hasPrefix("✓ sample") } == 1)
    #expect(live.terminal.lines.filter { $0.contains(" running") } == [])
  }
}
