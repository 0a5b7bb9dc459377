import Plans
import Scheduling
import Testing

@testable import Reporting

@Suite struct `Groups in a run` {
  private let matrix = samplePlan(
    "get; test[os=linux]: get; test[os=mac]: get; test?: test[os=linux]!done test[os=mac]!done; "
      + "pack: test"
  ).group("test", of: ["test[os=linux]", "test[os=mac]"])

  @Test func `unfolded, a group is not counted and has no line, its members are and have`() throws {
    var options = ScreenOptions()
    options.unfoldsInstances = true
    let run = try StagedRun(matrix, .grouped, options)
    try run.pass("get")
    try run.pass("test[os=linux]", after: 300)
    try run.pass("test[os=mac]", after: 200)
    run.settle("test")
    try run.pass("pack")
    run.finish()
    #expect(
      run.standardError == """
        sample.yml  4 steps, 4 at once
        ✓ get             0.1s
        ✓ test[os=linux]  0.3s
        ✓ test[os=mac]    0.2s
        ✓ pack            0.1s
        ✓ sample.yml: 4 ok in 0.7s   (0.7s of work, critical path get > test[os=linux] > pack 0.5s)

        """)
  }

  @Test func `one line stands for all instances`() throws {
    let run = try StagedRun(matrix)
    try run.pass("get")
    try run.pass("test[os=linux]", printing: "on linux\n", after: 300)
    try run.pass("test[os=mac]", after: 200)
    run.settle("test")
    try run.pass("pack")
    run.finish()
    #expect(
      run.standardError == """
        sample.yml  4 steps, 4 at once
        ✓ get      0.1s
        > test[os=linux]
        on linux
        ✓ test ×2  2 ok in 0.5s
        ✓ pack     0.1s
        ✓ sample.yml: 4 ok in 0.7s   (0.7s of work, critical path get > test[os=linux] > pack 0.5s)

        """)
  }

  @Test func `what became of instances is counted, and a reason that all share is said`() throws {
    let ids = (1...9).map { "t\($0)" }
    let plan = samplePlan("a; \(ids.joined(separator: "; ")); t").group("t", of: ids)
    let run = try StagedRun(plan)
    for id in ["t1", "t2"] { try run.pass(id) }
    run.start("t3", "t4", "t5")
    run.end("t3", .exited(1))
    run.settle("t3", .failed)
    run.end("t4", .exited(1))
    run.settle("t4", .failed, isAllowed: true)
    run.end("t5", .signalled(15))
    let reason = Cause.stopped(.failure(run.operation("t3")))
    run.settle("t5", .cancelled, reason)
    run.settle("t6", .cached)
    run.settle("t7", .cancelled, reason)
    run.settle("t8", .cancelled, reason)
    run.settle("t9", .cancelled, reason)
    run.settle("t", .failed, .dependency(run.operation("t3")))
    #expect(
      run.standardError == """
        sample.yml  10 steps, 4 at once
        ✗ t3    exit 1 after 0.1s
        ! t4    exit 1 after 0.1s, allowed
        ✗ t ×9  2 ok, 1 up to date, 1 failed, 1 failed but allowed, 4 cancelled in 0.2s: 't3' failed

        """)
  }

  @Test func `what a failed member blocks is blocked by it, and the group is not among them`()
    throws
  {
    let run = try StagedRun(matrix)
    try run.pass("get")
    run.start("test[os=linux]")
    try run.pass("test[os=mac]", after: 200)
    run.end("test[os=linux]", .exited(1), after: 300)
    let root = Cause.dependency(run.operation("test[os=linux]"))
    run.settle("test[os=linux]", .failed)
    run.settle("test", .failed, root)
    run.settle("pack", .blocked, root)
    run.finish(1)
    #expect(
      run.standardError.split(separator: "\n").dropFirst(3).joined(separator: "\n") == """
        ✗ test ×2  1 ok, 1 failed in 0.2s
        - pack     blocked: 'test[os=linux]' failed
        ✗ test[os=linux]  exit 1 after 0.3s  sample.yml:2
          $ echo test[os=linux]
          it printed nothing
          blocked because of it: pack
        ✗ sample.yml: 1 failed, 1 blocked, 2 ok in 0.3s   (0.6s of work, critical path \
        get > test[os=mac] 0.3s)
        """)
  }

  @Test func `a blocked group is told in one line`() throws {
    let run = try StagedRun(matrix)
    run.start("get")
    run.end("get", .exited(1))
    run.settle("get", .failed)
    let root = Cause.dependency(run.operation("get"))
    for id in ["test[os=linux]", "test[os=mac]", "test", "pack"] { run.settle(id, .blocked, root) }
    run.finish(1)
    #expect(
      run.standardError == """
        sample.yml  4 steps, 4 at once
        ✗ get      exit 1 after 0.1s
        - test ×2  2 blocked: 'get' failed
        - pack     blocked: 'get' failed

        ✗ get  exit 1 after 0.1s  sample.yml:1
          $ echo get
          it printed nothing
          blocked because of it: test ×2, pack

        ✗ sample.yml: 1 failed, 3 blocked in 0s

        """)
  }

  @Test func `what is skipped says why, an empty matrix too`() throws {
    let plan = samplePlan("test?; deploy?; after: deploy").group("test").late(
      "deploy", skipped: "if: params.branch == 'main' is false")
    let run = try StagedRun(plan)
    run.settle("test", .skipped, .condition("its matrix is empty"))
    run.settle("deploy", .skipped, .condition("if: params.branch == 'main' is false"))
    try run.pass("after")
    run.finish()
    #expect(
      run.standardError == """
        sample.yml  3 steps, 4 at once
        - test    skipped: its matrix is empty
        - deploy  skipped: if: params.branch == 'main' is false
        ✓ after   0.1s
        ✓ sample.yml: 1 ok, 2 skipped in 0.1s

        """)
  }
}

