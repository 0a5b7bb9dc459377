// The settings of a valid file, as they are in the plan.

import Pipelines
import Plans
import Scheduling
import Testing

private func settings(_ lines: String, top: String = "") throws -> StepSettings {
  let plan = try plan(top + step(lines.contains("run:") ? lines : "run: x\n" + lines))
  return try #require(plan.steps.last).settings
}

struct SettingsTests {
  @Test func `a step that says nothing has the defaults, shared by all such steps`() throws {
    let plan = try plan("steps:\n  - {id: a, run: x}\n  - {id: b, run: y}\n")
    let settings = plan.steps[0].settings
    #expect(settings === plan.steps[1].settings)
    #expect(settings.name == nil)
    #expect(settings.environment == [])
    #expect(settings.workingDirectory == nil)
    #expect(settings.shell == ["/bin/sh", "-e"])
    #expect(settings.standardInput == nil)
    #expect(settings.timeout == nil)
    #expect(settings.retry == RetryPolicy())
    #expect(settings.allowFailure == .never)
    #expect(settings.stop == StopSequence())
    #expect(settings.logLimit == 1 << 30)
    #expect(settings.nice == 0)
    #expect(settings.orphans == .kill)
    #expect(settings.sharesJobs == nil)
    #expect(settings.hooks.isEmpty)
  }

  @Test func `steps that say the same share their settings`() throws {
    let plan = try plan(
      "steps:\n" + (0..<4).map { "  - {id: s\($0), run: x, timeout: \($0 % 2 + 1)s}\n" }.joined())
    #expect(plan.steps[0].settings === plan.steps[2].settings)
    #expect(plan.steps[1].settings === plan.steps[3].settings)
    #expect(plan.steps[0].settings !== plan.steps[1].settings)
  }

  @Test func `every setting of a step is in the plan`() throws {
    let settings = try settings(
      """
      run: x
      name: Build it
      env: {A: b}
      working_dir: src
      shell: bash
      stdin: "in\\n"
      timeout: 1h30m
      retry: {limit: 3, delay: 1s, backoff: 1.5, max_delay: 1m, jitter: full, on: [signal, exit 75]}
      allow_failure: {exit_codes: [2, 3]}
      stop: {signal: SIGINT, grace: 500ms}
      log_limit: 512K
      nice: -5
      orphans: warn
      jobserver: true
      on_success: echo a
      on_failure: [echo, b]
      on_cancel: {run: [echo, c]}
      on_complete: [echo d, [echo, e], {run: echo f}]
      """)
    #expect(settings.name == "Build it")
    #expect(settings.environment == [EnvironmentVariable(name: "A", value: "b")])
    #expect(settings.workingDirectory == "src")
    #expect(settings.shell == ["bash", "-eo", "pipefail"])
    #expect(settings.standardInput == "in\n")
    #expect(settings.timeout == 5_400_000_000_000)
    var retry = RetryPolicy()
    retry.limit = 3
    retry.delay = 1_000_000_000
    retry.backoff = 1500
    retry.maxDelay = 60_000_000_000
    retry.hasJitter = true
    retry.triggers = [.signal, .exit(75)]
    #expect(settings.retry == retry)
    #expect(settings.allowFailure == .exitCodes([2, 3]))
    var stop = StopSequence()
    stop.signal = 2
    stop.grace = 500_000_000
    #expect(settings.stop == stop)
    #expect(settings.logLimit == 512 * 1024)
    #expect(settings.nice == -5)
    #expect(settings.orphans == .warn)
    #expect(settings.sharesJobs == true)
    #expect(settings.hooks.onSuccess == [.known(.script("echo a"))])
    #expect(settings.hooks.onFailure == [.known(.arguments(["echo", "b"]))])
    #expect(settings.hooks.onCancel == [.known(.arguments(["echo", "c"]))])
    #expect(
      settings.hooks.onComplete.map(\.work.known)
        == [.script("echo d"), .arguments(["echo", "e"]), .script("echo f")])
  }

  @Test func `a number is a number of retries, true allows every failure`() throws {
    #expect(try settings("retry: 2").retry.limit == 2)
    #expect(try settings("allow_failure: true").allowFailure == .always)
    #expect(try settings("allow_failure: false").allowFailure == .never)
  }

  @Test func `a merged limit may be an expression, too`() throws {
    #expect(
      try settings(
        "retry: {<<: *r, delay: 2s}", top: "params: {n: 2}\nx-r: &r {limit: '${{ params.n }}'}\n"
      ).retry.limit == 2)
  }

  @Test(arguments: [
    ("sh", ["/bin/sh", "-e"]), ("bash", ["bash", "-eo", "pipefail"]),
    ("/usr/bin/bash", ["/usr/bin/bash", "-eo", "pipefail"]), ("/opt/sh", ["/opt/sh", "-e"]),
    ("zsh", ["zsh", "-e"]), ("dash", ["dash", "-e"]), ("python3", ["python3"]),
    ("bash5.2", ["bash5.2", "-eo", "pipefail"]), ("/bin/ksh93", ["/bin/ksh93", "-e"]),
    ("zsh-5.9", ["zsh-5.9", "-e"]), ("rbash", ["rbash", "-eo", "pipefail"]),
    ("oksh", ["oksh", "-e"]), ("sh.bat", ["sh.bat"]), ("fish", ["fish"]),
    ("[bash, -x]", ["bash", "-x"]),
  ])
  func `a known shell stops at the first failing command`(
    _ shell: String, _ words: [String]
  ) throws {
    #expect(try settings("shell: \(shell)").shell == words)
  }

  @Test(
    arguments: [
      ("250ms", 250_000_000), ("30s", 30_000_000_000), ("1h30m", 5_400_000_000_000),
      ("1d2h3m4s5ms", 93_784_005_000_000), ("0001s", 1_000_000_000),
    ] as [(String, Nanoseconds)])
  func `durations add up`(_ text: String, _ nanoseconds: Nanoseconds) throws {
    #expect(try settings("timeout: \(text)").timeout == nanoseconds)
  }

  @Test func `plain numbers and booleans in env are taken as they are written`() throws {
    let variables = try settings("env: {A: 1.50, B: true, C: 007, D: '', E: no, F: 0x1F}")
    #expect(variables.environment.map(\.value) == ["1.50", "true", "007", "", "no", "0x1F"])
  }

  @Test func `scripts keep the text of their style`() throws {
    func script(_ lines: String) throws -> Action? {
      try plan(step(lines)).steps[0].work.known
    }
    #expect(try script("run: echo a") == .script("echo a"))
    #expect(try script("run: 'it''s'") == .script("it's"))
    #expect(try script("run: \"a\\tb\"") == .script("a\tb"))
    #expect(try script("run: |\n  a\n    b\n") == .script("a\n  b\n"))
    #expect(try script("run: >-\n  a\n  b\n") == .script("a b"))
    #expect(try script("run: a\n  b") == .script("a b"))
    #expect(try script("run: true") == .script("true"))
    #expect(try script("run: &r echo é") == .script("echo é"))
    #expect(try script("run: [a, 'b c', \"\\n\", 5]") == .arguments(["a", "b c", "\n", "5"]))
  }
}

