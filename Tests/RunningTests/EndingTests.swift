// How operations end before their time, and in which order that is told, in virtual time.

import Plans
import Scheduling
import Testing

@testable import Running

private let second: Nanoseconds = 1_000_000_000

private func retrying(_ limit: Int, after delay: Nanoseconds = 0, backoff: Int = 1000)
  -> RetryPolicy
{
  var retry = RetryPolicy()
  retry.limit = limit
  retry.delay = delay
  retry.backoff = backoff
  return retry
}

@Suite struct `A run that a failure has stopped` {
  @Test func `still has its time limit`() {
    #expect(
      Simulation(
        graph: "a; b", scripts: ["a": "1@1", "b": "hang"], failurePolicy: .stop,
        timeout: 3 * second
      ).timeline()
        == "0:+a 0:+b 1:-a=1 1:a=failed 1:stopping(a) 3:stopping(timeout) 3:stop(b) 3:-b=sig15 "
        + "3:b=cancelled<timeout 3:end=124")
    #expect(
      Simulation(
        graph: "a", scripts: ["a": "1@1", "@run.on_failure.1": "hang"],
        run: StepSettings(hooks: .ofEachKind), failurePolicy: .cancel, timeout: 3 * second
      ).timeline()
        == "0:+a 1:-a=1 1:a=failed 1:stopping(a) 1:+@run.on_failure.1 3:stopping(timeout) "
        + "3:stop(@run.on_failure.1) 3:-@run.on_failure.1=sig15~ 3:+@run.on_complete.1 "
        + "4:-@run.on_complete.1=0 4:end=124")
  }

  @Test func `is told to be so after the end that is the reason, also if nothing has run`() {
    #expect(
      Simulation(
        graph: "w; a", scripts: ["w.wait.1": "1@0", "a": "hang"], decisions: ["w": "wait 2 3"],
        failurePolicy: .cancel
      ).timeline()
        == "0:+a 0:probe(w) 0:w?it 2:probe(w) 3:w=timedOut<it 3:stopping(w) 3:stop(a) "
        + "3:-a=sig15 3:a=cancelled<w 3:end=1")
    #expect(
      Simulation(
        graph: "a; g: a?done; b", scripts: ["g.on_success.1": "1@1", "b": "hang"],
        settings: ["g": StepSettings(hooks: .ofEachKind)], decisions: ["g": "join"],
        groups: ["g^": ["a"]], failurePolicy: .cancel
      ).timeline()
        == "0:+a 0:+b 1:-a=0 1:a=succeeded 1:+g.on_success.1 2:-g.on_success.1=1 "
        + "2:+g.on_complete.1 3:-g.on_complete.1=0 3:g=failed<on_success 3:stopping(g) 3:stop(b) "
        + "3:-b=sig15 3:b=cancelled<g 3:end=1")
  }

  @Test func `makes no further attempts, nor does a pipeline with that policy`() {
    let retry = ["b": StepSettings(retry: retrying(2))]
    #expect(
      Simulation(
        graph: "a; b; p: a?done b?done", scripts: ["a": "1@1", "b": "1@2"], settings: retry,
        decisions: ["p": "join"], groups: ["p^": ["a", "b"]], policies: ["p": .stop]
      ).timeline()
        == "0:+a 0:+b 1:-a=1 1:a=failed 2:-b=1 2:b=failed 2:p=failed<a 2:end=1")
  }

  @Test func `makes them again in a pipeline of which a step runs again`() {
    let retry = ["b": StepSettings(retry: retrying(1))]
    #expect(
      Simulation(
        graph: "a; b; p: a?done b?done; z",
        scripts: ["a": "1@1 ok@1", "b": "1@2 1@1", "z": "ok@9"],
        settings: retry, decisions: ["p": "join"], groups: ["p^": ["a", "b"]],
        policies: ["p": .stop], canBeChangedFromOutside: true,
        requests: [(3, "retry a"), (5, "retry b")]
      ).timeline()
        == "0:+a 0:+b 0:+z 1:-a=1 1:a=failed 2:-b=1 2:b=failed 2:p=failed<a "
        + "3:'a'_started_again_by_anna 3:a~failed 3:p~failed 3:+a 4:-a=0 4:a=succeeded 4:p=failed<b "
        + "5:'b'_started_again_by_anna 5:b~failed 5:p~failed 5:+b 6:-b=1 6:b#3in0 6:+b 7:-b=1 "
        + "7:b=failed 7:p=failed<b 9:-z=0 9:z=succeeded 9:end=1")
  }
}

