// `wait_for` in a run, in virtual time.

import Plans
import Scheduling
import Testing

@Suite struct `Steps that wait for a condition` {
  @Test func `a condition that holds is met by the first probe`() {
    let run = Simulation(graph: "a", decisions: ["a": "wait 2 9"])
    #expect(run.timeline() == "0:probe(a) 1:+a 2:-a=0 2:a=succeeded 2:end=0")
  }

  @Test func `it is looked at again until it holds, and no slot is taken`() {
    let run = Simulation(
      graph: "a; b", scripts: ["a.wait.1": "1@0 1@0 ok@0", "b": "ok@9"],
      decisions: ["a": "wait 2 9"], width: 1)
    #expect(
      run.timeline()
        == "0:+b 0:probe(a) 0:a?it 2:probe(a) 4:probe(a) 9:-b=0 9:b=succeeded 9:+a 10:-a=0 "
        + "10:a=succeeded 10:end=0")
  }

  @Test func `what does not come in time times out, and blocks what waits for the step`() {
    let run = Simulation(
      graph: "a; b: a; c: a?failed", scripts: ["a.wait.1": "1@0"], decisions: ["a": "wait 2 5"])
    #expect(
      run.timeline()
        == "0:probe(a) 0:a?it 2:probe(a) 4:probe(a) 5:a=timedOut<it 5:b=blocked<a 5:+c 6:-c=0 "
        + "6:c=succeeded 6:end=1")
  }

  @Test func `hooks of what waited in vain run in a slot, without an attempt`() {
    var hooks = Hooks()
    hooks.onSuccess = [.known(.script("hook"))]
    hooks.onFailure = [.known(.script("hook")), .known(.script("hook"))]
    hooks.onComplete = [.known(.script("hook"))]
    let run = Simulation(
      graph: "a; b; c: a", scripts: ["a.wait.1": "1@0", "b": "ok@9"],
      settings: ["a": StepSettings(hooks: hooks)], decisions: ["a": "wait 2 5"], width: 1)
    #expect(
      run.timeline()
        == "0:+b 0:probe(a) 0:a?it 2:probe(a) 4:probe(a) 9:-b=0 9:b=succeeded 9:+a.on_failure.1 "
        + "10:-a.on_failure.1=0 10:+a.on_failure.2 11:-a.on_failure.2=0 11:+a.on_complete.1 "
        + "12:-a.on_complete.1=0 12:a=timedOut<it 12:c=blocked<a 12:end=1")
    let stopped = Simulation(
      graph: "a; b", scripts: ["a.wait.1": "1@0", "b": "ok@9"],
      settings: ["a": StepSettings(hooks: hooks)], decisions: ["a": "wait 2 5"],
      width: 1, signals: [(7, 15)])
    #expect(
      stopped.timeline()
        == "0:+b 0:probe(a) 0:a?it 2:probe(a) 4:probe(a) 7:signal15 7:stopping(signal15) "
        + "7:stop(b) 7:-b=sig15 7:b=cancelled<signal15 7:+a.on_failure.1 8:-a.on_failure.1=0 "
        + "8:+a.on_failure.2 9:-a.on_failure.2=0 9:+a.on_complete.1 10:-a.on_complete.1=0 "
        + "10:a=timedOut<it 10:end=143")
  }

  @Test func `a probe that never ends is ended by the limit`() {
    let run = Simulation(
      graph: "a", scripts: ["a.wait.1": "hang"], decisions: ["a": "wait 2 5"])
    #expect(run.timeline() == "0:probe(a) 5:kill(a.wait.1) 5:a=timedOut<it 5:end=1")
  }

  @Test func `what came while oprun was stopped is found when the limit is over`() {
    var run = Simulation(
      graph: "a", scripts: ["a.wait.1": "1@0 1@0 ok@0"], decisions: ["a": "wait 2 5"],
      stopped: 3..<9)
    let found = "9:probe(a) 9:+a 10:-a=0 10:a=succeeded 10:end=0"
    #expect(run.timeline() == "0:probe(a) 0:a?it 2:probe(a) " + found)
    run.decisions = ["a": "wait 3 5"]
    run.stopped = 4..<9
    #expect(run.timeline() == "0:probe(a) 0:a?it 3:probe(a) " + found)
    run.decisions = ["a": "wait 5 7"]
    run.stopped = 6..<9
    #expect(run.timeline() == "0:probe(a) 0:a?it 5:probe(a) 9:a=timedOut<it 9:end=1")
  }

  @Test func `the look after the limit is the last one, and is not waited for for long`() {
    var run = Simulation(
      graph: "a", scripts: ["a.wait.1": "1@0"], decisions: ["a": "wait 2 5"], stopped: 3..<9)
    #expect(
      run.timeline() == "0:probe(a) 0:a?it 2:probe(a) 9:probe(a) 9:a=timedOut<it 9:end=1")
    run.scripts = ["a.wait.1": "1@0 1@0 hang"]
    #expect(
      run.timeline()
        == "0:probe(a) 0:a?it 2:probe(a) 9:probe(a) 14:kill(a.wait.1) 14:a=timedOut<it 14:end=1")
    run.scripts = ["a.wait.1": "1@0 hang"]
    #expect(
      run.timeline() == "0:probe(a) 0:a?it 2:probe(a) 9:kill(a.wait.1) 9:a=timedOut<it 9:end=1")
  }

  @Test func `an allowed timeout stays green`() {
    let run = Simulation(
      graph: "a; b: a", scripts: ["a.wait.1": "1@0"],
      settings: ["a": StepSettings(allowFailure: .always)], decisions: ["a": "wait 2 5"])
    #expect(
      run.timeline()
        == "0:probe(a) 0:a?it 2:probe(a) 4:probe(a) 5:a=timedOut(allowed)<it 5:+b 6:-b=0 "
        + "6:b=succeeded 6:end=0")
  }

  @Test func `a signal ends the wait, and the probe that goes on`() {
    let looking = Simulation(
      graph: "a; b: a", scripts: ["a.wait.1": "hang"], decisions: ["a": "wait 2"],
      signals: [(3, 15)])
    #expect(
      looking.timeline()
        == "0:probe(a) 3:signal15 3:stopping(signal15) 3:kill(a.wait.1) "
        + "3:b=cancelled<signal15 3:a=cancelled<signal15 3:end=143")
    let between = Simulation(
      graph: "a; b: a", scripts: ["a.wait.1": "1@0"], decisions: ["a": "wait 4"],
      signals: [(3, 2)])
    #expect(
      between.timeline()
        == "0:probe(a) 0:a?it 3:signal2 3:stopping(signal2) 3:b=cancelled<signal2 "
        + "3:a=cancelled<signal2 3:end=130")
  }

  @Test func `the run's time limit ends the wait`() {
    let run = Simulation(
      graph: "a", scripts: ["a.wait.1": "1@0"], decisions: ["a": "wait 1"],
      timeout: 3_000_000_000)
    #expect(
      run.timeline()
        == "0:probe(a) 0:a?it 1:probe(a) 2:probe(a) 3:stopping(timeout) 3:a=cancelled<timeout "
        + "3:end=124")
  }

  @Test func `a retry does not wait again`() {
    var policy = RetryPolicy()
    policy.limit = 1
    let run = Simulation(
      graph: "a", scripts: ["a.wait.1": "1@0 ok@0", "a": "1@1 ok@1"],
      settings: ["a": StepSettings(retry: policy)], decisions: ["a": "wait 2 5"])
    #expect(
      run.timeline()
        == "0:probe(a) 0:a?it 2:probe(a) 2:+a 3:-a=1 3:a#2in0 3:+a 4:-a=0 4:a=succeeded "
        + "4:end=0")
  }

  @Test func `a failure elsewhere that stops the run ends the wait`() {
    let run = Simulation(
      graph: "a; b", scripts: ["a.wait.1": "1@0", "b": "1@3"], decisions: ["a": "wait 2"],
      failurePolicy: .cancel)
    #expect(
      run.timeline()
        == "0:+b 0:probe(a) 0:a?it 2:probe(a) 3:-b=1 3:b=failed 3:stopping(b) "
        + "3:a=cancelled<b 3:end=1")
  }

  @Test func `no width starts no step, but a condition is looked at`() {
    let run = Simulation(
      graph: "a", scripts: ["a.wait.1": "1@0 ok@0"], decisions: ["a": "wait 1"], width: 0)
    #expect(
      run.timeline()
        == "0:probe(a) 0:a?it 1:probe(a) 1:stopping(width) 1:a=cancelled<width 1:end=1")
  }
}
