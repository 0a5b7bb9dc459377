// Hooks and failure policies of pipelines that are used, and how many instances of one are under way, in
// virtual time.

import Plans
import Scheduling
import Testing

private let second: Nanoseconds = 1_000_000_000

@Suite struct `Hooks of a pipeline that is used` {
  private func simulation(
    _ scripts: [String: String] = [:], settings: StepSettings = StepSettings(hooks: .ofEachKind),
    policy: FailurePolicy = .continue, signals: [(second: Nanoseconds, signal: Int32)] = [],
    width: Int = 8, others: [String: String] = [:]
  ) -> Simulation {
    Simulation(
      graph: "z; g/a: z; g/b: z; g: g/a?done g/b?done; c: g", scripts: scripts,
      settings: ["g": settings],
      decisions: others.merging(["g": "join"]) { own, _ in own },
      groups: ["g^": ["g/a", "g/b"]], width: width, failurePolicy: policy, signals: signals)
  }

  @Test func `run once, when all of its steps have ended and before what depends on it`() {
    #expect(
      simulation(["g/b": "ok@3"]).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 1:+g/b 2:-g/a=0 2:g/a=succeeded 4:-g/b=0 "
        + "4:g/b=succeeded 4:+g.on_success.1 5:-g.on_success.1=0 5:+g.on_complete.1 "
        + "6:-g.on_complete.1=0 6:g=succeeded 6:+c 7:-c=0 7:c=succeeded 7:end=0")
  }

  @Test func `see that a step failed`() {
    #expect(
      simulation(["g/a": "1@1", "g/b": "ok@3"]).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 1:+g/b 2:-g/a=1 2:g/a=failed 4:-g/b=0 "
        + "4:g/b=succeeded 4:+g.on_failure.1 5:-g.on_failure.1=0 5:+g.on_complete.1 "
        + "6:-g.on_complete.1=0 6:g=failed<g/a 6:c=blocked<g/a 6:end=1")
  }

  private func allowing(_ scripts: [String: String]) -> Simulation {
    var plan = simulation(scripts)
    plan.settings["g/a"] = StepSettings(allowFailure: .always)
    return plan
  }

  @Test func `see success if what failed was allowed to`() {
    #expect(
      allowing(["g/a": "1@1"]).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 1:+g/b 2:-g/a=1 2:g/a=failed(allowed) 2:-g/b=0 "
        + "2:g/b=succeeded 2:+g.on_success.1 3:-g.on_success.1=0 3:+g.on_complete.1 "
        + "4:-g.on_complete.1=0 4:g=failed(allowed)<g/a 4:+c 5:-c=0 5:c=succeeded 5:end=0")
    #expect(
      allowing(["g/a": "1@1", "g.on_success.1": "1@1"]).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 1:+g/b 2:-g/a=1 2:g/a=failed(allowed) 2:-g/b=0 "
        + "2:g/b=succeeded 2:+g.on_success.1 3:-g.on_success.1=1 3:+g.on_complete.1 "
        + "4:-g.on_complete.1=0 4:g=failed<on_success 4:c=blocked<g 4:end=1")
  }

  @Test func `see with strict that a step failed although it was allowed to`() {
    var plan = allowing(["g/a": "1@1"])
    plan.isStrict = true
    #expect(
      plan.timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 1:+g/b 2:-g/a=1 2:g/a=failed(allowed) 2:-g/b=0 "
        + "2:g/b=succeeded 2:+g.on_failure.1 3:-g.on_failure.1=0 3:+g.on_complete.1 "
        + "4:-g.on_complete.1=0 4:g=failed(allowed)<g/a 4:+c 5:-c=0 5:c=succeeded 5:end=1")
  }

  @Test func `do not run if nothing of it has started`() {
    #expect(
      simulation(["z": "1@1"]).timeline()
        == "0:+z 1:-z=1 1:z=failed 1:g/a=blocked<z 1:g/b=blocked<z 1:g=blocked<z 1:c=blocked<z "
        + "1:end=1")
    #expect(
      simulation(others: ["g/a": "skip", "g/b": "skip"]).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/a=skipped<no 1:g/b=skipped<no 1:g=skipped<everything "
        + "in it was skipped 1:+c 2:-c=0 2:c=succeeded 2:end=0")
    #expect(
      simulation(["z": "hang"], signals: [(1, 2)]).timeline()
        == "0:+z 1:signal2 1:stopping(signal2) 1:g/a=cancelled<signal2 1:g/b=cancelled<signal2 "
        + "1:c=cancelled<signal2 1:g=cancelled<signal2 1:stop(z) 1:-z=sig15 "
        + "1:z=cancelled<signal2 1:end=130")
  }

  @Test func `turn its success into a failure`() {
    #expect(
      simulation(["g.on_success.1": "1@1"]).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 1:+g/b 2:-g/a=0 2:g/a=succeeded 2:-g/b=0 "
        + "2:g/b=succeeded 2:+g.on_success.1 3:-g.on_success.1=1 3:+g.on_complete.1 "
        + "4:-g.on_complete.1=0 4:g=failed<on_success 4:c=blocked<g 4:end=1")
  }

  @Test func `are ended in time`() {
    #expect(
      simulation(["g.on_success.1": "hang"]).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 1:+g/b 2:-g/a=0 2:g/a=succeeded 2:-g/b=0 "
        + "2:g/b=succeeded 2:+g.on_success.1 42:stop(g.on_success.1) 42:-g.on_success.1=sig15! "
        + "42:+g.on_complete.1 43:-g.on_complete.1=0 43:g=failed<on_success 43:c=blocked<g "
        + "43:end=1")
  }

  @Test func `run after a signal, for thirty seconds`() {
    #expect(
      simulation(["g/a": "hang", "g.on_cancel.1": "hang"], signals: [(2, 2)]).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 1:+g/b 2:signal2 2:stopping(signal2) "
        + "2:c=cancelled<signal2 2:stop(g/a) 2:stop(g/b) 2:-g/b=0 2:g/b=cancelled<signal2 "
        + "2:-g/a=sig15 2:g/a=cancelled<signal2 2:+g.on_cancel.1 32:kill(g.on_cancel.1) "
        + "32:-g.on_cancel.1=sig9! 32:+g.on_complete.1 33:-g.on_complete.1=0 "
        + "33:g=cancelled<signal2 33:end=130")
  }

  @Test func `are stopped by a signal`() {
    #expect(
      simulation(["g.on_success.1": "hang"], signals: [(4, 2)]).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 1:+g/b 2:-g/a=0 2:g/a=succeeded 2:-g/b=0 "
        + "2:g/b=succeeded 2:+g.on_success.1 4:signal2 4:stopping(signal2) "
        + "4:c=cancelled<signal2 4:stop(g.on_success.1) 4:-g.on_success.1=sig15~ "
        + "4:+g.on_cancel.1 5:-g.on_cancel.1=0 5:+g.on_complete.1 6:-g.on_complete.1=0 "
        + "6:g=cancelled<signal2 6:end=130")
  }

  @Test func `are left by the third signal`() {
    #expect(
      simulation(
        ["g/a": "stubborn", "g.on_cancel.1": "hang"], signals: [(2, 2), (3, 2), (4, 2)]
      ).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 1:+g/b 2:signal2 2:stopping(signal2) "
        + "2:c=cancelled<signal2 2:stop(g/a) 2:stop(g/b) 2:-g/b=0 2:g/b=cancelled<signal2 "
        + "3:signal2 3:kill(g/a) 3:-g/a=sig9 3:g/a=cancelled<signal2 3:+g.on_cancel.1 4:signal2 "
        + "4:kill(g.on_cancel.1) 4:g=cancelled<signal2 4:end=130")
  }

  @Test func `run after the policy of the run has stopped it`() {
    #expect(
      simulation(["g/a": "1@1", "g/b": "hang"], policy: .cancel).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 1:+g/b 2:-g/a=1 2:g/a=failed 2:stopping(g/a) "
        + "2:c=cancelled<g/a 2:stop(g/b) 2:-g/b=sig15 2:g/b=cancelled<g/a 2:+g.on_failure.1 "
        + "3:-g.on_failure.1=0 3:+g.on_complete.1 4:-g.on_complete.1=0 4:g=failed<g/a 4:end=1")
  }

  @Test func `run after its time is over`() {
    #expect(
      simulation(
        ["g/a": "hang"], settings: StepSettings(timeout: 2 * second, hooks: .ofEachKind)
      ).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 1:+g/b 2:-g/b=0 2:g/b=succeeded 3:stop(g/a) "
        + "3:-g/a=sig15 3:g/a=cancelled<limit(g) 3:+g.on_failure.1 4:-g.on_failure.1=0 "
        + "4:+g.on_complete.1 5:-g.on_complete.1=0 5:g=timedOut<its steps together exceeded "
        + "'timeout' 5:c=blocked<g 5:end=1")
  }

  @Test func `wait until a command may run`() {
    var plan = simulation(["g/b": "ok@3"])
    plan.width = 1
    #expect(
      plan.timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/a 2:-g/a=0 2:g/a=succeeded 2:+g/b 5:-g/b=0 "
        + "5:g/b=succeeded 5:+g.on_success.1 6:-g.on_success.1=0 6:+g.on_complete.1 "
        + "7:-g.on_complete.1=0 7:g=succeeded 7:+c 8:-c=0 8:c=succeeded 8:end=0")
  }
}

