import Plans
import Reporting
import Testing

@Suite struct `Dry run of what is decided late` {
  private func dryRun(
    _ plan: Plan, _ change: (inout DrawingOptions) -> Void = { _ in }
  ) throws -> String {
    var options = DrawingOptions()
    change(&options)
    return try written { DryRun(plan, options: options).write(to: $0) }
  }

  @Test func `what is known to be skipped says why, and its dependents go on`() throws {
    let plan = samplePlan(
      "build; deploy?: build; notify: deploy; tell: deploy!succeeded; last: tell"
    ).late("deploy", if: "params.branch == 'main'", skipped: "if: params.branch == 'main' is false")
    #expect(
      try dryRun(plan) == """
        1  ● build     run   first                                 $ echo build
           ● deploy    skip  if: params.branch == 'main' is false  $ echo deploy
           ├─● tell    skip  needs deploy (succeeded)              $ echo tell
        2  ● │ notify  run   needs deploy                          $ echo notify
        2    ● last    run   needs tell                            $ echo last
        3 of 5 would run, 2 at once in this forecast; no estimate: no step has 'expected'

        """)
  }

  @Test func `a condition that is known later is shown`() throws {
    let plan = samplePlan("build; deploy?^4: build").late(
      "deploy", if: "steps.build.outputs.changed")
    #expect(
      try dryRun(plan) == """
        1  ● build   run   first                                     $ echo build
        2  ● deploy  run   needs build, if: steps.build.outputs.changed, priority high  $ echo deploy
        2 of 2 would run, 1 at once in this forecast; no estimate: no step has 'expected'

        """)
  }

  @Test func `a group joins in no time, and is no step`() throws {
    let plan = samplePlan(
      "get~1; test[a]~2?: get; test[b]~3: get; test?: test[a]!done test[b]!done; pack~1: test"
    ).group("test", of: ["test[a]", "test[b]"]).late("test[a]", if: "success()")
    #expect(
      try dryRun(plan) == """
        1  ● get        run   first                     $ echo get
        2  ├─● test[b]  run   needs get                 $ echo test[b]
        2  ● │ test[a]  run   needs get, if: success()  $ echo test[a]
           ●─╯ test     all   2 instances
        3  ● pack       run   needs test                $ echo pack
        4 of 4 would run, 2 at once in this forecast; estimate 5.0s

        """)
  }

  @Test func `a step that is expanded later is one line`() throws {
    let plan = samplePlan("list; test?@: list; pack: test").group(
      "test", .expanding("steps.list.outputs.names"))
    #expect(
      try dryRun(plan) == """
        1  ● list  run   first                                     $ echo list
        2  ● test  each  matrix of steps.list.outputs.names, known during the run, queue net  $ echo test
        3  ● pack  run   needs test                                $ echo pack
        3 of 3 would run, 4 at once (1 in this forecast; instances of 'test' are not known yet); no estimate: no step has 'expected'

        """)
  }

  @Test func `an empty matrix is skipped`() throws {
    #expect(
      try dryRun(samplePlan("test?; pack: test").group("test")) == """
           ● test  skip  its matrix is empty  $ echo test
        1  ● pack  run   needs test           $ echo pack
        1 of 2 would run, 1 at once in this forecast; no estimate: no step has 'expected'

        """)
  }

  @Test func `a pipeline in a pipeline is told by its steps, unless it is skipped`() throws {
    let plan = samplePlan(
      """
      get; deploy/a?: get; deploy/b[x]?: deploy/a; deploy/b?: deploy/b[x]!done;
      deploy?: deploy/a!done deploy/b!done; after: deploy
      """
    ).group("deploy/b", of: ["deploy/b[x]"])
      .group("deploy", .nested(path: "./other.yml"), of: ["deploy/a", "deploy/b"])
    #expect(
      try dryRun(plan) == """
        1  ● get            run   first                 $ echo get
        2  ● deploy/a       run   needs get             $ echo deploy/a
        3  ├─● deploy/b[x]  run   needs deploy/a        $ echo deploy/b[x]
           │ ● deploy/b     all   1 instance
           ●─╯ deploy       all   ./other.yml, 2 steps
        4  ● after          run   needs deploy          $ echo after
        4 of 4 would run, 1 at once in this forecast; no estimate: no step has 'expected'

        """)
    #expect(
      try dryRun(plan.late("deploy", skipped: "if: params.deploy is false")) == """
        1  ● get            run   first                                     $ echo get
           │ ● deploy/b[x]  skip  if: params.deploy is false                $ echo deploy/b[x]
           ● │ deploy/a     skip  if: params.deploy is false                $ echo deploy/a
           │ ● deploy/b     all   1 instance
           ●─╯ deploy       all   ./other.yml, 2 steps, if: params.deploy is false
        2  ● after          run   needs deploy                              $ echo after
        2 of 4 would run, 1 at once in this forecast; no estimate: no step has 'expected'

        """)
  }

  @Test func `members of a group that are not needed let go on what waits for it`() throws {
    let plan = samplePlan(
      "a; b[x]: a!failed; b?: b[x]!done; c: b; d: b!done"
    ).group("b", of: ["b[x]"])
    #expect(
      try dryRun(plan) == """
        1  ● a     run   first            $ echo a
           ● b[x]  skip  only if a fails  $ echo b[x]
           ● b     all   1 instance
        2  ├─● c   run   needs b          $ echo c
        2  ● d     run   needs b (done)   $ echo d
        3 of 4 would run, 2 at once in this forecast; no estimate: no step has 'expected'

        """)
  }

  @Test func `verbose shows what is late as it is written`() throws {
    let settings = StepSettings(
      environment: [EnvironmentVariable(name: "NAME", value: "${{ matrix.name }}")])
    let plan = samplePlan("list; one?: list; one[x]?: list; all?: one[x]!done", settings: settings)
    {
      .script("make \($0)\n${{ params.target }}")
    }.group("one", .expanding("params.names")).group("all", of: ["one[x]"])
      .late("one", if: "params.fast ||\n  success()", probes: ["tcp localhost:5432", "file a"])
      .late("all", if: "always()")
    #expect(
      try dryRun(plan) { $0.isVerbose = true } == """
        1  ● list      run   first
           │             $ make list
           │             > ${{ params.target }}
           │             env: NAME='${{ matrix.name }}'
        2  ├─● one[x]  run   needs list
           │ │           $ make one[x]
           │ │           > ${{ params.target }}
           │ │           env: NAME='${{ matrix.name }}'
        2  ● │ one     each  matrix of params.names, known during the run, if: params.fast || success()
             │           $ make one
             │           > ${{ params.target }}
             │           if: params.fast || success()
             │           wait_for: tcp localhost:5432
             │           wait_for: file a
             │           env: NAME='${{ matrix.name }}'
             ● all     all   1 instance, if: always()
                         if: always()
        3 of 3 would run, 4 at once (2 in this forecast; instances of 'one' are not known yet); no estimate: no step has 'expected'

        """)
  }

  @Test func `the example in the documentation is what comes out`() throws {
    let plan = samplePlan(
      """
      build; test[os=mac]: build; test[os=win]: build; test?: test[os=mac]!done test[os=win]!done;
      deploy?: test; notify?: deploy; check?: build
      """
    ) { .script($0 == "build" ? "make" : $0.hasPrefix("test") ? "make test" : "./\($0)") }
    .group("test", of: ["test[os=mac]", "test[os=win]"])
    .group("check", .expanding("steps.build.outputs.files"))
    .late("deploy", if: "steps.build.outputs.changed")
    .late("notify", skipped: "if: params.branch == 'main' is false")
    #expect(
      try dryRun(plan) == """
        1  ● build      run   first                                     $ make
        2  ├─● test ×2  run   needs build                               $ make test
        2  ● │ check    each  matrix of steps.build.outputs.files, known during the run  $ ./check
             ● test     all   2 instances
        3    ● deploy   run   needs test, if: steps.build.outputs.changed  $ ./deploy
             ● notify   skip  if: params.branch == 'main' is false      $ ./notify
        5 of 6 would run, 4 at once (3 in this forecast; instances of 'check' are not known yet); no estimate: no step has 'expected'

        """)
  }
}