struct DefaultsTests {
  @Test func `defaults hold for steps that do not set the key`() throws {
    let plan = try plan(
      """
      working_dir: base
      shell: bash
      env: {A: top, B: top}
      queues: {net: {}}
      defaults:
        timeout: 5m
        retry: 2
        queue: net
        priority: high
        env: {B: default, C: default}
        working_dir: sub
        on_failure: echo default
      steps:
        - {id: a, run: x}
        - id: b
          run: x
          timeout: 1m
          priority: low
          env: {C: own, A: own}
          working_dir: /abs
          on_failure: echo own
      """)
    let (plain, own) = (plan.steps[0].settings, plan.steps[1].settings)
    #expect(plain.timeout == 300_000_000_000)
    #expect(own.timeout == 60_000_000_000)
    #expect([plain.retry.limit, own.retry.limit] == [2, 2])
    #expect(
      plain.environment.map { "\($0.name)=\($0.value)" } == ["A=top", "B=default", "C=default"])
    #expect(own.environment.map { "\($0.name)=\($0.value)" } == ["A=own", "B=default", "C=own"])
    #expect([plain.workingDirectory, own.workingDirectory] == ["base/sub", "/abs"])
    #expect(plain.shell == ["bash", "-eo", "pipefail"])
    #expect(plain.hooks.onFailure == [.known(.script("echo default"))])
    #expect(own.hooks.onFailure == [.known(.script("echo own"))])
    #expect(plan.graph[OperationID(0)].priority == 4)
    #expect(plan.graph[OperationID(1)].priority == -4)
    #expect(plan.graph[OperationID(1)].queue == QueueID(1))
  }

  @Test func `the run's own hooks get what the pipeline says, not the defaults`() throws {
    let plan = try plan(
      """
      env: {A: top}
      working_dir: base
      on_complete: echo done
      defaults: {env: {A: default}, working_dir: sub, on_complete: echo step}
      steps: [{id: a, run: x}]
      """)
    #expect(plan.settings.environment.map(\.value) == ["top"])
    #expect(plan.settings.workingDirectory == "base")
    #expect(plan.settings.hooks.onComplete == [.known(.script("echo done"))])
  }
}