@Suite struct `The failure policy of a pipeline that is used` {
  private func simulation(_ policy: FailurePolicy) -> Simulation {
    Simulation(
      graph: "x; g/a; g/b; g/c: g/b; g: g/a?done g/b?done g/c?done; d",
      scripts: ["g/a": "1@1", "g/b": "ok@5", "x": "ok@5", "d": "ok@9"], decisions: ["g": "join"],
      groups: ["g^": ["g/a", "g/b", "g/c"]], policies: ["g": policy])
  }

  @Test func `lets the others go on`() {
    #expect(
      simulation(.continue).timeline()
        == "0:+g/b 0:+g/a 0:+x 0:+d 1:-g/a=1 1:g/a=failed 5:-g/b=0 5:g/b=succeeded 5:+g/c 5:-x=0 "
        + "5:x=succeeded 6:-g/c=0 6:g/c=succeeded 6:g=failed<g/a 9:-d=0 9:d=succeeded 9:end=1")
  }

  @Test func `starts nothing new in it`() {
    #expect(
      simulation(.stop).timeline()
        == "0:+g/b 0:+g/a 0:+x 0:+d 1:-g/a=1 1:g/a=failed 1:g/c=cancelled<g/a 5:-g/b=0 "
        + "5:g/b=succeeded 5:g=failed<g/a 5:-x=0 5:x=succeeded 9:-d=0 9:d=succeeded 9:end=1")
  }

  @Test func `ends what runs in it`() {
    #expect(
      simulation(.cancel).timeline()
        == "0:+g/b 0:+g/a 0:+x 0:+d 1:-g/a=1 1:g/a=failed 1:stop(g/b) 1:g/c=cancelled<g/a "
        + "1:-g/b=sig15 1:g/b=cancelled<g/a 1:g=failed<g/a 5:-x=0 5:x=succeeded 9:-d=0 "
        + "9:d=succeeded 9:end=1")
  }
}

