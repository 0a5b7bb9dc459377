// How a run ends for a part that goes on elsewhere, in virtual time.

import Plans
import Scheduling
import Testing

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
