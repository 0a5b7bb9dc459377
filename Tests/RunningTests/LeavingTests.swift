// How a run ends for a part that goes on elsewhere, in virtual time.

import Plans
import Scheduling
import Testing

@testable import Running

@Suite struct `A run of which something goes on elsewhere` {
  @Test func `runs no hooks of a pipeline in which it goes on`() {
    let run = Simulation(
      graph: "g/a; g/b; g: g/a?done g/b?done; h/a; h: h/a?done; c: g",
      scripts: ["g/b": "hang", "h/a": "hang"],
      settings: [
        "g": StepSettings(hooks: .ofEachKind), "h": StepSettings(hooks: .ofEachKind),
        "g/b": StepSettings(hooks: .ofEachKind),
      ],
      run: StepSettings(hooks: .ofEachKind), decisions: ["g": "join", "h": "join"],
      groups: ["g^": ["g/a", "g/b"], "h^": ["h/a"]], signals: [(3, 1)], elsewhere: ["g/b"])
    #expect(
      run.timeline()
        == "0:+g/a 0:+g/b 0:+h/a 1:-g/a=0 1:g/a=succeeded 3:signal1 3:stopping(signal1) "
        + "3:c=cancelled<signal1 3:g/b=cancelled<left 3:stop(h/a) 3:g=cancelled<left 3:-h/a=sig15 "
        + "3:h/a=cancelled<signal1 3:+h.on_cancel.1 4:-h.on_cancel.1=0 4:+h.on_complete.1 "
        + "5:-h.on_complete.1=0 5:h=cancelled<signal1 5:end=129")
  }

  @Test func `is left only when nothing is awaited but the ends of attempts`() {
    var machine = RunMachine(
      plan: Simulation(
        graph: "a; b: a", settings: ["a": StepSettings(hooks: .ofEachKind)]
      ).plan())
    machine.begin(at: 0)
    let attempt = CommandKey(operation: OperationID(0), role: .attempt(1))
    let amidAttempt = machine.commandsAlone()
    machine.ended(attempt, CommandEnd(.exited(0)), at: 1)
    let amidHook = machine.commandsAlone()
    #expect(amidAttempt == [attempt] && amidHook == nil)
  }

  @Test func `is ended like any other by a second and a third signal`() {
    let run = Simulation(
      graph: "a; b", scripts: ["a": "hang", "b": "immortal"],
      signals: [(3, 1), (4, 2), (5, 2)], elsewhere: ["a"])
    #expect(
      run.timeline()
        == "0:+a 0:+b 3:signal1 3:stopping(signal1) 3:a=cancelled<left 3:stop(b) 4:signal2 4:kill(b) "
        + "5:signal2 5:b=cancelled<signal1 5:end=129")
  }
}

@Suite struct `A run with which another one goes on already` {
  @Test func `leaves what the other one has, kills the rest, and runs no hook`() {
    let settings = StepSettings(hooks: .ofEachKind)
    let run = Simulation(
      graph: "g/a; g/b; g: g/a?done g/b?done; h/a; h: h/a?done; c; d: c; e: g",
      scripts: ["g/a": "hang", "g/b": "stubborn", "h/a": "hang", "c.on_success.1": "hang"],
      settings: [
        "g": settings, "h": settings, "g/a": settings, "g/b": settings, "h/a": settings,
        "c": settings,
      ],
      run: settings, decisions: ["g": "join", "h": "join"],
      groups: ["g^": ["g/a", "g/b"], "h^": ["h/a"]], elsewhere: ["g/a"], overtaken: 3)
    #expect(
      run.timeline()
        == "0:+g/a 0:+g/b 0:+h/a 0:+c 1:-c=0 1:+c.on_success.1 3:stopping(overtaken) "
        + "3:d=cancelled<overtaken 3:e=cancelled<overtaken 3:g/a=cancelled<left 3:kill(g/b) "
        + "3:kill(h/a) 3:kill(c.on_success.1) 3:-g/b=sig9 3:g/b=cancelled<overtaken "
        + "3:g=cancelled<left 3:-h/a=sig9 3:h/a=cancelled<overtaken 3:h=cancelled<overtaken "
        + "3:-c.on_success.1=sig9~ 3:c=cancelled<overtaken 3:end=74")
  }

  @Test func `does not wait for another attempt, nor for hooks that wait for a slot`() {
    var retry = RetryPolicy()
    retry.limit = 1
    retry.delay = 100 * second
    let run = Simulation(
      graph: "a; b; c", scripts: ["a": "1@1", "b": "1@2", "c": "immortal"],
      settings: [
        "a": StepSettings(retry: retry, hooks: .ofEachKind), "b": StepSettings(hooks: .ofEachKind),
      ],
      run: StepSettings(hooks: .ofEachKind), signals: [(9, 2)], overtaken: 3)
    #expect(
      run.timeline()
        == "0:+a 0:+b 0:+c 1:-a=1 1:a#2in100 2:-b=1 2:+b.on_failure.1 3:stopping(overtaken) "
        + "3:a=cancelled<overtaken 3:kill(b.on_failure.1) 3:kill(c) 3:-b.on_failure.1=sig9~ 3:b=failed "
        + "8:-c=sig9 8:c=cancelled<overtaken 8:end=74"
    )
  }

  @Test func `ends as it was to end, and runs no further hook`() {
    let run = Simulation(
      graph: "a; b", scripts: ["a": "stubborn", "b": "hang"],
      settings: ["a": StepSettings(hooks: .ofEachKind), "b": StepSettings(hooks: .ofEachKind)],
      run: StepSettings(hooks: .ofEachKind), signals: [(2, 15)], elsewhere: ["b"], overtaken: 2)
    #expect(
      run.timeline()
        == "0:+a 0:+b 2:signal15 2:stopping(signal15) 2:stop(a) 2:stop(b) "
        + "2:notice(r2_goes_on) 2:b=cancelled<left 2:kill(a) 2:-a=sig9 2:a=cancelled<signal15 2:end=143"
    )
  }
}

private let second: Nanoseconds = 1_000_000_000
