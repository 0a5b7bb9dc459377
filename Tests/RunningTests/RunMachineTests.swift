// Attempts, time limits, hooks: what the machine decides, in virtual time.

import Plans
import Scheduling
import Testing

@testable import Running

private let second: Nanoseconds = 1_000_000_000

private func hooks(
  success: Int = 0, failure: Int = 0, cancel: Int = 0, complete: Int = 0
) -> Hooks {
  var hooks = Hooks()
  hooks.onSuccess = Array(repeating: .known(.script("hook")), count: success)
  hooks.onFailure = Array(repeating: .known(.script("hook")), count: failure)
  hooks.onCancel = Array(repeating: .known(.script("hook")), count: cancel)
  hooks.onComplete = Array(repeating: .known(.script("hook")), count: complete)
  return hooks
}

private func retry(_ limit: Int, _ change: (inout RetryPolicy) -> Void = { _ in }) -> RetryPolicy {
  var policy = RetryPolicy()
  policy.limit = limit
  change(&policy)
  return policy
}

struct `Run machine` {
  @Test func `steps run in order and the run ends with 0`() {
    #expect(
      Simulation(graph: "a; b: a").timeline()
        == "0:+a 1:-a=0 1:a=succeeded 1:+b 2:-b=0 2:b=succeeded 2:end=0")
  }

  @Test func `a failure blocks what is downstream and nothing else`() {
    #expect(
      Simulation(graph: "a; b: a; c: b; d", scripts: ["a": "3@1", "d": "ok@2"]).timeline()
        == "0:+a 0:+d 1:-a=3 1:a=failed 1:b=blocked<a 1:c=blocked<a 2:-d=0 2:d=succeeded 2:end=1")
  }

  @Test func `a command that cannot be started is a failure`() {
    #expect(
      Simulation(graph: "a", scripts: ["a": "missing"]).timeline()
        == "0:+a 0:-a=missing 0:a=failed 0:end=1")
  }

  @Test func `an allowed failure lets dependents run and the run stays green`() {
    let settings = ["a": StepSettings(allowFailure: .exitCodes([3]))]
    #expect(
      Simulation(graph: "a; b: a", scripts: ["a": "3@1"], settings: settings).timeline()
        == "0:+a 1:-a=3 1:a=failed(allowed) 1:+b 2:-b=0 2:b=succeeded 2:end=0")
    #expect(
      Simulation(graph: "a; b: a", scripts: ["a": "4@1"], settings: settings).timeline()
        == "0:+a 1:-a=4 1:a=failed 1:b=blocked<a 1:end=1")
    #expect(
      Simulation(graph: "a", scripts: ["a": "3@1"], settings: settings, isStrict: true).timeline()
        == "0:+a 1:-a=3 1:a=failed(allowed) 1:end=1")
  }

  @Test func `retries wait longer each time up to the longest delay`() {
    let policy = retry(4) {
      $0.delay = 2 * second
      $0.backoff = 2000
      $0.maxDelay = 5 * second
    }
    #expect(
      Simulation(
        graph: "a", scripts: ["a": "1@1 1@1 1@1 1@1 ok@1"],
        settings: ["a": StepSettings(retry: policy)]
      ).timeline()
        == "0:+a 1:-a=1 1:a#2in2 3:+a 4:-a=1 4:a#3in4 8:+a 9:-a=1 9:a#4in5 14:+a 15:-a=1 15:a#5in5 "
        + "20:+a 21:-a=0 21:a=succeeded 21:end=0")
  }

  @Test func `a step that waits for a retry gives its slot back`() {
    let policy = retry(1) { $0.delay = 5 * second }
    #expect(
      Simulation(
        graph: "a; b", scripts: ["a": "1@1 ok@1"], settings: ["a": StepSettings(retry: policy)],
        width: 1
      ).timeline()
        == "0:+a 1:-a=1 1:a#2in5 1:+b 2:-b=0 2:b=succeeded 6:+a 7:-a=0 7:a=succeeded 7:end=0")
  }

  @Test(arguments: [
    (RetryTrigger.failed, "1@1", true), (.failed, "sig9@1", true), (.signal, "sig9@1", true),
    (.signal, "1@1", false), (.exit(75), "75@1", true), (.exit(75), "1@1", false),
    (.exit(127), "missing", true), (.timedOut, "1@1", false), (.timedOut, "hang", true),
    (.failed, "hang", false),
  ])
  func `only what is asked for is tried again`(
    trigger: RetryTrigger, script: String, isRetried: Bool
  ) {
    let settings = StepSettings(timeout: 3 * second, retry: retry(1) { $0.triggers = [trigger] })
    let timeline = Simulation(
      graph: "a", scripts: ["a": "\(script) ok@1"], settings: ["a": settings]
    ).timeline()
    #expect(timeline.contains("a#2in0") == isRetried, "\(timeline)")
    #expect(timeline.hasSuffix(isRetried ? "end=0" : "end=1"))
  }

  @Test func `a time limit asks first and kills after the grace`() {
    let settings = StepSettings(timeout: 2 * second)
    #expect(
      Simulation(graph: "a", scripts: ["a": "hang"], settings: ["a": settings]).timeline()
        == "0:+a 2:stop(a) 2:-a=sig15! 2:a=timedOut 2:end=1")
    #expect(
      Simulation(graph: "a", scripts: ["a": "stubborn"], settings: ["a": settings]).timeline()
        == "0:+a 2:stop(a) 7:kill(a) 7:-a=sig9! 7:a=timedOut 7:end=1")
  }

  @Test func `each attempt has the whole time limit`() {
    let settings = StepSettings(timeout: 2 * second, retry: retry(1))
    #expect(
      Simulation(graph: "a", scripts: ["a": "hang ok@1"], settings: ["a": settings]).timeline()
        == "0:+a 2:stop(a) 2:-a=sig15! 2:a#2in0 2:+a 3:-a=0 3:a=succeeded 3:end=0")
  }

  @Test func `hooks run after the last attempt and before dependents`() {
    let settings = StepSettings(
      retry: retry(1), hooks: hooks(success: 2, failure: 1, complete: 1))
    #expect(
      Simulation(graph: "a; b: a", scripts: ["a": "1@1 ok@1"], settings: ["a": settings])
        .timeline()
        == "0:+a 1:-a=1 1:a#2in0 1:+a 2:-a=0 2:+a.on_success.1 3:-a.on_success.1=0 "
        + "3:+a.on_success.2 4:-a.on_success.2=0 4:+a.on_complete.1 5:-a.on_complete.1=0 "
        + "5:a=succeeded 5:+b 6:-b=0 6:b=succeeded 6:end=0")
    #expect(
      Simulation(graph: "a", scripts: ["a": "1@1"], settings: ["a": settings]).timeline()
        == "0:+a 1:-a=1 1:a#2in0 1:+a 2:-a=1 2:+a.on_failure.1 3:-a.on_failure.1=0 "
        + "3:+a.on_complete.1 4:-a.on_complete.1=0 4:a=failed 4:end=1")
  }

  @Test func `a failed hook turns success into failure and the completion hook still runs`() {
    let settings = StepSettings(hooks: hooks(success: 2, complete: 1))
    #expect(
      Simulation(
        graph: "a; b: a", scripts: ["a.on_success.1": "9@1"], settings: ["a": settings]
      ).timeline()
        == "0:+a 1:-a=0 1:+a.on_success.1 2:-a.on_success.1=9 2:+a.on_complete.1 "
        + "3:-a.on_complete.1=0 3:a=failed<on_success 3:b=blocked<a 3:end=1")
  }

  @Test func `a failed hook does not hide the failure before it`() {
    let settings = StepSettings(hooks: hooks(failure: 1))
    #expect(
      Simulation(
        graph: "a", scripts: ["a": "3@1", "a.on_failure.1": "9@1"], settings: ["a": settings]
      ).timeline()
        == "0:+a 1:-a=3 1:+a.on_failure.1 2:-a.on_failure.1=9 2:a=failed 2:end=1")
  }

  @Test func `a hook holds the slot`() {
    #expect(
      Simulation(
        graph: "a; b", settings: ["a": StepSettings(hooks: hooks(complete: 1))], width: 1
      ).timeline()
        == "0:+a 1:-a=0 1:+a.on_complete.1 2:-a.on_complete.1=0 2:a=succeeded 2:+b 3:-b=0 "
        + "3:b=succeeded 3:end=0")
  }

  @Test func `the run has hooks of its own`() {
    let run = StepSettings(hooks: hooks(success: 1, failure: 1, cancel: 1, complete: 1))
    #expect(
      Simulation(graph: "a", run: run).timeline()
        == "0:+a 1:-a=0 1:a=succeeded 1:+@run.on_success.1 2:-@run.on_success.1=0 "
        + "2:+@run.on_complete.1 3:-@run.on_complete.1=0 3:end=0")
    #expect(
      Simulation(graph: "a", scripts: ["a": "1@1"], run: run).timeline()
        == "0:+a 1:-a=1 1:a=failed 1:+@run.on_failure.1 2:-@run.on_failure.1=0 "
        + "2:+@run.on_complete.1 3:-@run.on_complete.1=0 3:end=1")
    #expect(
      Simulation(graph: "a", scripts: ["@run.on_complete.1": "1@1"], run: run).timeline()
        .hasSuffix("3:-@run.on_complete.1=1 3:end=1"))
  }
}
