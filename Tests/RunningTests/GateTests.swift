// Conditions, groups and expansion in a run, in virtual time.

import Plans
import Scheduling
import Testing

@Suite struct `Steps that are decided late` {
  @Test func `a step whose condition holds runs after its dependencies`() {
    let run = Simulation(graph: "a; b: a", decisions: ["b": "run"])
    #expect(run.timeline() == "0:+a 1:-a=0 1:a=succeeded 1:+b 2:-b=0 2:b=succeeded 2:end=0")
  }

  @Test func `a skipped step takes no slot, and its dependents run`() {
    let run = Simulation(
      graph: "a; b; c: b", scripts: ["a": "ok@5"], decisions: ["b": "skip"], width: 1)
    #expect(
      run.timeline()
        == "0:b=skipped<no 0:+a 5:-a=0 5:a=succeeded 5:+c 6:-c=0 6:c=succeeded 6:end=0")
  }

  @Test func `what is decided at once is compared before anything starts`() {
    let condition = Simulation(
      graph: "x; urgent!9: x; slow!-9", decisions: ["urgent": "run"], width: 1)
    #expect(condition.starts == ["x", "urgent", "slow"])
    let skipped = Simulation(
      graph: "x; opt: x; urgent!9: opt; slow!-9", decisions: ["opt": "skip"], width: 1)
    #expect(skipped.starts == ["x", "urgent", "slow"])
    let group = Simulation(
      graph: "x; g: x?done; h: g?done; urgent!9: h; slow!-9",
      decisions: ["g": "join", "h": "join"], groups: ["g": ["x"], "h": ["g"]], width: 1)
    #expect(group.starts == ["x", "urgent", "slow"])
    let limited = Simulation(
      graph: "x!9; g: x?done; m: g?done; slow!-9",
      decisions: ["x": "run", "g": "join", "m": "join"], groups: ["g": ["x"], "m": ["g"]],
      widths: ["m": 1], width: 1)
    #expect(limited.starts == ["x", "slow"])
  }

  @Test func `without a delay an attempt competes for the slot of the one before`() {
    var retry = RetryPolicy()
    retry.limit = 1
    let run = Simulation(
      graph: "urgent!9; slow!-9", scripts: ["urgent": "1@1 ok@1"],
      settings: ["urgent": StepSettings(retry: retry)], width: 1)
    #expect(run.starts == ["urgent", "urgent", "slow"])
  }

  @Test func `a stop cancels what is at its gate`() {
    let run = Simulation(
      graph: "a; b; g: a b", scripts: ["a": "hang"], decisions: ["g": "join"],
      groups: ["g": ["a", "b"]], signals: [(3, 15)])
    #expect(
      run.timeline()
        == "0:+a 0:+b 1:-b=0 1:b=succeeded 3:signal15 3:stopping(signal15) 3:stop(a) "
        + "3:-a=sig15 3:a=cancelled<signal15 3:g=cancelled<signal15 3:end=143"
    )
  }

  @Test func `a group ends after its members, with the worst of their ends`() {
    let run = Simulation(
      graph: "a; b; g: a?done b?done; c: g; d: g?failed", scripts: ["b": "1@2"],
      decisions: ["g": "join"], groups: ["g": ["a", "b"]])
    #expect(
      run.timeline()
        == "0:+a 0:+b 1:-a=0 1:a=succeeded 2:-b=1 2:b=failed 2:g=failed<b 2:c=blocked<b 2:+d "
        + "3:-d=0 3:d=succeeded 3:end=1")
  }

  @Test func `a step expands to instances while running, and ends after them`() {
    let run = Simulation(
      graph: "a; g: a; c: g", scripts: ["y": "ok@3"], decisions: ["g": "expand x y"],
      groups: ["g": []])
    #expect(
      run.timeline()
        == "0:+a 1:-a=0 1:a=succeeded 1:g>x 1:g>y 1:+x 1:+y 2:-x=0 2:x=succeeded 4:-y=0 "
        + "4:y=succeeded 4:g=succeeded 4:+c 5:-c=0 5:c=succeeded 5:end=0")
  }

  @Test func `a step that expands to nothing is skipped`() {
    let run = Simulation(graph: "g; c: g", decisions: ["g": "expand"], groups: ["g": []])
    #expect(
      run.timeline() == "0:g=skipped<its matrix is empty 0:+c 1:-c=0 1:c=succeeded 1:end=0")
  }

  @Test func `with fail_fast a failed member ends the others`() {
    let run = Simulation(
      graph: "a; b; c; g: a?done b?done c?done", scripts: ["a": "1@2", "b": "hang"],
      decisions: ["g": "join"], groups: ["g!": ["a", "b", "c"]], width: 2)
    #expect(
      run.timeline()
        == "0:+a 0:+b 2:-a=1 2:a=failed 2:stop(b) 2:c=cancelled<a 2:-b=sig15 2:b=cancelled<a "
        + "2:g=failed<a 2:end=1")
  }

  @Test func `fail_fast of a matrix in a pipeline ends its other instances`() {
    let run = Simulation(
      graph: "a; b; g: a?done b?done; n: g?done", scripts: ["a": "1@2", "b": "hang"],
      decisions: ["g": "join", "n": "join"], groups: ["g!": ["a", "b"], "n": ["g"]])
    #expect(
      run.timeline()
        == "0:+a 0:+b 2:-a=1 2:a=failed 2:stop(b) 2:-b=sig15 2:b=cancelled<a 2:g=failed<a "
        + "2:n=failed<a 2:end=1")
  }

  @Test func `a skipped pipeline skips what is in groups in it`() {
    let run = Simulation(
      graph: "p; m1: p; m2: p; m: m1?done m2?done; q: m; g: p?done m?done q?done; z: g",
      decisions: ["p": "skipGroup g", "m": "join", "g": "join"],
      groups: ["g": ["p", "m", "q"], "m": ["m1", "m2"]])
    #expect(
      run.timeline()
        == "0:q=skipped<no 0:m2=skipped<no 0:m1=skipped<no 0:p=skipped<no "
        + "0:m=skipped<everything in it was skipped 0:g=skipped<everything in it was skipped "
        + "0:+z 1:-z=0 1:z=succeeded 1:end=0")
  }

  @Test func `with fail_fast a failure within a member ends the other members, with all in them`() {
    let run = Simulation(
      graph: "p; q; g: p?done q?done; r; s: r; h: r?done s?done; m: g?done h?done",
      scripts: ["p": "1@2", "q": "ok@4", "r": "hang"],
      decisions: ["g": "join", "h": "join", "m": "join"],
      groups: ["g": ["p", "q"], "h": ["r", "s"], "m!": ["g", "h"]])
    #expect(
      run.timeline()
        == "0:+r 0:+p 0:+q 2:-p=1 2:p=failed 2:stop(r) 2:s=cancelled<p 2:-r=sig15 "
        + "2:r=cancelled<p 2:h=cancelled<p 4:-q=0 4:q=succeeded 4:g=failed<p 4:m=failed<p "
        + "4:end=1")
  }

  @Test func `a failure that stops the run cancels what it led to the gate of`() {
    for policy in [FailurePolicy.stop, .cancel] {
      let run = Simulation(
        graph: "a; b: a?done; c: b", scripts: ["a": "1@1"], decisions: ["b": "run"],
        failurePolicy: policy)
      #expect(
        run.timeline()
          == "0:+a 1:-a=1 1:a=failed 1:stopping(a) 1:c=cancelled<a 1:b=cancelled<a 1:end=1")
    }
  }

  @Test func `a group that a stop cuts short ends after its members, as the worst of them`() {
    let run = Simulation(
      graph: "a; b; g: a?done b?done; c: g", scripts: ["a": "1@1"], decisions: ["g": "join"],
      groups: ["g": ["a", "b"]], width: 1, failurePolicy: .stop)
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a=failed 1:stopping(a) 1:b=cancelled<a 1:c=cancelled<a 1:g=failed<a "
        + "1:end=1")
  }

  @Test func `what a failure blocks through groups is blocked, although it stops the run`() {
    let chain = Simulation(
      graph: "f; x: f; g: x?done; c: g; d", scripts: ["f": "1@1"], decisions: ["g": "join"],
      groups: ["g": ["x"]], width: 1, failurePolicy: .stop)
    #expect(
      chain.timeline()
        == "0:+f 1:-f=1 1:f=failed 1:stopping(f) 1:x=blocked<f 1:g=blocked<f 1:c=blocked<f "
        + "1:d=cancelled<f 1:end=1")
    let nested = Simulation(
      graph: "f; a: f; b: f; h: b?done; g: a?done h?done", scripts: ["f": "1@1"],
      decisions: ["g": "join", "h": "join"], groups: ["g": ["a", "h"], "h": ["b"]],
      failurePolicy: .stop)
    #expect(
      nested.timeline()
        == "0:+f 1:-f=1 1:f=failed 1:stopping(f) 1:a=blocked<f 1:b=blocked<f 1:h=blocked<f "
        + "1:g=blocked<f 1:end=1")
  }

  @Test func `an expanded step is stopped with its instances`() {
    let run = Simulation(
      graph: "g; c: g", scripts: ["x": "hang", "y": "ok@1"], decisions: ["g": "expand x y z"],
      groups: ["g": []], width: 2, signals: [(3, 15)])
    #expect(
      run.timeline()
        == "0:g>x 0:g>y 0:g>z 0:+x 0:+y 1:-y=0 1:y=succeeded 1:+z 2:-z=0 2:z=succeeded "
        + "3:signal15 3:stopping(signal15) 3:c=cancelled<signal15 3:stop(x) 3:-x=sig15 "
        + "3:x=cancelled<signal15 3:g=cancelled<signal15 3:end=143"
    )
  }

  @Test func `with the policy stop running instances go on, and no other starts`() {
    let run = Simulation(
      graph: "g; c: g", scripts: ["x": "1@1", "y": "ok@3"], decisions: ["g": "expand x y z"],
      groups: ["g": []], width: 2, failurePolicy: .stop)
    #expect(
      run.timeline()
        == "0:g>x 0:g>y 0:g>z 0:+x 0:+y 1:-x=1 1:x=failed 1:stopping(x) 1:c=cancelled<x "
        + "1:z=cancelled<x 3:-y=0 3:y=succeeded 3:g=failed<x 3:end=1"
    )
  }

  @Test func `a member of a group is retried before the group ends`() {
    var settings = RetryPolicy()
    settings.limit = 1
    settings.delay = 5_000_000_000
    let run = Simulation(
      graph: "a; b; g: a?done b?done; c: g", scripts: ["a": "1@1 ok@1"],
      settings: ["a": StepSettings(retry: settings)], decisions: ["g": "join"],
      groups: ["g": ["a", "b"]])
    #expect(
      run.timeline()
        == "0:+a 0:+b 1:-a=1 1:a#2in5 1:-b=0 1:b=succeeded 6:+a 7:-a=0 7:a=succeeded "
        + "7:g=succeeded 7:+c 8:-c=0 8:c=succeeded 8:end=0")
  }

  @Test func `fail_fast ends a member that waits for a retry or for a condition`() {
    var settings = RetryPolicy()
    settings.limit = 1
    settings.delay = 50_000_000_000
    let run = Simulation(
      graph: "a; b; c; g: a?done b?done c?done",
      scripts: ["a": "1@1", "b": "1@2", "c.wait.1": "hang"],
      settings: ["a": StepSettings(retry: settings)], decisions: ["c": "wait 1", "g": "join"],
      groups: ["g!": ["a", "b", "c"]])
    #expect(
      run.timeline()
        == "0:+a 0:+b 0:probe(c) 1:-a=1 1:a#2in50 2:-b=1 2:b=failed 2:kill(c.wait.1) "
        + "2:c=cancelled<b 2:a=cancelled<b 2:g=failed<b 2:end=1")
  }

  @Test func `an allowed failure does not end the others`() {
    let run = Simulation(
      graph: "a; b; g: a?done b?done; c: g", scripts: ["a": "1@1", "b": "ok@2"],
      settings: ["a": StepSettings(allowFailure: .always)], decisions: ["g": "join"],
      groups: ["g!": ["a", "b"]])
    #expect(
      run.timeline()
        == "0:+a 0:+b 1:-a=1 1:a=failed(allowed) 2:-b=0 2:b=succeeded "
        + "2:g=failed(allowed)<a 2:+c 3:-c=0 3:c=succeeded 3:end=0")
  }

  @Test func `a group that fails by itself blocks what waits for it`() {
    let run = Simulation(graph: "g; c: g", decisions: ["g": "fail"], groups: ["g": []])
    #expect(run.timeline() == "0:g=failed<no 0:c=blocked<g 0:end=1")
  }

  @Test func `a group is blocked when a member is`() {
    let run = Simulation(
      graph: "a; x: a; y: x?done; g: x?done y?done; c: g", scripts: ["a": "1@1"],
      decisions: ["g": "join"], groups: ["g": ["x", "y"]])
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a=failed 1:x=blocked<a 1:+y 2:-y=0 2:y=succeeded 2:g=blocked<a "
        + "2:c=blocked<a 2:end=1")
  }

  @Test func `a skipped pipeline skips a step with another one that it needs, and stands before`() {
    let run = Simulation(
      graph: "a: b?succeeded; b; g: a?done b?done", decisions: ["b": "skipGroup g", "g": "join"],
      groups: ["g": ["a", "b"]])
    #expect(
      run.timeline()
        == "0:b=skipped<no 0:a=skipped<no 0:g=skipped<everything in it was skipped 0:end=0")
  }

  @Test func `a skipped pipeline skips all its steps`() {
    let run = Simulation(
      graph: "a; b: a?succeeded; g: a?done b?done; c: g",
      decisions: ["a": "skipGroup g", "g": "join"],
      groups: ["g": ["a", "b"]])
    #expect(
      run.timeline()
        == "0:b=skipped<no 0:a=skipped<no 0:g=skipped<everything in it was skipped 0:+c 1:-c=0 "
        + "1:c=succeeded 1:end=0")
  }
}
