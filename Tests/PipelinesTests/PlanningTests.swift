// Names looked up, edges, cycles, queues and the selection of steps.

import Diagnostics
import Pipelines
import Plans
import Scheduling
import Testing

struct PipelineErrorTests {
  @Test func `all mistakes of a file are told at once, in order`() {
    #expect(
      errors(
        """
        steps:
          - id: unit
            run: make test
            dependson: [build]
          - id: build
            depends_on: [pack]
            run: make
          - id: pack
            depends_on: [build, tets]
            timeout: 30
            run: make pack
          - id: test
            priority: [1]
        """) == """
          pipeline.yml:4:5: error: unknown key 'dependson' in step 'unit'
           4 |     dependson: [build]
             |     ^~~~~~~~~
            help: did you mean 'depends_on'?
          pipeline.yml:6:18: error: dependency cycle: build -> pack -> build
           6 |     depends_on: [pack]
             |                  ^~~~ 'build' waits for 'pack'
           9 |     depends_on: [build, tets]
             |                  ~~~~~ 'pack' waits for 'build'
          pipeline.yml:9:25: error: step 'pack' depends on 'tets', which does not exist
           9 |     depends_on: [build, tets]
             |                         ^~~~
            help: did you mean 'test'?
          pipeline.yml:10:14: error: 'timeout' must be a duration such as 30s, but the number 30 has no unit
           10 |     timeout: 30
              |              ^~
            help: units are ms, s, m, h and d, as in 250ms, 30s or 1h30m
          pipeline.yml:12:5: error: 'run' is missing in step 'test'
           12 |   - id: test
              |     ^~
            help: add 'run', 'uses' or 'steps'
          pipeline.yml:13:15: error: 'priority' must be one of very_low, low, normal, high, very_high or a whole number from -1000 to 1000, not a list
           13 |     priority: [1]
              |               ^~~
          pipeline.yml: 6 errors

          """)
  }

  @Test func `what a step must have is named`() {
    #expect(
      errors("steps:\n  - name: x\n  - {}\n  - 5\n  - {run: x}\n  - {id: c}\n") == """
        pipeline.yml:2:5: error: 'id' and 'run' are missing in a step
         2 |   - name: x
           |     ^~~~
          help: add 'run', 'uses' or 'steps'
        pipeline.yml:3:5: error: 'id' and 'run' are missing in a step
         3 |   - {}
           |     ^~
          help: add 'run', 'uses' or 'steps'
        pipeline.yml:4:5: error: 'steps' must be a list of maps, not the number 5
         4 |   - 5
           |     ^
          help: write an id: '- id: NAME', and 'run: 5' below that
        pipeline.yml:5:6: error: 'id' is missing in a step
         5 |   - {run: x}
           |      ^~~
        pipeline.yml:6:6: error: 'run' is missing in step 'c'
         6 |   - {id: c}
           |      ^~
          help: add 'run', 'uses' or 'steps'
        pipeline.yml: 5 errors

        """)
    #expect(messages("name: x\n") == ["1:1: 'steps' is missing at top level"])
    #expect(messages("steps: []\n") == ["1:8: 'steps' must not be empty"])
    #expect(messages("steps:\n") == ["1:7: 'steps' must be a list of maps, not nothing"])
    #expect(messages("steps: {a: b}\n") == ["1:8: 'steps' must be a list of maps, not a map"])
    #expect(
      messages(step("run: x\nuses: download\nwith: {to: x, url: \"http://y\"}")) == [
        "3:5: a step has either 'run' or 'uses', not both"
      ])
  }

  @Test func `one mistake is one error`() {
    #expect(messages("step:\n  - id: a\n") == ["1:1: unknown key 'step' at top level"])
    #expect(
      messages("steps:\n  - {idd: a, rnu: x}\n") == [
        "2:6: unknown key 'idd' in a step", "2:14: unknown key 'rnu' in a step",
      ])
    #expect(
      messages("steps:\n  - {id: a+b, run: x}\n  - {id: c, run: x, depends_on: [a+b]}\n") == [
        "2:10: 'a+b' cannot be the id of a step"
      ])
    #expect(
      messages(
        "resources: {cpu: x}\nqueues: {q: 5}\n"
          + step("run: x\nqueue: q\nresources: {cpu: 5}")) == [
          "1:18: 'cpu' must be a number, a size such as 2G or a duration such as 30m, not 'x'",
          "2:13: 'q' must be a map with 'max_parallel', not the number 5",
        ])
    #expect(
      messages(
        "steps:\n  - {id: a, run: x}\n  - {id: a, run: y}\n  - {id: b, run: z, depends_on: [a]}\n")
        == ["3:10: two steps have the id 'a'"])
  }

  @Test func `two steps with one id are both shown`() {
    #expect(
      errors("steps:\n  - {id: a, run: x}\n  - {id: a, run: y}\n") == """
        pipeline.yml:3:10: error: two steps have the id 'a'
         3 |   - {id: a, run: y}
           |          ^
         2 |   - {id: a, run: x}
           |          ~ first here
        pipeline.yml: 1 error

        """)
  }

  @Test func `names of queues and resources are suggested`() {
    #expect(
      errors(
        "queues: {network: {}}\nresources: {memory: 2}\n"
          + step("run: x\nqueue: netwrok\nresources: {memroy: 1}")) == """
          pipeline.yml:6:12: error: unknown queue 'netwrok'
           6 |     queue: netwrok
             |            ^~~~~~~
            help: did you mean 'network'?
          pipeline.yml:7:17: error: unknown resource 'memroy'
           7 |     resources: {memroy: 1}
             |                 ^~~~~~
            help: did you mean 'memory'?
          pipeline.yml: 2 errors

          """)
  }

  @Test func `expressions with unknown names, and where none may stand, are refused`() {
    #expect(
      errors(step("run: echo ${{ params.x }} $X ${Y}\nname: \"${{ a }}\"\nnice: ${{ t }}"))
        == """
        pipeline.yml:3:26: error: unknown parameter 'x'
         3 |     run: echo ${{ params.x }} $X ${Y}
           |                          ^
          help: declare it under 'params' at top level
        pipeline.yml:4:16: error: unknown name 'a'
         4 |     name: "${{ a }}"
           |                ^
          help: write a string in quotes: 'a'
        pipeline.yml:5:11: error: 'nice' cannot contain an expression: it must be known before the run
         5 |     nice: ${{ t }}
           |           ^~~~~~~~
        pipeline.yml: 3 errors

        """)
    for value in ["\"\\x24{{ a }}\"", "|\n  echo ${{ a }}", "[echo, \"${{ a }}\"]"] {
      #expect(messages(step("run: \(value)")).count == 1, "\(value)")
    }
    #expect(messages("x-a: ${{ a }}\n" + step("run: echo $ { { x }} ${x} }}")) == [])
  }
}