@Suite struct `Steps that are expanded while running` {
  private let plan = samplePlan(
    "list; test?: list; pack: test",
    settings: StepSettings(name: "All tests", timeout: 90_000_000_000)
  ) { _ in .script("make ${{ matrix.name }}") }.group(
    "test", .expanding("steps.list.outputs.names"))

  @Test func `instances have names, logs, settings and a place in the critical path`() throws {
    let run = try StagedRun(plan)
    try run.pass("list")
    run.expand("test", to: "test[name=a]", "test[name=b]")
    try run.pass("test[name=a]", printing: "tested a\n", after: 300)
    run.tell(.resolved(run.operation("test[name=b]"), command: "make b"))
    run.start("test[name=b]")
    try run.print("test[name=b]", "broken b\n")
    run.at(600)
    run.end("test[name=b]", .signalled(9), timedOut: true, after: 200)
    let root = Cause.dependency(run.operation("test[name=b]"))
    run.settle("test[name=b]", .timedOut)
    run.settle("test", .timedOut, root)
    run.settle("pack", .blocked, root)
    run.finish(1)
    #expect(
      run.standardError == """
        sample.yml  3 steps, 1 with instances known later, 4 at once
        ✓ list  0.1s  (All tests)
        > test[name=a] (All tests)
        tested a
        > test[name=b] (All tests)
        broken b
        ✗ test[name=b]  timed out after 1m30s  (All tests)
        ✗ test ×2       1 ok, 1 timed out in 0.5s  (All tests)
        - pack          blocked: 'test[name=b]' timed out  (All tests)

        ✗ test[name=b] (All tests)  timed out after 1m30s  sample.yml:2
          $ make b
          | broken b
          log  oprun logs RUN 'test[name=b]'  (1 line)
          blocked because of it: pack

        ✗ sample.yml: 1 timed out, 1 blocked, 2 ok in 0.6s   (0.6s of work, critical path \
        list > test[name=a] 0.4s)

        """)
  }

  @Test func `what comes after them has them on its critical path`() throws {
    let run = try StagedRun(plan, .prefixed)
    try run.pass("list")
    run.expand("test", to: "test[name=a]", "test[name=b]")
    try run.pass("test[name=a]", after: 300)
    try run.pass("test[name=b]", printing: "b\n", after: 400)
    run.settle("test")
    try run.pass("pack")
    run.finish()
    #expect(
      run.standardError == """
        sample.yml  3 steps, 1 with instances known later, 4 at once
        ✓ list  0.1s  (All tests)
        [test[name=b]] b
        ✓ test ×2       2 ok in 0.7s  (All tests)
        ✓ pack          0.1s  (All tests)
        ✓ sample.yml: 4 ok in 0.9s   (0.9s of work, critical path list > test[name=b] > pack 0.6s)

        """)
  }

  @Test func `a step that is not expanded is a step`() throws {
    let run = try StagedRun(plan)
    try run.pass("list")
    run.settle("test", .skipped, .condition("its matrix is empty"))
    try run.pass("pack")
    run.finish()
    #expect(run.standardError.contains("\n- test  skipped: its matrix is empty  (All tests)\n"))
    #expect(run.standardError.contains(": 2 ok, 1 skipped in "))
  }

  @Test func `unfolded, an instance that is cancelled or blocked has a line`() throws {
    var options = ScreenOptions()
    options.unfoldsInstances = true
    let run = try StagedRun(plan, .grouped, options)
    run.expand("test", to: "test[name=a]", "test[name=b]")
    run.start("test[name=a]")
    run.end("test[name=a]", .exited(1))
    run.settle("test[name=a]", .failed)
    let reason = StopReason.failure(run.operation("test[name=a]"))
    run.settle("test[name=b]", .cancelled, .stopped(reason))
    #expect(
      run.standardError.hasSuffix(
        """
        ✗ test[name=a]  exit 1 after 0.1s  (All tests)
        - test[name=b]  did not start: 'test[name=a]' failed  (All tests)

        """))
  }
}