@Suite struct `A width for instances of several steps` {
  @Test func `lets one begin when another has ended`() {
    let run = Simulation(
      graph: "a1; b1: a1; g1: a1?done b1?done; a2; b2: a2; g2: a2?done b2?done; g: g1?done g2?done",
      scripts: ["a1": "1@1"],
      decisions: [
        "a1": "run", "b1": "run", "a2": "run", "b2": "run", "g1": "join", "g2": "join", "g": "join",
      ], groups: ["g": ["g1", "g2"], "g1^": ["a1", "b1"], "g2^": ["a2", "b2"]], widths: ["g": 1])
    #expect(
      run.timeline()
        == "0:+a1 1:-a1=1 1:a1=failed 1:b1=blocked<a1 1:g1=failed<a1 1:+a2 2:-a2=0 "
        + "2:a2=succeeded 2:+b2 3:-b2=0 3:b2=succeeded 3:g2=succeeded 3:g=failed<a1 3:end=1")
  }

  @Test func `gives way if an instance waits for one that has not begun`() {
    let run = Simulation(
      graph: "z; a1: z; g1: a1?done; a2; x: a1; b2: a2 x; g2: a2?done b2?done; g: g1?done g2?done",
      decisions: [
        "a1": "run", "b2": "run", "a2": "run", "g1": "join", "g2": "join", "g": "join",
      ], groups: ["g": ["g1", "g2"], "g1^": ["a1"], "g2^": ["a2", "b2"]], widths: ["g": 1])
    #expect(
      run.timeline()
        == "0:+z 0:+a2 1:-z=0 1:z=succeeded 1:-a2=0 1:a2=succeeded 1:+a1 2:-a1=0 2:a1=succeeded "
        + "2:g1=succeeded 2:+x 3:-x=0 3:x=succeeded 3:+b2 4:-b2=0 4:b2=succeeded 4:g2=succeeded "
        + "4:g=succeeded 4:end=0")
  }

  @Test func `ends with the run`() {
    let run = Simulation(
      graph: "a1; g1: a1?done; a2; g2: a2?done; g: g1?done g2?done", scripts: ["a1": "hang"],
      decisions: ["a1": "run", "a2": "run", "g1": "join", "g2": "join", "g": "join"],
      groups: ["g": ["g1", "g2"], "g1^": ["a1"], "g2^": ["a2"]], widths: ["g": 1],
      signals: [(2, 2)])
    #expect(
      run.timeline()
        == "0:+a1 2:signal2 2:stopping(signal2) 2:a2=cancelled<signal2 2:g2=cancelled<signal2 "
        + "2:stop(a1) 2:-a1=sig15 2:a1=cancelled<signal2 2:g1=cancelled<signal2 "
        + "2:g=cancelled<signal2 2:end=130"
    )
  }
}