@Suite struct `A group that fails by itself` {
  private let allowing = ["g": StepSettings(allowFailure: .always)]

  @Test(arguments: ["g", "g*", "g~"])
  func `may do so like one of which a step fails`(group: String) {
    let run = Simulation(
      graph: "a; g: a?done; d: g", settings: allowing, decisions: ["g": "fail"],
      groups: [group: group == "g~" ? [] : ["a"]])
    let ran = group == "g*" ? "" : "0:+a 1:-a=0 1:a=succeeded 1:"
    let then = group == "g*" ? "0:" : ""
    let blocked = group == "g*" ? "0:a=blocked<g " : ""
    let (start, end) = group == "g*" ? (0, 1) : (1, 2)
    #expect(
      run.timeline()
        == "\(ran)\(then)g=failed(allowed)<no \(blocked)\(start):+d \(end):-d=0 "
        + "\(end):d=succeeded \(end):end=0")
  }

  @Test func `may do so in the background, as it was announced`() {
    var run = Simulation(
      graph: "&g/db; g/up: g/db?ready; &g: g/db?done g/up?done; a: g?ready",
      scripts: ["g/db": "hang"], settings: allowing, decisions: ["g": "fail"],
      groups: ["g^": ["g/db", "g/up"]])
    run.givesOutputs = ["g"]
    #expect(
      run.timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=0 1:g/up=succeeded 1:+a 2:-a=0 2:a=succeeded "
        + "2:stop(g/db) 2:-g/db=sig15 2:g/db=succeeded 2:g=failed(allowed)<no 2:end=0")
  }
}

@Suite struct `What is cancelled together` {
  private static let chain = "a; b: a; c: b; g: a?done b?done c?done"

