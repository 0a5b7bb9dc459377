import Plans
import Reporting
import Scheduling
import Testing

@Suite struct `Grouped output` {
  @Test func `each step has a line, and its output before it`() throws {
    let run = try StagedRun(samplePlan("lint; unit"))
    try run.pass("lint")
    try run.pass("unit", printing: "one\ntwo\n", after: 1200)
    run.finish()
    #expect(
      run.standardError == """
        sample.yml  2 steps, 4 at once
        ✓ lint  0.1s
        > unit
        one
        two
        ✓ unit  1.2s
        ✓ sample.yml: 2 ok in 1.3s   (1.3s of work, longest unit 1.2s)

        """)
  }

  @Test func `the oldest step streams, the others wait for their turn`() throws {
    let run = try StagedRun(samplePlan("a; b; c; d"))
    run.start("a", "b", "c", "d")
    try run.print("b", "b1\n")
    try run.print("d", "d1\n")
    try run.print("c", "c1\n")
    try run.print("b", "b2\n")
    run.end("c")
    run.settle("c")
    try run.print("a", "a1\n")
    try run.print("b", "b3\n", isTold: false)
    run.end("b")
    run.settle("b")
    try run.print("d", "d2\n")
    run.end("a")
    run.settle("a")
    run.end("d")
    run.settle("d")
    #expect(
      run.standardError == """
        sample.yml  4 steps, 4 at once
        > b
        b1
        b2
        ✓ c  0.1s
        > b (continued)
        b3
        > c
        c1
        > d
        d1
        ✓ b  0.1s
        > d (continued)
        d2
        ✓ a  0.1s
        > a
        a1
        ✓ d  0.1s

        """)
  }

  @Test func `a message never breaks a line, and a group ends at a line end`() throws {
    let run = try StagedRun(samplePlan("a; b"))
    run.start("a", "b")
    try run.print("a", "whole\npart")
    run.end("b")
    run.settle("b")
    try run.print("a", "ial\nno newline")
    run.end("a")
    run.settle("a")
    #expect(
      run.standardError == """
        sample.yml  2 steps, 4 at once
        > a
        whole
        ✓ b  0.1s
        > a (continued)
        partial
        no newline
        ✓ a  0.1s

        """)
  }

  @Test func `apart from messages, standard output is the output and nothing else`() throws {
    let run = try StagedRun(samplePlan("a; b"), together: false)
    try run.pass("a", printing: "1\n\u{1b}[2J\r\n")
    try run.pass("b", printing: "2\n")
    run.finish()
    #expect(run.standardOutput == "1\n\u{1b}[2J\r\n2\n")
    #expect(
      run.standardError == """
        sample.yml  2 steps, 4 at once
        ✓ a  0.1s
        ✓ b  0.1s
        ✓ sample.yml: 2 ok in 0.2s   (0.2s of work, longest a 0.1s)

        """)
  }

  @Test func `large output is copied whole`() throws {
    let run = try StagedRun(samplePlan("a"), together: false)
    let text = (0..<40_000).map { "line \($0)\n" }.joined()
    try run.pass("a", printing: text)
    #expect(run.standardOutput == text)
  }

  @Test func `attempts and hooks are groups of their own`() throws {
    let run = try StagedRun(samplePlan("a"))
    run.start("a")
    try run.print("a", "first\n")
    run.end("a", .exited(1), after: 3400)
    run.tell(.retrying(run.operation("a"), nextAttempt: 2, delay: 1_000_000_000))
    run.start("a")
    try run.print("a", "second\n")
    run.end("a", after: 200)
    let hook = CommandRole.hook(.onSuccess, index: 1)
    run.tell(.started(run.operation("a"), hook))
    try run.print("a", "hooked\n", role: hook)
    run.end("a", .exited(3), role: hook)
    run.settle("a", .failed, .hook(.onSuccess))
    #expect(
      run.standardError == """
        sample.yml  1 step, 4 at once
        > a
        first
        ↻ a  exit 1 after 3.4s, attempt 2 in 1.0s
        > a (attempt 2)
        second
        > a (on_success)
        hooked
        ! a  on_success hook: exit 3 after 0.1s
        ✗ a  on_success hook failed

        """)
  }

  @Test func `a log that is gone is told, and the run goes on`() throws {
    let run = try StagedRun(samplePlan("a"))
    run.start("a")
    run.tell(.outputGrew(run.operation("a"), .attempt(1), byteCount: 3))
    run.tell(.outputGrew(run.operation("a"), .attempt(1), byteCount: 5))
    run.tell(.ended(run.operation("a"), .attempt(1), CommandEnd(.exited(0), outputByteCount: 5)))
    run.settle("a")
    #expect(
      run.standardError == """
        sample.yml  1 step, 4 at once
        ! cannot read the log 'RUN/a.1.log': it could not be written
        ✓ a  0s

        """)
  }

  @Test func `a log that was replaced before its turn came is not shown`() throws {
    let run = try StagedRun(samplePlan("a; b; c"))
    run.start("a", "b", "c")
    for id in ["a", "b", "c"] { try run.print(id, "text of \(id)\n") }
    run.at(100)
    run.end("b")
    run.settle("b")
    run.end("c")
    run.settle("c")
    try run.replaceLog(of: "b", by: "forged\n")
    run.end("a")
    run.settle("a")
    #expect(
      run.standardError == """
        sample.yml  3 steps, 4 at once
        > a
        text of a
        ✓ b  0.1s
        ✓ c  0.1s
        ! cannot read the log 'RUN/b.1.log': it was removed or replaced
        > c
        text of c
        ✓ a  0.1s

        """)
  }
}