struct CycleTests {
  @Test func `a step that waits for itself is a cycle of one`() {
    #expect(
      errors(step("run: x\ndepends_on: [a]")) == """
        pipeline.yml:4:18: error: dependency cycle: a -> a
         4 |     depends_on: [a]
           |                  ^ 'a' waits for 'a'
        pipeline.yml: 1 error

        """)
  }

  @Test func `an edge of sequence is named as such`() {
    #expect(
      errors(
        "sequence: true\nsteps:\n  - {id: a, run: x, depends_on: [b]}\n  - {id: b, run: x}\n")
          == """
          pipeline.yml:3:34: error: dependency cycle: a -> b -> a
           3 |   - {id: a, run: x, depends_on: [b]}
             |                                  ^ 'a' waits for 'b'
           4 |   - {id: b, run: x}
             |          ~ 'b' waits for 'a', because of 'sequence'
          pipeline.yml: 1 error

          """)
  }

  @Test func `several cycles without a step in common are all shown`() {
    let text =
      "steps:\n"
      + [("a", "c"), ("b", "a"), ("c", "b"), ("d", "e"), ("e", "d"), ("f", "a")].map {
        "  - {id: \($0), run: x, depends_on: [{step: \($1), optional: true}]}\n"
      }.joined()
    #expect(
      messages(text) == [
        "2:41: dependency cycle: a -> c -> b -> a", "5:41: dependency cycle: d -> e -> d",
      ])
  }

  @Test func `of a long cycle eight steps are shown`() {
    let text =
      "steps:\n"
      + (0..<9).map { "  - {id: s\($0), run: x, depends_on: [s\(($0 + 1) % 9)]}\n" }.joined()
    let lines = errors(text).split(separator: "\n")
    #expect(lines[0].hasSuffix("s0 -> s1 -> s2 -> s3 -> s4 -> s5 -> s6 -> s7 -> … -> s0"))
    #expect(lines.filter { $0.contains("waits for") }.count == 8)
  }
}

struct EdgeTests {
  @Test func `edges keep their condition and order`() throws {
    let plan = try plan(
      """
      steps:
        - {id: z, run: x, depends_on: [a, {step: b, when: failed}]}
        - {id: a, run: x}
        - id: b
          run: x
          depends_on:
            - {step: a, when: done}
      """)
    #expect(plan.edges == ["a>z", "b>z:failed", "a>b:done"])
  }