  @Test func `is not blocked by what else is, when the time of a group is over`() {
    #expect(
      Simulation(
        graph: Self.chain, scripts: ["a": "hang"],
        settings: ["g": StepSettings(timeout: 5 * second)], decisions: ["g": "join"],
        groups: ["g": ["a", "b", "c"]]
      ).timeline()
        == "0:+a 5:stop(a) 5:b=cancelled<limit(g) 5:c=cancelled<limit(g) 5:-a=sig15 "
        + "5:a=cancelled<limit(g) 5:g=timedOut<its steps together exceeded 'timeout' 5:end=1")
  }

  @Test func `is not blocked by what else is, when somebody cancels a group or a queue`() {
    func run(_ graph: String, _ request: String) -> String {
      Simulation(
        graph: graph, scripts: ["a": "hang"], decisions: ["g": "join"],
        groups: ["g": ["a", "b", "c"]], canBeChangedFromOutside: true, requests: [(5, request)]
      ).timeline()
    }
    let graphs = [Self.chain, "c: b; b: a; a; g: a?done b?done c?done"]
    for graph in graphs {
      #expect(
        Set(run(graph, "cancel g").split(separator: " "))
          == Set(
            ("0:+a 5:'g'_cancelled_by_anna 5:stop(a) 5:b=cancelled<anna 5:c=cancelled<anna "
              + "5:-a=sig15 5:a=cancelled<anna 5:g=cancelled<anna 5:end=1").split(separator: " ")))
      #expect(
        Set(run(graph, "cancel-queue").split(separator: " "))
          == Set(
            ("0:+a 5:queue_'default'_cancelled_by_anna 5:stop(a) 5:b=cancelled<anna "
              + "5:c=cancelled<anna 5:-a=sig15 5:a=cancelled<anna 5:g=cancelled<anna 5:end=1")
              .split(separator: " ")))
    }
  }

  @Test func `is not blocked by what else is, in a pipeline with a failure policy`() {
    let run = Simulation(
      graph: "x; c: b; b: a; a; p: a?done b?done c?done x?done",
      scripts: ["x": "1@1", "a": "hang"], decisions: ["p": "join"],
      groups: ["p^": ["x", "c", "b", "a"]], policies: ["p": .cancel])
    #expect(
      Set(run.timeline().split(separator: " "))
        == Set(
          ("0:+x 0:+a 1:-x=1 1:x=failed 1:stop(a) 1:c=cancelled<x 1:b=cancelled<x 1:-a=sig15 "
            + "1:a=cancelled<x 1:p=failed<x 1:end=1").split(separator: " ")))
  }

  @Test func `includes the hooks of a group`() {
    #expect(
      Simulation(
        graph: "a; g: a?done; c: g", scripts: ["g.on_success.1": "hang"],
        settings: ["g": StepSettings(hooks: .ofEachKind)], decisions: ["g": "join"],
        groups: ["g^": ["a"]], canBeChangedFromOutside: true,
        requests: [(3, "cancel g")]
      ).timeline()
        == "0:+a 1:-a=0 1:a=succeeded 1:+g.on_success.1 3:'g'_cancelled_by_anna "
        + "3:stop(g.on_success.1) 3:-g.on_success.1=sig15~ 3:+g.on_cancel.1 4:-g.on_cancel.1=0 "
        + "4:+g.on_complete.1 5:-g.on_complete.1=0 5:g=cancelled<anna 5:c=blocked<g 5:end=1")
    #expect(
      Simulation(
        graph: "a; g: a?done", scripts: ["g.on_success.1": "stubborn"],
        settings: ["g": StepSettings(hooks: .ofEachKind)], decisions: ["g": "join"],
        groups: ["g^": ["a"]], canBeChangedFromOutside: true,
        requests: [(3, "cancel g"), (4, "cancel g")]
      ).timeline().contains("4:['g' is already being cancelled]"))
  }
}

@Suite struct `Attempts that somebody asks for` {
  @Test func `have the delays of the first ones after them`() {
    #expect(
      Simulation(
        graph: "a; b", scripts: ["a": "1@1 1@1 1@1 ok@1", "b": "ok@9"],
        settings: ["a": StepSettings(retry: retrying(1, after: second, backoff: 4000))],
        canBeChangedFromOutside: true, requests: [(4, "retry a")]
      ).timeline()
        == "0:+a 0:+b 1:-a=1 1:a#2in1 2:+a 3:-a=1 3:a=failed 4:'a'_started_again_by_anna 4:a~failed "
        + "4:+a 5:-a=1 5:a#4in1 6:+a 7:-a=0 7:a=succeeded 9:-b=0 9:b=succeeded 9:end=0")
  }
}

