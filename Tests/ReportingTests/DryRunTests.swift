import Plans
import Reporting
import Testing

@Suite struct `Dry run` {
  private func dryRun(
    _ plan: Plan, _ change: (inout DrawingOptions) -> Void = { _ in }
  ) throws -> String {
    var options = DrawingOptions()
    change(&options)
    return try written { DryRun(plan, options: options).write(to: $0) }
  }

  @Test func `a chain is a column of dots`() throws {
    #expect(
      try dryRun(samplePlan("a; b: a; c: b")) == """
        1  ● a  run   first    $ echo a
        2  ● b  run   needs a  $ echo b
        3  ● c  run   needs b  $ echo c
        3 of 3 would run, 1 at once in this forecast; no estimate: no step has 'expected'

        """)
  }

  @Test func `rails branch, cross and join`() throws {
    let plan = samplePlan(
      """
      fetch; lint: fetch; build: fetch; docs: fetch;
      unit: build; e2e: build; pack: unit e2e; notify
      """)
    #expect(
      try dryRun(plan) == """
        1  ● fetch     run   first            $ echo fetch
        1  │ ● notify  run   first            $ echo notify
        2  ├─● build   run   needs fetch      $ echo build
        2  ├─┼─● lint  run   needs fetch      $ echo lint
        2  ● │ docs    run   needs fetch      $ echo docs
        3  ●─┤ unit    run   needs build      $ echo unit
        3  │ ● e2e     run   needs build      $ echo e2e
        4  ●─╯ pack    run   needs unit, e2e  $ echo pack
        8 of 8 would run, 3 at once in this forecast; no estimate: no step has 'expected'

        """)
  }

  @Test func `rails in ASCII`() throws {
    let plan = samplePlan("fetch; lint: fetch; build: fetch; unit: build; pack: unit lint")
    #expect(
      try dryRun(plan) { $0.usesASCII = true } == """
        1  * fetch    run   first             $ echo fetch
        2  |-* build  run   needs fetch       $ echo build
        2  * | lint   run   needs fetch       $ echo lint
        3  | * unit   run   needs build       $ echo unit
        4  *-' pack   run   needs unit, lint  $ echo pack
        5 of 5 would run, 2 at once in this forecast; no estimate: no step has 'expected'

        """)
  }

  @Test func `what waits for a failure would not run`() throws {
    let plan = samplePlan("build; cleanup: build!failed; report: build!done; after: cleanup")
    #expect(
      try dryRun(plan) == """
        1  ● build      run   first                $ echo build
           ├─● cleanup  skip  only if build fails  $ echo cleanup
        2  ● │ report   run   needs build (done)   $ echo report
        2    ● after    run   needs cleanup        $ echo after
        3 of 4 would run, 2 at once in this forecast; no estimate: no step has 'expected'

        """)
  }

  @Test func `waves follow the width, and the longest path goes first`() throws {
    let plan = samplePlan("a~1; b~1; c~2; d~5: c", width: 2)
    #expect(
      try dryRun(plan) == """
        1  ● c    run   first    $ echo c
        1  │ ● a  run   first    $ echo a
        2  │ ● b  run   first    $ echo b
        3  ● d    run   needs c  $ echo d
        4 of 4 would run, 2 at once in this forecast; estimate 7.0s

        """)
  }

  @Test func `unknown times are guessed, and it says so`() throws {
    let plan = samplePlan("a~90; b: a")
    #expect(try dryRun(plan).hasSuffix("estimate 3m00s, guessing 1 step without 'expected'\n"))
  }

  @Test func `queue and priority are shown when they are not the default`() throws {
    #expect(
      try dryRun(samplePlan("get@^8; put@^3: get")) == """
        1  ● get  run   first, queue net, priority very_high  $ echo get
        2  ● put  run   needs get, queue net, priority 3      $ echo put
        2 of 2 would run, 1 at once in this forecast; no estimate: no step has 'expected'

        """)
  }

  @Test func `no width starts nothing`() throws {
    #expect(
      try dryRun(samplePlan("a; b: a", width: 0)) == """
           ● a  skip  max_parallel is 0  $ echo a
           ● b  skip  max_parallel is 0  $ echo b
        0 of 2 would run

        """)
  }

  @Test func `a long command is clipped, and whole with verbose`() throws {
    let script = "first line of many\nsecond line that is \u{1b}[31mred\n"
    let plan = samplePlan("a; b: a") { _ in .script(ScriptText(script)) }
    #expect(
      try dryRun(plan) { $0.columns = 40 } == """
        1  ● a  run   first    $ first line of many …
        2  ● b  run   needs a  $ first line of many …
        2 of 2 would run, 1 at once in this forecast; no estimate: no step has 'expected'

        """)
    #expect(
      try dryRun(plan) { $0.isVerbose = true } == """
        1  ● a  run   first
           │      $ first line of many
           │      > second line that is red
        2  ● b  run   needs a
                  $ first line of many
                  > second line that is red
        2 of 2 would run, 1 at once in this forecast; no estimate: no step has 'expected'

        """)
  }

  @Test func `verbose shows every setting`() throws {
    var retry = RetryPolicy()
    retry.limit = 2
    retry.delay = 1_500_000_000
    var hooks = Hooks()
    hooks.onFailure = [.known(.arguments(["tell", "a b"]))]
    let settings = StepSettings(
      name: "The step", environment: [EnvironmentVariable(name: "A", value: "b c")],
      workingDirectory: "sub", shell: ["/bin/bash", "-eo", "pipefail"], timeout: 90_000_000_000,
      retry: retry, allowFailure: .exitCodes([3, 4]), nice: 5, hooks: hooks)
    #expect(
      try dryRun(samplePlan("a~2", settings: settings)) { $0.isVerbose = true } == """
        1  ● a  run   first
                  $ echo a
                  name: The step
                  working_dir: sub
                  env: A='b c'
                  shell: /bin/bash -eo pipefail
                  expected: 2s
                  timeout: 1m30s
                  retry: 2, after 1s500ms
                  allow_failure: exit 3, 4
                  nice: 5
                  on_failure: tell 'a b'
        1 of 1 would run, 1 at once in this forecast; estimate 2.0s

        """)
  }

  /// This many steps, and one that needs them all.
  private func fan(_ count: Int) throws -> [Substring] {
    let ids = (0..<count).map { "r\($0)" }
    let text = ids.joined(separator: ";") + ";all: " + ids.joined(separator: " ")
    return try dryRun(samplePlan(text, width: 99)).split(separator: "\n")
  }

  @Test func `24 rails are drawn side by side`() throws {
    let lines = try fan(24)
    #expect(lines[23].hasPrefix("1  " + String(repeating: "│ ", count: 23) + "● r23  run"))
    let joins = String(repeating: "─┴", count: 22)
    #expect(lines[24].hasPrefix("2  ●" + joins + "─╯ all  run   needs r0, r1, r2 and 21 more"))
  }

  @Test func `of more rails 8 are drawn and the others counted`() throws {
    let lines = try fan(25)
    #expect(lines[7].hasPrefix("1  │ │ │ │ │ │ │ ● r7  "))
    #expect(lines[8].hasPrefix("1  │ │ │ │ │ │ │ │ ● +1 r8  "))
    #expect(lines[24].hasPrefix("1  │ │ │ │ │ │ │ │ ● +17 r24  "))
    #expect(lines[25].hasPrefix("2  ●─┴─┴─┴─┴─┴─┴─┴── all  "))
  }
}
