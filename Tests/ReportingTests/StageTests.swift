// Who holds the stage, and when others are heard.

import Glibc
import Masking
import Plans
import Reporting
import Scheduling
import Testing

@Suite struct `The stage` {
  @Test func `what failed is shown at once, between whole lines of who holds the stage`() throws {
    let run = try StagedRun(samplePlan("a; b; c"))
    run.start("a", "b", "c")
    try run.print("a", "a1\na2 is ")
    try run.print("b", "b1\nb2")
    try run.print("c", "c1\n")
    run.end("b", .exited(2))
    run.settle("b", .failed)
    run.end("c")
    run.settle("c")
    try run.print("a", "whole\na3\n")
    run.end("a")
    run.settle("a")
    #expect(
      run.standardError == """
        sample.yml  3 steps, 4 at once
        > a
        a1
        > b
        b1
        b2
        ✗ b  exit 2 after 0.1s
        ✓ c  0.1s
        > a (continued)
        a2 is whole
        a3
        > c
        c1
        ✓ a  0.1s

        """)
  }

  @Test(arguments: [nil, 80])
  func `what follows a line about another step says whose it is`(columns: Int?) throws {
    var options = ScreenOptions()
    options.color = .never
    let run = try StagedRun(samplePlan("a; b; c; d"), .grouped, options, columns: columns)
    run.start("a", "b", "c", "d")
    try run.print("a", "a1\n")
    run.end("b", .exited(1), after: 200)
    run.settle("b", .failed)
    run.end("c")
    run.settle("c")
    try run.print("a", "a2\n")
    run.tell(.notice("nothing that concerns a step"))
    run.tell(.waiting(run.operation("a"), "tcp localhost:80"))
    try run.print("a", "a3\na4")
    run.end("d")
    run.settle("d")
    run.end("a")
    run.settle("a")
    let rail = columns == nil ? "" : "│ "
    #expect(
      run.standardError == """
        sample.yml  4 steps, 4 at once
        > a
        \(rail)a1
        ✗ b  exit 1 after 0.2s
        ✓ c  0.1s
        > a (continued)
        \(rail)a2
        ! nothing that concerns a step
        … a  waiting for tcp localhost:80
        \(rail)a3
        ✓ d  0.1s
        > a (continued)
        \(rail)a4
        ✓ a  0.1s

        """)
  }

  @Test func `who is silent for a second leaves it, and comes back with a line`() throws {
    let run = try StagedRun(samplePlan("a; b; c"))
    run.start("a", "b", "c")
    run.at(100)
    try run.print("a", "a1\n")
    run.awaitDeadline(at: nil)
    run.at(300)
    try run.print("b", "b1\n")
    try run.print("c", "c1\n")
    run.end("c")
    run.settle("c")
    run.awaitDeadline(at: 1100)
    run.awaitDeadline(at: nil)
    run.at(1400)
    try run.print("a", "a2\n")
    run.awaitDeadline(at: nil)
    run.at(1500)
    try run.print("b", "b2\n")
    run.end("b")
    run.settle("b")
    run.end("a")
    run.settle("a")
    #expect(
      run.standardError == """
        sample.yml  3 steps, 4 at once
        > a
        a1
        ✓ c  0.1s
        > c
        c1
        > b
        b1
        > a (continued)
        a2
        ✓ b  0.1s
        > b (continued)
        b2
        ✓ a  0.1s

        """)
  }

  @Test func `who was left in the middle of a line is finished where it ends`() throws {
    let run = try StagedRun(samplePlan("a; b"))
    run.start("a", "b")
    try run.print("a", "whole\npart")
    run.at(900)
    try run.print("b", "b1\n")
    run.awaitDeadline(at: 1000)
    run.end("a")
    run.settle("a")
    run.end("b")
    run.settle("b")
    #expect(
      run.standardError == """
        sample.yml  2 steps, 4 at once
        > a
        whole
        > b
        b1
        ✓ a  0.1s
        > a (continued)
        part
        ✓ b  0.1s

        """)
  }

  @Test(arguments: [false, true])
  func `who holds it waits while another has the terminal, and may end`(together: Bool) throws {
    let run = try StagedRun(samplePlan("a; t; b"), together: together)
    run.start("a", "t", "b")
    try run.print("a", "a1\n")
    let typist = (run.operation("t"), run.role("t"))
    run.tell(.terminalTaken(typist.0, typist.1))
    try run.print("a", "a2\n")
    try run.print("t", "name? ")
    try run.print("b", "b1\n")
    run.end("b")
    run.end("a")
    run.end("t")
    run.tell(.terminalReturned(typist.0, typist.1))
    for id in ["a", "t", "b"] { run.settle(id) }
    run.pass(until: 5000)
    run.finish()
    let lines = run.standardOutput.split(separator: "\n").map(String.init)
    let shown = ["> a", "a1", "> t", "name? ", "> a (continued)", "a2", "> b", "b1"]
    #expect(
      lines.filter { !$0.contains("sample.yml") && !$0.hasPrefix("✓") }
        == shown.filter { together || !$0.hasPrefix("> ") })
  }

  @Test func `where nothing could tell their lines apart groups stay whole`() throws {
    let run = try StagedRun(samplePlan("a; b; c"), together: false)
    run.start("a", "b", "c")
    try run.print("a", "a1\n")
    try run.print("b", "b1\n")
    run.at(5000)
    run.awaitDeadline(at: nil)
    run.end("b", .exited(1))
    run.settle("b", .failed)
    try run.print("a", "a2\n")
    run.end("a")
    run.settle("a")
    #expect(run.standardOutput == "a1\na2\nb1\n")
  }
}