struct ReuseTests {
  @Test func `anchors, aliases and merge keys are followed, the written key wins`() throws {
    let plan = try plan(
      """
      x-slow: &slow
        timeout: 1h
        retry: 1
      x-env: &env {A: merged, B: merged}
      x-needs: &needs [a]
      x-both: &both {<<: *slow, nice: 3}
      steps:
        - &first
          id: a
          run: x
          <<: *slow
          retry: 5
        - id: b
          run: &script echo b
          env: {<<: *env, A: written}
          depends_on: *needs
        - {<<: [*both, {nice: 4, orphans: warn}], id: c, run: *script}
      """)
    #expect(plan.steps[0].settings.timeout == 3_600_000_000_000)
    #expect(plan.steps[0].settings.retry.limit == 5)
    #expect(
      plan.steps[1].settings.environment.map { "\($0.name)=\($0.value)" } == [
        "A=written", "B=merged",
      ])
    #expect(plan.edges == ["a>b"])
    #expect(plan.steps[2].work == .known(.script("echo b")))
    #expect(plan.steps[2].settings.nice == 3)
    #expect(plan.steps[2].settings.timeout == 3_600_000_000_000)
    #expect(plan.steps[2].settings.orphans == .warn)
  }

  @Test func `steps may come from an alias or a merge key`() throws {
    for text in [
      "x-s: &s\n  - {id: a, run: x}\n  - {id: b, run: y}\nsteps: *s\n",
      "x-p: &p {steps: [{id: a, run: x}, {id: b, run: y}]}\n<<: *p\n",
      "x-a: &a {id: a, run: x}\nx-b: &b {id: b, run: y}\nsteps: [*a, *b]\n",
      "steps: &s\n  - {id: a, run: x}\n  - {id: b, run: y}\nx-s: *s\n",
    ] {
      let plan = try plan(text)
      #expect(plan.steps.map(\.id) == ["a", "b"])
      #expect(plan.steps.map(\.work) == [.known(.script("x")), .known(.script("y"))])
    }
  }

  @Test func `a mistake in what is repeated is one error, where it is written`() {
    #expect(
      messages(
        """
        x-a: &a {timeout: 5, tiemout: 1s}
        steps:
          - {id: a, run: x, <<: *a}
          - {id: b, run: x, <<: *a}
        """) == [
          "1:19: 'timeout' must be a duration such as 30s, but the number 5 has no unit",
          "1:22: unknown key 'tiemout' in step 'a'",
        ])
  }

  @Test func `a merge key takes maps`() {
    #expect(
      messages(step("run: x\n<<: 5")) == [
        "4:9: '<<' must be a map or a list of maps, not the number 5"
      ])
    #expect(
      messages(step("run: x\n<<: [{nice: 1}, [x]]")) == [
        "4:21: '<<' must be a map or a list of maps, not a list"
      ])
    #expect(messages(step("run: x\n\"<<\": {}")) == ["4:5: unknown key '<<' in step 'a'"])
  }

  @Test func `keys written twice are refused everywhere, extensions included`() {
    #expect(
      errors("x-a: {k: 1, k: 2}\nsteps:\n  - id: a\n    run: x\n    run: y\n") == """
        pipeline.yml:1:13: error: key 'k' is written twice in this map
         1 | x-a: {k: 1, k: 2}
           |             ^
           |       ~ first here
        pipeline.yml:5:5: error: key 'run' is written twice in step 'a'
         5 |     run: y
           |     ^~~
         4 |     run: x
           |     ~~~ first here
        pipeline.yml: 2 errors

        """)
    #expect(
      messages("x-a: 1\nx-a: 2\nsteps: [{id: a, run: x}]\nsteps: []\n") == [
        "2:1: key 'x-a' is written twice in this map",
        "4:1: key 'steps' is written twice at top level",
      ])
    #expect(
      messages("x-m: &m {nice: 1, nice: 2}\n" + step("run: x\n<<: *m")) == [
        "1:19: key 'nice' is written twice in this map"
      ])
  }

  @Test func `extensions may hold anything that is YAML`() throws {
    #expect(
      try plan("x-a: {run: 5, y: [~, {z: {}}]}\n$schema: s\n" + step("run: x")).steps.count == 1)
    #expect(messages("y-a: 1\n" + step("run: x")) == ["1:1: unknown key 'y-a' at top level"])
  }
}