@Suite struct `Steps that wait and do not start` {
  @Test func `what a step waits for is told once`() throws {
    let run = try StagedRun(samplePlan("a; db?: a"))
    run.tell(.waiting(run.operation("db"), "tcp localhost:5432"))
    run.tell(.waiting(run.operation("db"), "file /run/db\u{1b}[2J"))
    run.tell(.waiting(run.operation("db"), "tcp localhost:5432"))
    try run.pass("db")
    #expect(
      run.standardError == """
        sample.yml  2 steps, 4 at once
        … db  waiting for tcp localhost:5432
        … db  waiting for file /run/db\\u{1b}[2J
        ✓ db  0.1s

        """)
  }

  @Test func `a long reason has lines of its own`() throws {
    let message = """
      the value of 'params.branch' is not inserted in 'run', because a shell could take it for code: \
      'a; rm -rf /'
      help: pass it through 'env' and write "$BRANCH" in its place, or use quote(params.branch) \
      where the shell is to see it
      """
    let run = try StagedRun(samplePlan("a; b"))
    for id in ["a", "b"] {
      run.start(id)
      run.end(id, .notStarted(message, exitCode: 126), after: 0)
      run.settle(id, .failed)
    }
    run.finish(1)
    #expect(
      run.standardError == """
        sample.yml  2 steps, 4 at once
        ✗ a  the value of 'params.branch' is not inserted in 'run', because a shell could take it for code: 'a; rm -rf /'
        ✗ b  the value of 'params.branch' is not inserted in 'run', because a shell could take it for code: 'a; rm -rf /'

        ✗ a  did not start  sample.yml:1
          | the value of 'params.branch' is not inserted in 'run', because a shell could take it for code: 'a; rm -rf /'
          | help: pass it through 'env' and write "$BRANCH" in its place, or use quote(params.branch) where the shell is to see it
          $ echo a

        ✗ b  did not start  sample.yml:2
          | the value of 'params.branch' is not inserted in 'run', because a shell could take it for code: 'a; rm -rf /'
          | help: pass it through 'env' and write "$BRANCH" in its place, or use quote(params.branch) where the shell is to see it
          $ echo b

        ✗ sample.yml: 2 failed in 0s

        """)
  }

  @Test func `a step can fail without a command`() throws {
    let run = try StagedRun(samplePlan("a?").group("a", .expanding("params.names")))
    run.settle(
      "a", .failed, .condition("its matrix has 5,000 instances, at most 4,096 are possible"))
    run.finish(1)
    #expect(
      run.standardError == """
        sample.yml  1 step, 1 with instances known later, 4 at once
        ✗ a  failed: its matrix has 5,000 instances, at most 4,096 are possible

        ✗ a  failed: its matrix has 5,000 instances, at most 4,096 are possible  sample.yml:1
          $ echo a

        ✗ sample.yml: 1 failed in 0s

        """)
  }

  @Test func `waiting in vain and refused outputs have their reasons`() throws {
    let refusal =
      "line 1 of OPRUN_OUTPUT: wanted name=value, name<<END or name:json=value"
    let run = try StagedRun(samplePlan("a; b"))
    run.start("a")
    run.end("a", .outputsRefused(refusal))
    run.settle("a", .failed)
    run.settle("b", .timedOut, .wait("tcp db:1"))
    run.finish(1)
    #expect(
      run.standardError == """
        sample.yml  2 steps, 4 at once
        ✗ a  line 1 of OPRUN_OUTPUT: wanted name=value, name<<END or name:json=value
        ✗ b  timed out waiting for tcp db:1

        ✗ a  its outputs were refused  sample.yml:1
          | line 1 of OPRUN_OUTPUT: wanted name=value, name<<END or name:json=value
          $ echo a

        ✗ b  timed out waiting for tcp db:1  sample.yml:2
          $ echo b

        ✗ sample.yml: 1 failed, 1 timed out in 0s

        """)
  }

  @Test func `a group that fails by itself is told`() throws {
    let plan = samplePlan("d/a; d?: d/a!done; end: d").group(
      "d", .nested(path: "./d.yml"), of: ["d/a"])
    let run = try StagedRun(plan)
    try run.pass("d/a")
    run.settle("d", .failed, .condition("d.yml:9: 'files' is no list"))
    run.settle("end", .blocked, .dependency(run.operation("d")))
    run.finish(1)
    #expect(
      run.standardError == """
        sample.yml  2 steps, 4 at once
        ✓ d/a  0.1s
        ✗ d    failed: d.yml:9: 'files' is no list
        - end  blocked: 'd' failed

        ✗ d  failed: d.yml:9: 'files' is no list  sample.yml:2
          blocked because of it: end

        ✗ sample.yml: 1 failed, 1 blocked, 1 ok in 0.1s   (0.1s of work, longest d/a 0.1s)

        """)
  }

  @Test(arguments: [
    ("one two three", 8, ["one two", "three"]), ("averylongword x", 5, ["averylongword", "x"]),
    ("a\nb  c", 10, ["a", "b c"]), ("日本 語", 4, ["日本", "語"]), ("", 5, []),
  ])
  func `text is broken between words`(text: String, columns: Int, lines: [String]) {
    #expect(wrapped(text, columns: columns) == lines)
  }
}
