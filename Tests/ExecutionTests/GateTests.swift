// Conditions, groups and expansion in a run, in virtual time.

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
        == "0:+a 0:b=skipped<no 5:-a=0 5:a=succeeded 5:+c 6:-c=0 6:c=succeeded 6:end=0")
  }

  @Test func `a stop cancels what is at its gate`() {
    let run = Simulation(
      graph: "a; b; g: a b", scripts: ["a": "hang"], decisions: ["g": "join"],
      groups: ["g": ["a", "b"]], signals: [(3, 15)])
    #expect(
      run.timeline()
        == "0:+a 0:+b 1:-b=0 1:b=succeeded 3:signal15 3:stopping(signal15) 3:g=cancelled<signal15 "
        + "3:stop(a) 3:-a=sig15 3:a=cancelled<signal15 3:end=143")
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
      decisions: ["g": "join", "n": "join"], groups: ["g!": ["a", "b"], "n": ["a", "b", "g"]])
    #expect(
      run.timeline()
        == "0:+a 0:+b 2:-a=1 2:a=failed 2:stop(b) 2:-b=sig15 2:b=cancelled<a 2:g=failed<a "
        + "2:n=failed<a 2:end=1")
  }

  @Test func `a skipped pipeline skips all its steps`() {
    let run = Simulation(
      graph: "a; b: a?succeeded; g: a?done b?done; c: g",
      decisions: ["a": "skipGroup g", "g": "join"],
      groups: ["g": ["a", "b"]])
    #expect(
      run.timeline()
        == "0:b=skipped<no 0:a=skipped<no 0:g=skipped<all of it was skipped 0:+c 1:-c=0 "
        + "1:c=succeeded 1:end=0")
  }
}
