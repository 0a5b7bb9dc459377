import Plans
import Reporting
import Scheduling
import Testing

@Suite struct `Summary` {
  @Test func `of many changes the first and the last are told`() throws {
    let run = try StagedRun(samplePlan("a"))
    for width in 1...23 {
      run.tell(.controlled(ControlNote(.setWidth(.default, width), by: "anna")))
    }
    try run.pass("a", after: 100)
    run.finish(0)
    let line = try #require(
      run.standardError.split(separator: "\n").first { $0.contains("changed during the run") })
    let told = line.split(separator: ", ").compactMap { (change: Substring) -> Int? in
      change.split(separator: " ").lazy.compactMap { Int($0) }.first
    }
    let expected: [Int] = Array(1...10) + [3] + Array(14...23)
    #expect(told == expected)
    #expect(line.contains(", 3 more, "))
  }

  @Test func `the first failure comes first, in full`() throws {
    var retry = RetryPolicy()
    retry.limit = 1
    let settings = StepSettings(name: "Unit tests", workingDirectory: "./src", retry: retry)
    let run = try StagedRun(
      samplePlan("lint; unit; slow; pack: unit; notify: pack; other", settings: settings) {
        _ in .script("make test")
      })
    try run.pass("lint", after: 2000)
    run.start("unit", "slow", "other")
    try run.print("unit", (1...50).map { "line \($0)\n" }.joined())
    run.at(3000)
    run.end("unit", .exited(1), after: 3400)
    run.settle("unit", .failed)
    run.settle("pack", .blocked, .dependency(run.operation("unit")))
    run.settle("notify", .blocked, .dependency(run.operation("unit")))
    run.end("other", .signalled(9), after: 500)
    run.settle("other", .failed)
    run.tell(.stopping(.failure(run.operation("unit"))))
    run.end("slow", .signalled(15), after: 600)
    run.settle("slow", .cancelled, .stopped(.failure(run.operation("unit"))))
    run.at(9800)
    run.finish(1, .failure(run.operation("unit")))
    let shown = (11...50).map { "  | line \($0)\n" }.joined()
    let progress = run.standardError.split(separator: "\n\n", maxSplits: 1)[0]
    #expect(
      progress.split(separator: "\n").suffix(6).joined(separator: "\n") == """
        ✗ unit    exit 1 after 3.4s (attempt 1 of 2)  (Unit tests)
        - pack    blocked: 'unit' failed  (Unit tests)
        - notify  blocked: 'unit' failed  (Unit tests)
        ✗ other   killed by SIGKILL after 0.5s (attempt 1 of 2)  (Unit tests)
        ! stopping: 'unit' failed
        - slow    cancelled: 'unit' failed  (Unit tests)
        """)
    #expect(
      run.standardError.dropFirst(progress.utf8.count - 26).description.hasSuffix(
        """

        ✗ unit (Unit tests)  exit 1 after 3.4s (attempt 1 of 2)  sample.yml:2
          $ make test    in ./src
        \(shown)  log  RUN/unit.1.log  (50 lines, last 40 shown)
          blocked because of it: pack, notify

        ✗ other (Unit tests)  killed by SIGKILL after 0.5s (attempt 1 of 2)  sample.yml:6
          $ make test    in ./src
          it printed nothing

        ✗ sample.yml: 2 failed, 2 blocked, 1 cancelled, 1 ok in 9.8s, stopped: 'unit' failed\
           (6.5s of work, longest lint 2.0s)

        """))
  }

  @Test func `five failures are shown in full, ten with a line, the others counted`() throws {
    let ids = (1...19).map { "f\($0)" }
    let run = try StagedRun(samplePlan(ids.joined(separator: "; ") + "; v: f2; w: v; x: f9"))
    for id in ids {
      run.start(id)
      try run.print(id, (1...12).map { "\(id) line \($0)\n" }.joined())
      run.end(id, .exited(1))
      run.settle(id, .failed)
    }
    for id in ["v", "w"] { run.settle(id, .blocked, .dependency(run.operation("f2"))) }
    run.settle("x", .blocked, .dependency(run.operation("f9")))
    run.finish(1)
    func block(_ number: Int, from line: Int, _ size: String, _ end: String = "") -> String {
      let lines = (line...12).map { "  | f\(number) line \($0)\n" }.joined()
      return "✗ f\(number)  exit 1 after 0.1s  sample.yml:\(number)\n  $ echo f\(number)\n"
        + "\(lines)  log  RUN/f\(number).1.log  (\(size))\n\(end)\n"
    }
    let part = "12 lines, last 10 shown"
    let blocks =
      block(1, from: 1, "12 lines") + block(2, from: 3, part, "  blocked because of it: v, w\n")
      + (3...5).map { block($0, from: 3, part) }.joined()
    let lines = (6...15).map { "✗ f\($0)  exit 1 after 0.1s  sample.yml:\($0)\n" }.joined()
    let summary = run.standardError.split(separator: "\n\n", maxSplits: 1)[1]
    #expect(
      summary == """
        \(blocks)\(lines)✗ 4 more failed: f16, f17, f18, f19

        ✗ sample.yml: 19 failed, 3 blocked in 0s

        """)
  }

  @Test func `a failure with one line says why its command did not start`() throws {
    let ids = (1...6).map { "f\($0)" }
    let run = try StagedRun(samplePlan(ids.joined(separator: ";")))
    let reason = "cannot run './tool': " + String(repeating: "a long story ", count: 9)
    for id in ids {
      run.end(id, .notStarted(reason + "\nof two lines", exitCode: 126))
      run.settle(id, .failed)
    }
    run.finish(1)
    #expect(run.standardError.contains("\n\n✗ f6  \(reason)  sample.yml:6\n\n✗ sample.yml: 6"))
  }

  @Test(arguments: [(2, 2), (6, 6), (7, 5), (30, 5)])
  func `of a script some lines are shown`(count: Int, shown: Int) throws {
    let lines = (1...count).map { "  step-\($0)" }
    let script = "# Makes it.\n\n" + lines.joined(separator: "\n \n") + "\n"
    let run = try StagedRun(
      samplePlan("a", settings: StepSettings(workingDirectory: "src")) { _ in
        .script(ScriptText(script))
      })
    run.start("a")
    run.end("a", .exited(3))
    run.settle("a", .failed)
    run.finish(1)
    var expected = "✗ a  exit 3 after 0.1s  sample.yml:1\n  $   step-1    in src\n"
    for number in 2...shown { expected += "  >   step-\(number)\n" }
    if shown < count { expected += "  > … and \(count - shown) more lines\n" }
    #expect(run.standardError.contains("\n\n\(expected)  it printed nothing\n\n"))
  }

  @Test func `where a shell would not take the path of a log, a command is named`() throws {
    let run = try StagedRun(samplePlan("m[n=1]/x; it's; plain; größe"))
    for id in ["m[n=1]/x", "it's", "plain", "größe"] {
      run.start(id)
      try run.print(id, "one\n")
      run.end(id, .exited(1))
      run.settle(id, .failed)
    }
    run.finish(1)
    let logs = run.standardError.split(separator: "\n").filter { $0.hasPrefix("  log  ") }
    #expect(
      logs == [
        "  log  oprun logs RUN 'm[n=1]/x'  (1 line)", #"  log  oprun logs RUN 'it'\''s'  (1 line)"#,
        "  log  RUN/plain.1.log  (1 line)", "  log  RUN/größe.1.log  (1 line)",
      ])
  }

  @Test func `of a line that is too long its end is shown, and marked`() throws {
    let run = try StagedRun(samplePlan("a; b"))
    run.start("a", "b")
    try run.print("a", "START" + String(repeating: "é", count: 50_000) + "END")
    run.end("a", .exited(1))
    run.settle("a", .failed)
    let lines = (1...200).map { "\($0) " + String(repeating: "x", count: 1990) + "\n" }
    try run.print("b", lines.joined())
    run.end("b", .exited(1))
    run.settle("b", .failed)
    run.finish(1)
    let shown = run.standardError.split(separator: "\n").filter {
      $0.hasPrefix("  | ") || $0.hasPrefix("  log")
    }
    try #require(shown.count > 2)
    #expect(shown[0].hasPrefix("  | …éé") && shown[0].hasSuffix("ééEND"))
    #expect(shown[0].count == 4096)
    #expect(shown[1] == "  log  RUN/a.1.log  (1 line, its end shown)")
    #expect(shown[2].hasPrefix("  | 191 xx"))
    #expect(shown.last == "  log  RUN/b.1.log  (200 lines, last 10 shown)")
  }

  @Test func `of many hooks that failed, some are shown and the others named`() throws {
    let ids = (1...30).map { "g\($0)" }
    let members = ids.map { "\($0)m" }
    var plan = samplePlan((ids + members).joined(separator: ";"))
    for id in ids { plan = plan.group(id, .nested(path: nil), of: ["\(id)m"]) }
    let run = try StagedRun(plan, .quiet)
    for id in ids {
      run.end(id, .exited(3), role: .hook(.onComplete, index: 1))
    }
    run.finish(1)
    let shown = run.standardError.split(separator: "\n").filter { $0.contains("hook") }
    #expect(shown.count == 6)
    #expect(
      shown.last == "! 25 more hooks failed: \(ids[5..<25].joined(separator: ", ")) and 5 more")
  }

  @Test func `the critical path is the longest chain of work`() throws {
    let run = try StagedRun(samplePlan("a; b; c: a b; d: c; e: a"))
    run.start("a", "b")
    run.at(1000)
    run.end("a", after: 1000)
    run.settle("a")
    run.start("e")
    run.at(2000)
    run.end("b", after: 2000)
    run.settle("b")
    run.start("c")
    run.at(2500)
    run.end("c", after: 500)
    run.settle("c")
    try run.pass("d", after: 100)
    run.end("e", after: 1600)
    run.settle("e")
    run.finish()
    #expect(
      run.standardError.hasSuffix(
        "✓ sample.yml: 5 ok in 2.6s   (5.2s of work, critical path b > c > d 2.6s)\n"))
  }

  @Test func `a long critical path is cut in its middle`() throws {
    let ids = (0..<10).map { "s\($0)" }
    let text = ids.enumerated().map { $0 == 0 ? $1 : "\($1): s\($0 - 1)" }.joined(separator: ";")
    let run = try StagedRun(samplePlan(text), .grouped)
    for id in ids { try run.pass(id) }
    run.finish()
    #expect(
      run.standardError.hasSuffix(
        "critical path s0 > s1 > s2 > … 4 more … > s7 > s8 > s9 1.0s)\n"))
  }

  @Test(
    arguments: [
      (.exited(1), false, "exit 1 after 2.0s"),
      (.signalled(9), false, "killed by SIGKILL after 2.0s"),
      (.signalled(11), false, "killed by SIGSEGV after 2.0s"),
      (.signalled(9), true, "timed out after 1m30s"),
      (.notStarted("command not found: mkae", exitCode: 127), false, "command not found: mkae"),
    ] as [(CommandEnd.Status, Bool, String)])
  func `ends are told in words`(
    status: CommandEnd.Status, timedOut: Bool, words: String
  ) throws {
    let run = try StagedRun(samplePlan("a", settings: StepSettings(timeout: 90_000_000_000)))
    run.start("a")
    run.end("a", status, timedOut: timedOut, after: 2000)
    run.settle("a", timedOut ? .timedOut : .failed)
    #expect(run.standardError.hasSuffix("\n✗ a  \(words)\n"))
  }

  @Test func `the kernel may have killed only what took much memory`() throws {
    for (peak, words) in [(Int64(31), ""), (32, " (out of memory?)")] {
      let run = try StagedRun(samplePlan("a"))
      run.start("a")
      run.end("a", .signalled(9), after: 2000, peakMemory: peak << 20)
      run.settle("a", .failed)
      #expect(run.standardError.hasSuffix("\n✗ a  killed by SIGKILL\(words) after 2.0s\n"))
    }
  }

  @Test func `allowed failures are shown and counted apart`() throws {
    let run = try StagedRun(samplePlan("a; b"))
    run.start("a")
    run.end("a", .exited(3))
    run.settle("a", .failed, isAllowed: true)
    run.settle("b", .cached)
    run.finish()
    #expect(
      run.standardError == """
        sample.yml  2 steps, 4 at once
        ! a  exit 3 after 0.1s, allowed
        = b  up to date
        ✓ sample.yml: 1 failed but allowed, 1 up to date in 0s

        """)
  }

  @Test func `thousands that end at once are a few lines`() throws {
    let ids = (0..<1000).map { "s\($0)" }
    let plan = samplePlan("a;" + ids.map { "\($0): a" }.joined(separator: ";"))
    let run = try StagedRun(plan)
    run.start("a")
    run.end("a", .exited(1))
    run.settle("a", .failed)
    let turn = try StagedTurn(plan)
    for id in ids { turn.settle(run.operation(id), .blocked, .dependency(run.operation("a"))) }
    #expect(turn.lines.count == 12)
    #expect(turn.lines.last == "- … and 990 more")
  }

  @Test func `what is left behind, notices and signals have a line`() throws {
    let run = try StagedRun(samplePlan("a; b"))
    run.start("a")
    let processes = (1...7).map { OrphanProcess(processID: Int32($0), name: "sleep") }
    run.tell(.orphansFound(run.operation("a"), processes: [processes[0]], action: .warn))
    run.tell(.orphansFound(run.operation("a"), processes: processes, action: .kill))
    run.tell(
      .outOfReach(
        run.operation("a"),
        processes: [
          OrphanProcess(processID: 8, name: "sl\u{1b}[Aeep", owner: "root"),
          OrphanProcess(processID: 9, name: "sudo", owner: "1001"),
        ]))
    run.tell(.notice("at most 10 steps run at once"))
    run.tell(.stopping(.signal(2)))
    run.settle("b", .cancelled, .stopped(.signal(2)))
    run.end("a", .signalled(15), after: 100)
    run.settle("a", .cancelled, .stopped(.signal(2)))
    run.finish(130, .signal(2))
    #expect(
      run.standardError == """
        sample.yml  2 steps, 4 at once
        ! a  left 1 process behind: sleep (1)
        ! a  left 7 processes behind, killed: sleep (1), sleep (2), sleep (3), sleep (4), sleep (5), …
        ! a  cannot signal 'sl\\u{1b}[Aeep' (process 8, user root)
        ! a  cannot signal 'sudo' (process 9, user 1001)
        ! at most 10 steps run at once
        ! stopping: SIGINT; a second signal kills running commands
        - b  did not start: SIGINT
        - a  cancelled: SIGINT

        - a  killed by SIGTERM after 0.1s  sample.yml:1
          $ echo a
          it printed nothing

        ✗ sample.yml: 2 cancelled in 0s, stopped: SIGINT

        """)
  }
}