@Suite struct `A service that is over` {
  @Test func `leaves no looks at it that take the places of others`() {
    #expect(
      Simulation(
        graph: "&s; u: s?ready",
        scripts: ["s": "1@1 1@1 1@1 hang", "s.wait.1": "hang hang hang ok@0"],
        settings: ["s": StepSettings(retry: retrying(3))], decisions: ["s": "serve 2"],
        commandLimit: 4
      ).timeline()
        == "0:+s 0:probe(s) 1:-s=1 1:kill(s.wait.1) 1:s#2in0 1:+s 1:probe(s) 2:-s=1 2:kill(s.wait.1) "
        + "2:s#3in0 2:+s 2:probe(s) 3:-s=1 3:kill(s.wait.1) 3:s#4in0 3:+s 3:probe(s) 3:s!ready 3:+u "
        + "4:-u=0 4:u=succeeded 4:stop(s) 4:-s=sig15 4:s=succeeded 4:end=0")
  }

  @Test func `has failed if it ended by itself, whatever is asked of it later`() {
    #expect(
      Simulation(
        graph: "&s; u: s?ready", scripts: ["s": "ok@2~6", "u": "ok@9"],
        settings: ["s": StepSettings(timeout: 4 * second)]
      ).timeline()
        == "0:+s 0:s!ready 0:+u 4:stop(s) 6:-s=0 "
        + "6:s=failed<the service ended before the steps that depend on it 9:-u=0 9:u=succeeded 9:end=1"
    )
  }

  @Test func `runs its hooks if nothing needs another attempt`() {
    #expect(
      Simulation(
        graph: "&s; u: s?ready; z", scripts: ["s": "1@1", "s.wait.1": "1@0", "z": "ok@9"],
        settings: ["s": StepSettings(retry: retrying(1, after: 60 * second), hooks: .ofEachKind)],
        decisions: ["s": "serve 2"], canBeChangedFromOutside: true, requests: [(3, "cancel u")]
      ).timeline()
        == "0:+z 0:+s 0:probe(s) 1:-s=1 1:s#2in60 3:'u'_cancelled_by_anna 3:u=cancelled<anna 3:+s.on_cancel.1 "
        + "4:-s.on_cancel.1=0 4:+s.on_complete.1 5:-s.on_complete.1=0 "
        + "5:s=cancelled<no step needs it 9:-z=0 9:z=succeeded 9:end=1")
  }

  @Test func `leaves hooks out of what it keeps from another attempt for ever`() {
    #expect(
      Simulation(
        graph: "x%m; &s%m; y: s?ready x", scripts: ["x": "1@1", "s": "hang"],
        settings: ["x": StepSettings(retry: retrying(1, after: 5 * second), hooks: .ofEachKind)],
        pools: [PoolSpec(name: "m", capacity: 1_000_000)]
      ).timeline()
        == "0:+x 1:-x=1 1:x#2in5 1:+s 1:s!ready 6:notice(hooks_of_'x'_do_not_run:_'m'_is_held) "
        + "6:x=failed<cannot start: 'm' is held by running services ('s') "
        + "6:y=blocked<x 6:stop(s) 6:-s=sig15 6:s=succeeded 6:end=1")
  }

  @Test func `lets instances begin one after the other, also while the run is paused`() {
    let graph =
      "&s; a1: s?ready; b1: a1; g1: a1?done b1?done; a2: s?ready; b2: a2; g2: a2?done b2?done; "
      + "g: g1?done g2?done"
    #expect(
      Simulation(
        graph: graph, scripts: ["s": "hang", "a1": "ok@2"],
        decisions: [
          "a1": "run", "b1": "run", "a2": "run", "b2": "run", "g1": "join", "g2": "join",
          "g": "join",
        ], groups: ["g": ["g1", "g2"], "g1^": ["a1", "b1"], "g2^": ["a2", "b2"]],
        widths: ["g": 1], canBeChangedFromOutside: true, requests: [(1, "pause"), (3, "continue")]
      ).timeline()
        == "0:+s 0:s!ready 0:+a1 1:paused_by_anna 2:-a1=0 2:a1=succeeded "
        + "2:notice(nothing_can_start:_the_queue_'default'_is_paused_until_'oprun_continue') "
        + "3:continued_by_anna 3:+b1 4:-b1=0 4:b1=succeeded 4:g1=succeeded 4:+a2 5:-a2=0 "
        + "5:a2=succeeded 5:stop(s) 5:+b2 5:-s=sig15 5:s=succeeded 6:-b2=0 6:b2=succeeded "
        + "6:g2=succeeded 6:g=succeeded 6:end=0")
  }
}