@Suite struct `Much output that has waited` {
  private let much = String(repeating: String(repeating: "x", count: 99) + "\n", count: 200_000)

  /// Time limits and signals are looked at between turns.
  @Test(arguments: [false, true]) func `is shown in parts`(together: Bool) throws {
    let run = try StagedRun(samplePlan("a; b; c"), together: together)
    run.start("a", "b", "c")
    try run.print("a", "a1\n")
    try run.print("b", much)
    try run.print("c", "c1\n")
    run.end("b")
    run.settle("b")
    run.end("a")
    #expect(run.standardOutput.utf8.count < 10 << 20)
    run.end("c")
    run.settle("a")
    #expect(run.deadline.map { $0 < 1000 } == true)
    run.pass(until: 1)
    run.settle("c")
    let shown = run.standardOutput
    let order = ["a1\n", together ? "> b\n" : "", "xx\n", together ? "> c\n" : "", "c1\n"]
    var rest = shown[...]
    for part in order where !part.isEmpty {
      let place = rest.firstRange(of: part)
      #expect(place != nil, "\(part)")
      if let place { rest = rest[place.upperBound...] }
    }
    #expect(shown.utf8.count { $0 == UInt8(ascii: "x") } == 200_000 * 99)
    #expect(!rest.contains("xx"))
    run.awaitDeadline(at: nil)
  }

  @Test func `is shown to its end when the run ends`() throws {
    let run = try StagedRun(samplePlan("a; b"), together: false)
    run.start("a", "b")
    try run.print("a", "a1\n")
    try run.print("b", much, isTold: false)
    run.end("b")
    run.settle("b")
    run.end("a")
    run.settle("a")
    run.finish()
    let isWhole = run.standardOutput == "a1\n" + much
    #expect(isWhole)
  }

  @Test(arguments: [false, true])
  func `in one line without an end is shown in parts`(together: Bool) throws {
    let line = String(repeating: "x", count: 20_000_000)
    let run = try StagedRun(samplePlan("a; b"), together: together)
    run.start("a", "b")
    try run.print("a", "a1\n")
    try run.print("b", line)
    run.end("a")
    run.settle("a")
    var sizes = [run.standardOutput.utf8.count]
    run.end("b")
    sizes.append(run.standardOutput.utf8.count)
    while run.deadline.map({ $0 < 1_000_000 }) == true {
      run.wake()
      sizes.append(run.standardOutput.utf8.count)
    }
    run.settle("b")
    run.awaitDeadline(at: nil)
    let most = zip(sizes, sizes.dropFirst()).map { $1 - $0 }.max() ?? 0
    #expect(most < 10 << 20)
    let shown = run.standardOutput
    #expect(shown.contains(line + "\n"))
  }

