// Groups that may fail, and groups with a time limit, in virtual time.

import Plans
import Scheduling
import Testing

@Suite struct `Groups as a whole` {
  private static let second: Nanoseconds = 1_000_000_000

  @Test func `what runs is stopped at the limit, what waits is cancelled, dependents are blocked`()
  {
    let run = Simulation(
      graph: "a; b: a; c; g: a?done b?done; d: g; e: g?failed",
      scripts: ["a": "hang", "c": "ok@9"],
      settings: ["g": StepSettings(timeout: 5 * Self.second)], decisions: ["g": "join"],
      groups: ["g": ["a", "b"]])
    #expect(
      run.timeline()
        == "0:+a 0:+c 5:stop(a) 5:b=cancelled<limit(g) 5:-a=sig15 5:a=cancelled<limit(g) "
        + "5:g=timedOut<its steps together exceeded 'timeout' 5:d=blocked<g 5:+e 6:-e=0 6:e=succeeded "
        + "9:-c=0 9:c=succeeded 9:end=1")
  }

  @Test func `the time of a group begins with its first command`() {
    let run = Simulation(
      graph: "z; a: z; g: a?done", scripts: ["z": "ok@9", "a": "ok@3"],
      settings: ["g": StepSettings(timeout: 5 * Self.second)], decisions: ["g": "join"],
      groups: ["g": ["a"]])
    #expect(
      run.timeline()
        == "0:+z 9:-z=0 9:z=succeeded 9:+a 12:-a=0 12:a=succeeded 12:g=succeeded 12:end=0")
  }

  @Test func `the limit of a group holds while a step waits for another attempt`() {
    var retry = RetryPolicy()
    retry.limit = 5
    retry.delay = 60 * Self.second
    let run = Simulation(
      graph: "a; g: a?done", scripts: ["a": "1@1"],
      settings: [
        "g": StepSettings(timeout: 5 * Self.second), "a": StepSettings(retry: retry),
      ], decisions: ["g": "join"], groups: ["g": ["a"]])
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a#2in60 5:a=cancelled<limit(g) "
        + "5:g=timedOut<its steps together exceeded 'timeout' 5:end=1")
  }

  @Test func `the limit of a group ends a hook of its steps`() {
    let run = Simulation(
      graph: "a; b; g: a?done b?done",
      scripts: [
        "a.on_success.1": "hang", "b": "1@1", "b.on_failure.1": "hang",
      ],
      settings: [
        "g": StepSettings(timeout: 5 * Self.second),
        "a": StepSettings(hooks: .ofEachKind), "b": StepSettings(hooks: .ofEachKind),
      ], decisions: ["g": "join"], groups: ["g": ["a", "b"]])
    #expect(
      run.timeline()
        == "0:+a 0:+b 1:-a=0 1:+a.on_success.1 1:-b=1 1:+b.on_failure.1 5:stop(a.on_success.1) "
        + "5:stop(b.on_failure.1) 5:-a.on_success.1=sig15~ 5:+a.on_cancel.1 "
        + "5:-b.on_failure.1=sig15~ 5:+b.on_complete.1 6:-a.on_cancel.1=0 6:+a.on_complete.1 "
        + "6:-b.on_complete.1=0 6:b=failed 7:-a.on_complete.1=0 7:a=cancelled<limit(g) "
        + "7:g=timedOut<its steps together exceeded 'timeout' 7:end=1")
  }

  @Test func `waiting for a condition does not begin the time of a group`() {
    let run = Simulation(
      graph: "a; g: a?done", scripts: ["a.wait.1": "1@0 1@0 1@0 ok@0", "a": "ok@3"],
      settings: ["g": StepSettings(timeout: 5 * Self.second)],
      decisions: ["a": "wait 2", "g": "join"], groups: ["g": ["a"]])
    #expect(
      run.timeline()
        == "0:probe(a) 0:a?it 2:probe(a) 4:probe(a) 6:probe(a) 6:+a 9:-a=0 9:a=succeeded "
        + "9:g=succeeded 9:end=0")
  }

  @Test func `the limit of an outer group ends the groups in it`() {
    let run = Simulation(
      graph: "a; b; g: a?done; o: g?done b?done", scripts: ["a": "hang"],
      settings: ["o": StepSettings(timeout: 5 * Self.second)],
      decisions: ["g": "join", "o": "join"], groups: ["g": ["a"], "o": ["g", "b"]])
    #expect(
      run.timeline()
        == "0:+a 0:+b 1:-b=0 1:b=succeeded 5:stop(a) 5:-a=sig15 5:a=cancelled<limit(o) "
        + "5:g=cancelled<limit(o) 5:o=timedOut<its steps together exceeded 'timeout' 5:end=1")
  }

  @Test func `a group that may fail blocks inside, and lets go on what depends on it`() {
    let run = Simulation(
      graph: "a; b: a; g: a?done b?done; d: g", scripts: ["a": "1@1"],
      settings: ["g": StepSettings(allowFailure: .always)], decisions: ["g": "join"],
      groups: ["g": ["a", "b"]], failurePolicy: .cancel)
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a=failed(allowed) 1:b=blocked<a 1:g=failed(allowed)<a 1:+d 2:-d=0 2:d=succeeded 2:end=0"
    )
  }

  @Test func `a failure that a group allows is one for a strict run`() {
    let run = Simulation(
      graph: "a; g: a?done", scripts: ["a": "1@1"],
      settings: ["g": StepSettings(allowFailure: .always)], decisions: ["g": "join"],
      groups: ["g": ["a"]], isStrict: true)
    #expect(run.timeline() == "0:+a 1:-a=1 1:a=failed(allowed) 1:g=failed(allowed)<a 1:end=1")
  }

  @Test func `fail_fast outside a group that may fail does not hear of its failures`() {
    let run = Simulation(
      graph: "a; b; g: a?done; m: g?done b?done", scripts: ["a": "1@1", "b": "ok@3"],
      settings: ["g": StepSettings(allowFailure: .always)],
      decisions: ["g": "join", "m": "join"], groups: ["g": ["a"], "m!": ["g", "b"]])
    #expect(
      run.timeline()
        == "0:+a 0:+b 1:-a=1 1:a=failed(allowed) 1:g=failed(allowed)<a 3:-b=0 3:b=succeeded 3:m=failed(allowed)<a 3:end=0"
    )
  }

  @Test func `a group that may fail may take too long`() {
    let run = Simulation(
      graph: "a; g: a?done; d: g", scripts: ["a": "hang"],
      settings: ["g": StepSettings(timeout: 2 * Self.second, allowFailure: .always)],
      decisions: ["g": "join"], groups: ["g": ["a"]])
    #expect(
      run.timeline()
        == "0:+a 2:stop(a) 2:-a=sig15 2:a=cancelled<limit(g) "
        + "2:g=timedOut(allowed)<its steps together exceeded 'timeout' 2:+d 3:-d=0 3:d=succeeded 3:end=0"
    )
  }

  @Test func `a group that is blocked is no failure of its own`() {
    let run = Simulation(
      graph: "z; a: z; g: a?done; d: g", scripts: ["z": "1@1"],
      settings: ["g": StepSettings(allowFailure: .always)], decisions: ["g": "join"],
      groups: ["g": ["a"]])
    #expect(
      run.timeline() == "0:+z 1:-z=1 1:z=failed 1:a=blocked<z 1:g=blocked<z 1:d=blocked<z 1:end=1")
  }
}