@Suite struct `Prefixed output` {
  @Test func `every line has its step's name, and lines are whole`() throws {
    let run = try StagedRun(samplePlan("a; b"), .prefixed)
    run.start("a", "b")
    try run.print("a", "a1\na2 is ")
    try run.print("b", "b1\n")
    try run.print("a", "long\n\na3")
    run.end("a")
    run.settle("a")
    try run.print("b", "b2")
    run.end("b")
    run.settle("b")
    #expect(
      run.standardError == """
        sample.yml  2 steps, 4 at once
        [a] a1
        [b] b1
        [a] a2 is long
        [a] 
        [a] a3
        ✓ a  0.1s
        [b] b2
        ✓ b  0.1s

        """)
  }

  @Test func `a line longer than the buffer is cut between characters`() throws {
    let run = try StagedRun(samplePlan("a"), .prefixed, together: false)
    run.start("a")
    try run.print("a", "x" + String(repeating: "é", count: 40_000))
    run.end("a")
    let lines = run.standardOutput.split(separator: "\n")
    #expect(lines.map(\.utf8.count) == [4 + 65_535, 4 + 14_466])
    #expect(lines.map { $0.dropFirst(4) }.joined() == "x" + String(repeating: "é", count: 40_000))
  }
}

@Suite struct `Quiet output` {
  @Test func `success is silent`() throws {
    let run = try StagedRun(samplePlan("a; b"), .quiet)
    try run.pass("a", printing: "1\n")
    run.tell(.notice("something"))
    try run.pass("b")
    run.finish()
    #expect(run.standardError == "")
  }

  @Test func `failures show their ends, and the last line the rest`() throws {
    let run = try StagedRun(samplePlan("a; b; c: a"), .quiet)
    run.start("a", "b")
    try run.print("a", "broken a\n")
    run.at(200)
    run.end("a", .exited(1))
    run.settle("a", .failed)
    run.settle("c", .blocked, .dependency(run.operation("a")))
    run.end("b", .exited(2))
    run.settle("b", .failed)
    run.at(250)
    run.finish(1)
    #expect(
      run.standardError == """
        ✗ a  exit 1 after 0.1s  sample.yml:1
          $ echo a
          | broken a
          log  RUN/a.1.log  (1 line)
          blocked because of it: c

        ✗ b  exit 2 after 0.1s  sample.yml:2
          $ echo b
          it printed nothing

        ✗ sample.yml: 2 failed, 1 blocked in 0.3s   (0.2s of work, longest a 0.2s)

        """)
  }
}