  @Test func `of a step that goes on is caught up with`() throws {
    let run = try StagedRun(samplePlan("a; b"), together: false)
    run.start("a", "b")
    try run.print("a", "a1\n")
    try run.print("b", much)
    run.end("a")
    run.settle("a")
    #expect(run.standardOutput.utf8.count < 16 << 20)
    try run.print("b", "b2\n")
    run.end("b")
    run.settle("b")
    run.pass(until: 1)
    let isWhole = run.standardOutput == "a1\n" + much + "b2\n"
    #expect(isWhole)
  }
}

@Suite struct `On a terminal` {
  private func run(
    _ plan: Plan, columns: Int, color: ColorChoice = .never, usesASCII: Bool = false
  ) throws -> StagedRun {
    var options = ScreenOptions()
    options.color = color
    options.usesASCII = usesASCII
    return try StagedRun(plan, .grouped, options, columns: columns)
  }

  @Test func `lines of a group have a rail, and colours go on behind it`() throws {
    let run = try run(samplePlan("a; b"), columns: 80, color: .always)
    run.start("a", "b")
    try run.print("a", "\u{1b}[31mred\nred")
    run.end("b")
    run.settle("b")
    try run.print("a", " still\u{1b}[0m\nplain\roverwritten\n\tlast")
    run.end("a")
    run.settle("a")
    let shown = run.standardError.replacing("\u{1b}[", with: "^")
    #expect(
      shown == """
        ^1msample.yml^0m  2 steps, 4 at once
        ^2m>^0m a
        ^2m│ ^0m^31mred
        ^0m^32m✓^0m b  0.1s
        ^2m>^0m a ^2m(continued)^0m
        ^31m^0m^2m│ ^0m^31mred still^0m
        ^2m│ ^0mplain
        ^2m│ ^0moverwritten
        ^2m│ ^0m\tlast
        ^32m✓^0m a  0.1s

        """)
  }

  @Test func `what overwrites a line begins another one with the name of its step`() throws {
    var options = ScreenOptions()
    options.color = .never
    let run = try StagedRun(samplePlan("bar"), .prefixed, options, columns: 80)
    try run.pass("bar", printing: "10%\r20%\r[deploy] ok\n\n\r\nend\r\n")
    #expect(
      run.standardError == """
        sample.yml  1 step, 4 at once
        [bar] 10%
        [bar] 20%
        [bar] [deploy] ok
        [bar] 
        [bar] 
        [bar] end
        ✓ bar  0.1s

        """)
  }

  @Test func `the rail is one of ASCII where the rest is`() throws {
    let run = try run(samplePlan("a"), columns: 80, usesASCII: true)
    try run.pass("a", printing: "one\n\ntwo")
    #expect(
      run.standardError == """
        sample.yml  1 step, 4 at once
        > a
        | one
        | 
        | two
        + a  0.1s

        """)
  }

  @Test func `a secret in a name is masked before the name is cut`() throws {
    var options = ScreenOptions()
    options.masker = Masker(secrets: [Array("correct-horse".utf8)])
    for columns in 12...60 {
      let run = try StagedRun(
        samplePlan("send-to-correct-horse-and-others; after: send-to-correct-horse-and-others"),
        .grouped, options, columns: columns)
      run.start("send-to-correct-horse-and-others")
      try run.print("send-to-correct-horse-and-others", "one\n")
      run.end("send-to-correct-horse-and-others", .exited(1))
      run.settle("send-to-correct-horse-and-others", .failed)
      let root = run.operation("send-to-correct-horse-and-others")
      run.settle("after", .blocked, .dependency(root))
      run.finish(1)
      #expect(!run.standardError.contains(/corre|horse|ect-ho/), "\(run.standardError)")
    }
  }

  @Test(arguments: [80, 40, 20]) func `messages fit, names are cut in the middle`(columns: Int)
    throws
  {
    let settings = StepSettings(name: "Unit tests", workingDirectory: "./sources/of/it")
    let long = "integration-tests-日本語-of-everything"
    let run = try run(
      samplePlan("\(long); pack: \(long); notify: pack", settings: settings) { _ in
        .script("make test TARGET=everything")
      }, columns: columns)
    run.start(long)
    try run.print(long, String(repeating: "wide ", count: 30) + "\nlast\n")
    run.at(3400)
    run.end(long, .exited(1), after: 3400)
    let root = Cause.dependency(run.operation(long))
    run.settle(long, .failed)
    run.settle("pack", .blocked, root)
    run.settle("notify", .blocked, root)
    run.tell(.notice("the limit on open files is 16, which is not enough"))
    run.finish(1)
    // What a step prints is for the terminal to wrap; a path is of use as a whole only.
    let lines = run.standardError.replacing(/^│ .*\n/.anchorsMatchLineEndings(), with: "")
      .replacing(/RUN.*\.log/, with: "PATH")
    #expect(lines == Self.expected[columns])
  }

  private static let expected = [
    80: """
    sample.yml  3 steps, 4 at once
    > integration-tests-日本語-of-everything (Unit tests)
    ✗ integration-tests-日本語-of-everything  exit 1 after 3.4s  (Unit tests)
    - pack                      blocked: 'integration-test…-of-everything' failed  …
    - notify                    blocked: 'integration-test…-of-everything' failed  …
    ! the limit on open files is 16, which is not enough

    ✗ integration-tests-日本語-of-everything (Unit tests)  exit 1 after 3.4s
      sample.yml:1
      $ make test TARGET=everything    in ./sources/of/it
      | wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide …
      | last
      log
      PATH
      (2 lines)
      blocked because of it: pack, notify

    ✗ sample.yml: 1 failed, 2 blocked in 3.4s

    """,
    40: """
    sample.yml  3 steps, 4 at once
    > integration-tests-日本語-of-everything
      (Unit tests)
    ✗ integrat…rything  exit 1 after 3.4s  …
    - pack              blocked: 'integrat……
    - notify            blocked: 'integrat……
    ! the limit on open files is 16, which
      is not enough

    ✗ integration-tests-日本語-of-everything
      (Unit tests)  exit 1 after 3.4s
      sample.yml:1
      $ make test TARGET=everything
        in ./sources/of/it
      | wide wide wide wide wide wide wide …
      | last
      log
      PATH
      (2 lines)
      blocked because of it: pack, notify

    ✗ sample.yml: 1 failed, 2 blocked
      in 3.4s

    """,
    20: """
    sample.yml  3 steps…
    > integrati…erything
      (Unit tests)
    ✗ inte…ing  exit 1 …
    - pack      blocked…
    - notify    blocked…
    ! the limit on open
      files is 16, which
      is not enough

    ✗ integrati…erything
      (Unit tests)
      exit 1 after 3.4s
      sample.yml:1
      $ make test TARGE…
        in ./sou…s/of/it
      | wide wide wide …
      | last
      log
      PATH
      (2 lines)
      blocked because of
        it: pack, notify

    ✗ sample.yml:
      1 failed,
      2 blocked in 3.4s

    """,
  ]

  @Test func `what nobody takes any more is not waited for`() throws {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let run = try StagedRun(
      samplePlan("a; b; c"), .grouped, ScreenOptions(), elsewhere: full)
    run.start("a", "b", "c")
    try run.print("b", "b1\n")
    for _ in 0..<5 { try run.print("a", String(repeating: "line\n", count: 1 << 18)) }
    run.end("a")
    run.settle("a")
    try run.print("b", "b2\n")
    run.end("b")
    run.settle("b")
    run.awaitDeadline(at: nil)
  }

  @Test func `what services print is shown a piece at a time`() throws {
    let run = try StagedRun(samplePlan("s&; a"))
    run.start("s")
    let line = String(repeating: "x", count: 99) + "\n"
    try run.print("s", String(repeating: line, count: 1 << 17))
    let first = run.standardError.utf8.count
    #expect(first > 1 << 20 && first < 10 << 20)
    run.wake()
    #expect(run.standardError.utf8.count > first)
    run.end("s")
    while let due = run.deadline, due < 1_000_000 { run.wake() }
    let shown = run.standardError.split(separator: "\n").filter { $0.hasPrefix("[s] xxx") }
    #expect(shown.count == 1 << 17)
  }
}