  @Test func `ids that are parts of each other are told apart`() throws {
    let letters = "abcdefghijklmnopqrst"
    var ids = (1...20).flatMap { [String(letters.prefix($0)), String(letters.suffix($0))] }
    ids += (1...20).map { String(repeating: "ab", count: $0) }
    ids = ids.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    let lines = ids.indices.map {
      "  - {id: \(ids[$0]), run: echo, depends_on: [\(ids[..<$0].joined(separator: ", "))]}"
    }
    let plan = try plan("steps:\n" + lines.joined(separator: "\n"))
    for index in ids.indices {
      let edges = plan.graph.dependencies(of: OperationID(index))
      #expect(edges.map(\.from.index) == Array(0..<index))
    }
    #expect(
      messages(
        "steps:\n  - {id: abcdefghi, run: echo}\n  - {id: b, run: echo, depends_on: [xbcdefghi]}")
        == ["3:37: step 'b' depends on 'xbcdefghi', which does not exist"])
    #expect(
      messages(
        "steps:\n  - {id: bcdefghi, run: echo}\n  - {id: b, run: echo, depends_on: [abcdefghi]}")
        == ["3:37: step 'b' depends on 'abcdefghi', which does not exist"])
  }

  @Test func `sequence adds the step before unless the file names it`() throws {
    let plan = try plan(
      """
      sequence: true
      steps:
        - {id: a, run: x}
        - {id: b, run: x}
        - {id: c, run: x, depends_on: [{step: b, when: done}]}
        - {id: d, run: x, depends_on: [a, c]}
      """)
    #expect(plan.edges == ["a>b", "b>c:done", "a>d", "c>d"])
  }
}

struct SelectionTests {
  private let text = """
    resources: {cpu: 2}
    steps:
      - {id: lint, run: x}
      - {id: build, run: x, resources: {cpu: 1}, depends_on: [fetch]}
      - {id: fetch, run: x, mutex: net}
      - {id: test, run: x, depends_on: [build, {step: lint, optional: true}]}
      - {id: pack, run: x, depends_on: [test]}
    """

  private func selected(_ ids: String...) throws -> Plan {
    try plan(text, PlanningOptions(selection: ids))
  }

  @Test func `named steps come with what they need, in file order`() throws {
    let plan = try selected("test")
    #expect(plan.steps.map(\.id) == ["build", "fetch", "test"])
    #expect(plan.edges == ["fetch>build", "build>test"])
    #expect(plan.graph[OperationID(0)].claims == [Claim(PoolID(0), amount: 1_000_000)])
    #expect(plan.graph[OperationID(1)].claims == [Claim(PoolID(1), amount: 1_000_000)])
  }

  @Test func `an optional edge counts if its step is selected otherwise`() throws {
    let plan = try selected("test", "lint")
    #expect(plan.steps.map(\.id) == ["lint", "build", "fetch", "test"])
    #expect(plan.edges == ["fetch>build", "build>test", "lint>test"])
  }

  @Test func `with sequence a step needs all before it`() throws {
    let text = "sequence: true\nsteps: [{id: a, run: x}, {id: b, run: x}, {id: c, run: x}]\n"
    #expect(try plan(text, PlanningOptions(selection: ["b"])).steps.map(\.id) == ["a", "b"])
  }

  @Test func `a name that is no step is refused, with a suggestion`() {
    func message(_ ids: String...) -> String? {
      guard case .noSelection(let text) = planned(Array(text.utf8), PlanningOptions(selection: ids))
      else { return nil }
      return text
    }
    #expect(message("biuld") == "unknown step 'biuld' in pipeline.yml; did you mean 'build'?")
    #expect(message("test", "x\u{1b}") == "unknown step 'x\\u{1b}' in pipeline.yml")
    #expect(message("") == "unknown step '' in pipeline.yml")
  }

  @Test func `a bad file is refused whatever is selected`() {
    guard
      case .errors = planned(Array("steps: [{id: a}]".utf8), PlanningOptions(selection: ["b"]))
    else { return #expect(Bool(false)) }
  }
}

struct LaneTests {
  @Test func `queues come with the default queue first`() throws {
    let text =
      "max_parallel: 3\nqueues:\n  net: {max_parallel: 8, start_suspended: true}\n  b: {}\n"
    let plan = try plan(text + step("run: x\nqueue: b"), PlanningOptions(processorCount: 5))
    #expect(
      plan.queues == [
        QueueSpec(name: "default", width: 3),
        QueueSpec(name: "net", width: 8, isSuspended: true), QueueSpec(name: "b", width: 5),
      ])
    #expect(plan.graph[OperationID(0)].queue == QueueID(2))
  }

  @Test func `the command line goes before the file`() throws {
    var options = PlanningOptions(processorCount: 5)
    #expect(try plan(step("run: x"), options).queues[0].width == 5)
    options.maxParallel = 7
    options.failurePolicy = .stop
    options.timeout = 9
    let plan = try plan(
      "max_parallel: 1\nfailure_policy: cancel\ntimeout: 1s\n" + step("run: x"), options)
    #expect(plan.queues[0].width == 7)
    #expect(plan.failurePolicy == .stop)
    #expect(plan.timeout == 9)
  }

  @Test func `resources and mutexes are pools, in millionths`() throws {
    let plan = try plan(
      """
      resources: {cpu: 4, gpu: 0.5}
      steps:
        - {id: a, run: x, mutex: db, resources: {gpu: 0.25, cpu: 1}, expected: 2s, priority: -7}
        - {id: b, run: x, mutex: db}
        - {id: c, run: x, mutex: other, resources: {cpu: 0}}
      """)
    #expect(
      plan.pools == [
        PoolSpec(name: "cpu", capacity: 4_000_000), PoolSpec(name: "gpu", capacity: 500_000),
        PoolSpec(name: "db", capacity: 1_000_000), PoolSpec(name: "other", capacity: 1_000_000),
      ])
    let first = plan.graph[OperationID(0)]
    #expect(
      first.claims == [
        Claim(PoolID(0), amount: 1_000_000), Claim(PoolID(1), amount: 250_000),
        Claim(PoolID(2), amount: 1_000_000),
      ])
    #expect(first.expected == 2_000_000_000)
    #expect(first.priority == -7)
    #expect(plan.graph[OperationID(1)].claims == [Claim(PoolID(2), amount: 1_000_000)])
    #expect(plan.graph[OperationID(2)].claims == [Claim(PoolID(3), amount: 1_000_000)])
  }

  @Test func `what hangs on parameters that were not given is no mistake of the file`() throws {
    let text = """
      params: {env: {type: string}, where: {type: list}}
      steps:
        - {id: a, run: x, mutex: "deploy-${{ params.env }}"}
        - {id: b, run: x, mutex: "deploy-${{ env.USER ?? 'me' }}"}
        - {id: t, run: x, matrix: {os: "${{ params.where }}"}, mutex: "${{ matrix.os }}"}
        - {id: z, run: x, depends_on: ["t[os=linux]", "t[os=mac]", "n[os=east]"]}
        - {id: m, run: x, depends_on: [{step: t, match: matrix}], matrix: {os: [linux, mac]}}
        - {id: o, run: x, depends_on: [{step: m, match: matrix}], matrix: {os: "${{ params.where }}"}}
        - {id: n, uses: ./n.yml, matrix: {os: "${{ params.where }}"}, with: {e: "${{ params.env }}"}}
        - {id: k, uses: ./n.yml, with: {e: "${{ params.env }}"}}
      """
    var options = PlanningOptions()
    options.files = PipelineFiles { _, _ in
      .success(
        Array(
          """
          params: {e: {type: string}}
          steps: [{id: p, run: x, mutex: "x-${{ params.e }}"}]
          """.utf8))
    }
    guard case .badParameters(let faults) = planned(Array(text.utf8), options) else {
      Issue.record("the parameters are missing")
      return
    }
    #expect(
      faults == """
        parameter 'env' is required: pass --param env=… or set OPRUN_PARAM_ENV
        parameter 'where' is required: pass --param where=… or set OPRUN_PARAM_WHERE

        """)
    options.demandsAllParameters = false
    let plan = try plan(text, options)
    #expect(plan.edges.filter { $0.contains(">z") } == ["t>z", "n>z"])
    #expect(plan.pools.map(\.name).contains("deploy-${{ params.env }}"))
  }

  @Test func `what only the run knows is no name of a mutex`() {
    let text = """
      steps:
        - {id: a, run: x}
        - {id: b, run: x, mutex: "${{ run.id }}"}
        - {id: c, run: x, depends_on: [a], mutex: "${{ steps.a.outcome }}"}
        - {id: d, run: x, mutex: "${{ hashFiles('a') }}"}
        - {id: e, run: x, matrix: {v: "${{ [run.id] }}"}, mutex: "${{ matrix.v }}"}
      """
    let message = "the name of a mutex must be known before the run"
    #expect(
      messages(text) == [
        "3:33: \(message)", "4:50: \(message)", "5:33: \(message)", "6:65: \(message)",
      ])
  }

  @Test func `a pipeline is called by its name, else by its file`() throws {
    #expect(try plan("name: Gallery\n" + step("run: x")).name == "Gallery")
    #expect(try plan(step("run: x")).name == "pipeline.yml")
    let plan = try makePlan(
      path: "a/b/c.yml", bytes: Array(step("run: x").utf8), options: PlanningOptions())
    #expect(plan.name == "c.yml")
    #expect(plan.sources.position(of: plan.steps[0].span).line == 2)
  }
}
