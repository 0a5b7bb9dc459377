// Groups in the background, in virtual time: when they are ready, and what ends when.

import Plans
import Scheduling
import Testing

@Suite struct `A group in the background` {
  /// A service, a step that needs it, and what depends on the group.
  private static let graph = "&g/db; g/up: g/db?ready; &g: g/db?done g/up?done; a: g?ready; b: a"
  private static let scripts = ["g/db": "hang"]

  private func simulation(
    graph: String = graph, _ scripts: [String: String] = scripts, group: String = "g^",
    members: [String] = ["g/db", "g/up"], settings: [String: StepSettings] = [:],
    decisions: [String: String] = [:], named: [String] = [], width: Int = 8,
    policy: FailurePolicy = .continue, signals: [(second: Nanoseconds, signal: Int32)] = []
  ) -> Simulation {
    Simulation(
      graph: graph, scripts: scripts, settings: settings,
      decisions: ["g": "join"].merging(decisions) { $1 }, groups: [group: members], named: named,
      width: width, failurePolicy: policy, signals: signals)
  }

  @Test(arguments: [1, 8])
  func `is ready with its services and steps, and goes on until its last dependent has ended`(
    width: Int
  ) {
    #expect(
      simulation(width: width).timeline()

        == "0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=0 1:g/up=succeeded 1:+a 2:-a=0 "
        + "2:a=succeeded 2:stop(g/db) 2:+b 2:-g/db=sig15 2:g/db=succeeded 2:g=succeeded "
        + "3:-b=0 3:b=succeeded 3:end=0")
  }

  @Test func `keeps a service that nothing in it needs`() {
    #expect(
      simulation(graph: "&g/db; g/up; &g: g/db?done g/up?done; a: g?ready").timeline()
        == "0:+g/up 0:+g/db 0:g/db!ready 1:-g/up=0 1:g/up=succeeded 1:+a 2:-a=0 "
        + "2:a=succeeded 2:stop(g/db) 2:-g/db=sig15 2:g/db=succeeded 2:g=succeeded 2:end=0")
  }

  @Test func `ends after its steps if nothing depends on it and nothing else goes on`() {
    #expect(
      simulation(graph: "&g/db; g/up: g/db?ready; &g: g/db?done g/up?done; z").timeline()
        == "0:+z 0:+g/db 0:g/db!ready 0:+g/up 1:-z=0 1:z=succeeded 1:-g/up=0 "
        + "1:g/up=succeeded 1:stop(g/db) 1:-g/db=sig15 1:g/db=succeeded 1:g=succeeded "
        + "1:end=0")
  }

  @Test func `goes on until it is stopped if it is all there is, or was named`() {
    #expect(
      simulation(
        graph: "&g/db; g/up: g/db?ready; &g: g/db?done g/up?done", signals: [(9, 2)]
      ).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=0 1:g/up=succeeded 9:signal2 "
        + "9:stopping(signal2) 9:stop(g/db) 9:-g/db=sig15 9:g/db=cancelled<signal2 "
        + "9:g=cancelled<signal2 9:end=130"
    )
    #expect(
      simulation(
        graph: "z; &g/db: z; g/up: z g/db?ready; &g: g/db?done g/up?done", named: ["g"],
        signals: [(9, 2)]
      ).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:+g/db 1:g/db!ready 1:+g/up 2:-g/up=0 "
        + "2:g/up=succeeded 9:signal2 9:stopping(signal2) 9:stop(g/db) 9:-g/db=sig15 "
        + "9:g/db=cancelled<signal2 9:g=cancelled<signal2 9:end=130"
    )
  }

  @Test func `with a step that fails blocks what depends on it at once`() {
    #expect(
      simulation(
        graph:
          "&g/db; g/up: g/db?ready; g/slow: g/db?ready; &g: g/db?done g/up?done g/slow?done; a: g?ready",
        ["g/db": "hang", "g/up": "1@1", "g/slow": "ok@3"], members: ["g/db", "g/up", "g/slow"]
      ).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 0:+g/slow 1:-g/up=1 1:g/up=failed 1:a=blocked<g/up "
        + "3:-g/slow=0 3:g/slow=succeeded 3:stop(g/db) 3:-g/db=sig15 3:g/db=succeeded "
        + "3:g=failed<g/up 3:end=1")
  }

  @Test func `that may fail is blocked if a group in the background inside it is`() {
    let run = Simulation(
      graph: "z; &e/i/db: z; &e/i: e/i/db?done; &e: e/i?done; a: e?ready", scripts: ["z": "1@1"],
      settings: ["e": StepSettings(allowFailure: .always)],
      decisions: ["e/i": "join", "e": "join"],
      groups: ["e/i^": ["e/i/db"], "e^": ["e/i"]])
    #expect(
      run.timeline()
        == "0:+z 1:-z=1 1:z=failed 1:e/i/db=blocked<z 1:a=blocked<z 1:e/i=blocked<z 1:e=blocked<z 1:end=1"
    )
  }

  @Test func `that may fail is waited for, and serves what depends on it`() {
    #expect(
      simulation(
        ["g/db": "hang", "g/up": "1@1"], settings: ["g": StepSettings(allowFailure: .always)]
      ).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=1 1:g/up=failed(allowed) 1:+a 2:-a=0 "
        + "2:a=succeeded 2:stop(g/db) 2:+b 2:-g/db=sig15 2:g/db=succeeded "
        + "2:g=failed(allowed)<g/up 3:-b=0 3:b=succeeded 3:end=0")
  }

  @Test func `with a service that falls blocks what has not started`() {
    #expect(
      simulation(
        graph: "&g/db; g/up: g/db?ready; &g: g/db?done g/up?done; a: g?ready; b: g?ready a",
        ["g/db": "3@2", "a": "ok@3"]
      ).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=0 1:g/up=succeeded 1:+a 2:-g/db=3 "
        + "2:b=blocked<g/db 2:g/db=failed<the service ended before the steps that depend on it "
        + "2:g=failed<g/db 4:-a=0 4:a=succeeded 4:end=1")
  }

  @Test func `with a service that falls before it is ready has failed`() {
    #expect(
      simulation(["g/db": "3@1", "g/up": "ok@3"]).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 1:-g/db=3 1:a=blocked<g/db 1:b=blocked<g/db "
        + "1:g/db=failed<the service ended before the steps that depend on it 3:-g/up=0 3:g/up=succeeded "
        + "3:g=failed<g/db 3:end=1")
  }

  @Test func `that may fail goes on when a service in it falls`() {
    #expect(
      simulation(
        graph: "&g/db; g/up: g/db?ready; &g: g/db?done g/up?done; a: g?ready; b: g?ready a",
        ["g/db": "3@2", "a": "ok@3"], settings: ["g": StepSettings(allowFailure: .always)]
      ).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=0 1:g/up=succeeded 1:+a 2:-g/db=3 "
        + "2:g/db=failed(allowed)<the service ended before the steps that depend on it "
        + "2:g=failed(allowed)<g/db 4:-a=0 4:a=succeeded 4:+b 5:-b=0 5:b=succeeded 5:end=0")
  }

  @Test func `is cancelled with the run`() {
    #expect(
      simulation(["g/db": "hang", "a": "hang"], signals: [(3, 15)]).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=0 1:g/up=succeeded 1:+a 3:signal15 "
        + "3:stopping(signal15) 3:b=cancelled<signal15 3:stop(g/db) 3:stop(a) "
        + "3:-g/db=sig15 3:g/db=cancelled<signal15 3:g=cancelled<signal15 3:-a=sig15 "
        + "3:a=cancelled<signal15 3:end=143"
    )
    #expect(
      simulation(["g/db": "hang", "g/up": "hang"], signals: [(3, 15)]).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 3:signal15 3:stopping(signal15) "
        + "3:a=cancelled<signal15 3:b=cancelled<signal15 3:stop(g/db) 3:stop(g/up) "
        + "3:-g/db=sig15 3:g/db=cancelled<signal15 3:-g/up=sig15 "
        + "3:g/up=cancelled<signal15 3:g=cancelled<signal15 3:end=143"
    )
  }

  @Test func `is stopped by the policies`() {
    let graph = "bad; &g/db; g/up: g/db?ready; &g: g/db?done g/up?done; a: g?ready"
    let scripts = ["bad": "1@2", "g/db": "hang", "a": "ok@5"]
    #expect(
      simulation(graph: graph, scripts, policy: .stop).timeline()
        == "0:+bad 0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=0 1:g/up=succeeded 1:+a 2:-bad=1 "
        + "2:bad=failed 2:stopping(bad) 6:-a=0 6:a=succeeded 6:stop(g/db) 6:-g/db=sig15 "
        + "6:g/db=succeeded 6:g=succeeded 6:end=1"
    )
    #expect(
      simulation(graph: graph, scripts, policy: .cancel).timeline()
        == "0:+bad 0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=0 1:g/up=succeeded 1:+a 2:-bad=1 "
        + "2:bad=failed 2:stopping(bad) 2:stop(g/db) 2:stop(a) 2:-g/db=sig15 "
        + "2:g/db=cancelled<bad 2:g=cancelled<bad 2:-a=sig15 2:a=cancelled<bad 2:end=1"
    )
  }

  @Test func `has a time limit to its end`() {
    let limit = ["g": StepSettings(timeout: 3_000_000_000)]
    let graph = "&g/db; g/up: g/db?ready; &g: g/db?done g/up?done; a: g?ready; b: g?ready a"
    #expect(
      simulation(graph: graph, ["g/db": "hang", "a": "ok@4"], settings: limit).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=0 1:g/up=succeeded 1:+a 3:stop(g/db) "
        + "3:-g/db=sig15 3:b=blocked<g/db 3:g/db=cancelled<limit(g) 3:g=timedOut<its steps "
        + "together exceeded 'timeout' 5:-a=0 5:a=succeeded 5:end=1")
    #expect(
      simulation(graph: graph, ["g/db": "hang", "g/up": "hang"], settings: limit).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 3:stop(g/db) 3:stop(g/up) 3:-g/db=sig15 "
        + "3:a=blocked<g/db 3:b=blocked<g/db 3:g/db=cancelled<limit(g) 3:-g/up=sig15 "
        + "3:g/up=cancelled<limit(g) 3:g=timedOut<its steps together exceeded 'timeout' 3:end=1")
  }

  @Test func `runs its hooks after its end`() {
    var hooks = Hooks()
    hooks.onSuccess = [.known(.script("bye"))]
    #expect(
      simulation(settings: ["g": StepSettings(hooks: hooks)]).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=0 1:g/up=succeeded 1:+a 2:-a=0 "
        + "2:a=succeeded 2:stop(g/db) 2:+b 2:-g/db=sig15 2:g/db=succeeded 2:+g.on_success.1 "
        + "3:-b=0 3:b=succeeded 3:-g.on_success.1=0 3:g=succeeded 3:end=0")
  }

  @Test func `does nothing more if nothing needs it`() {
    #expect(
      simulation(decisions: ["a": "skip"]).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=0 1:g/up=succeeded 1:a=skipped<no "
        + "1:stop(g/db) 1:+b 1:-g/db=sig15 1:g/db=succeeded 1:g=succeeded 2:-b=0 "
        + "2:b=succeeded 2:end=0")
    #expect(
      simulation(
        graph: "bad; &g/db; g/up: g/db?ready; &g: g/db?done g/up?done; a: g?ready bad",
        ["bad": "1@0", "g/db": "hang"]
      ).timeline()
        == "0:+bad 0:+g/db 0:-bad=1 0:bad=failed 0:a=blocked<bad 0:g/db!ready 0:+g/up "
        + "1:-g/up=0 1:g/up=succeeded 1:stop(g/db) 1:-g/db=sig15 1:g/db=succeeded "
        + "1:g=succeeded 1:end=1")
  }

  @Test func `is not kept by what waits for its end`() {
    #expect(
      simulation(
        graph: "&g/db; g/up: g/db?ready; &g: g/db?done g/up?done; a: g?ready; c: g?done",
        ["g/db": "stubborn"]
      ).timeline()
        == "0:+g/db 0:g/db!ready 0:+g/up 1:-g/up=0 1:g/up=succeeded 1:+a 2:-a=0 "
        + "2:a=succeeded 2:stop(g/db) 7:kill(g/db) 7:-g/db=sig9 7:g/db=succeeded "
        + "7:g=succeeded 7:+c 8:-c=0 8:c=succeeded 8:end=0")
  }

  @Test func `whose steps were all skipped lets what depends on it run`() {
    #expect(
      simulation(decisions: ["g/db": "skipGroup g"]).timeline()
        == "0:g/up=skipped<no 0:g/db=skipped<no 0:g=skipped<everything in it was skipped "
        + "0:+a 1:-a=0 1:a=succeeded 1:+b 2:-b=0 2:b=succeeded 2:end=0")
  }

  @Test func `that another one needs goes on until that has ended`() {
    let run = Simulation(
      graph: "&g/db; &g: g/db?done; &h/web: g?ready; h/warm: h/web?ready; "
        + "&h: h/web?done h/warm?done g?readyOrDone; a: h?ready",
      scripts: ["g/db": "hang", "h/web": "stubborn"], decisions: ["g": "join", "h": "join"],
      groups: ["g^": ["g/db"], "h^": ["h/web", "h/warm"]])
    #expect(
      run.timeline()
        == "0:+g/db 0:g/db!ready 0:+h/web 0:h/web!ready 0:+h/warm 1:-h/warm=0 "
        + "1:h/warm=succeeded 1:+a 2:-a=0 2:a=succeeded 2:stop(h/web) 7:kill(h/web) "
        + "7:-h/web=sig9 7:h/web=succeeded 7:h=succeeded 7:stop(g/db) 7:-g/db=sig15 "
        + "7:g/db=succeeded 7:g=succeeded 7:end=0")
  }

  @Test func `in another one is ready and ends with that`() {
    let run = Simulation(
      graph: "&g/i/db; g/i/up: g/i/db?ready; &g/i: g/i/db?done g/i/up?done; g/x: g/i?ready; "
        + "&g: g/i?done g/x?done; a: g?ready",
      scripts: ["g/i/db": "hang"], decisions: ["g/i": "join", "g": "join"],
      groups: ["g/i^": ["g/i/db", "g/i/up"], "g^": ["g/i", "g/x"]])
    #expect(
      run.timeline()
        == "0:+g/i/db 0:g/i/db!ready 0:+g/i/up 1:-g/i/up=0 1:g/i/up=succeeded 1:+g/x "
        + "2:-g/x=0 2:g/x=succeeded 2:+a 3:-a=0 3:a=succeeded 3:stop(g/i/db) "
        + "3:-g/i/db=sig15 3:g/i/db=succeeded 3:g/i=succeeded 3:g=succeeded 3:end=0")
  }

  @Test func `has a matrix that is known`() {
    let run = Simulation(
      graph: "&x/db; x/up: x/db?ready; &x: x/db?done x/up?done; &y/db; y/up: y/db?ready; "
        + "&y: y/db?done y/up?done; &g: x?done y?done; a: g?ready; b: x?ready",
      scripts: ["x/db": "hang", "y/db": "hang", "y/up": "ok@3"],
      decisions: ["x": "join", "y": "join", "g": "join"],
      groups: ["x^": ["x/db", "x/up"], "y^": ["y/db", "y/up"], "g": ["x", "y"]])
    #expect(
      run.timeline()
        == "0:+x/db 0:+y/db 0:x/db!ready 0:y/db!ready 0:+x/up 0:+y/up 1:-x/up=0 "
        + "1:x/up=succeeded 1:+b 2:-b=0 2:b=succeeded 3:-y/up=0 3:y/up=succeeded 3:+a 4:-a=0 "
        + "4:a=succeeded 4:stop(x/db) 4:stop(y/db) 4:-x/db=sig15 4:x/db=succeeded 4:x=succeeded "
        + "4:-y/db=sig15 4:y/db=succeeded 4:y=succeeded 4:g=succeeded 4:end=0")
  }

  @Test func `counts as under way until it is ready`() {
    let run = Simulation(
      graph: "&x/db; &x: x/db?done; &y/db; &y: y/db?done; &g: x?done y?done; a: g?ready",
      scripts: ["x/db": "hang", "y/db": "hang", "x/db.wait.1": "1@0 ok@0"],
      decisions: ["x": "join", "y": "join", "g": "join", "x/db": "serve 2", "y/db": "serve 2"],
      groups: ["x^": ["x/db"], "y^": ["y/db"], "g": ["x", "y"]], widths: ["g": 1])
    #expect(
      run.timeline()
        == "0:+x/db 0:probe(x/db) 2:probe(x/db) 2:x/db!ready 2:+y/db 2:probe(y/db) "
        + "3:y/db!ready 3:+a 4:-a=0 4:a=succeeded 4:stop(x/db) 4:stop(y/db) 4:-x/db=sig15 "
        + "4:x/db=succeeded 4:x=succeeded 4:-y/db=sig15 4:y/db=succeeded 4:y=succeeded "
        + "4:g=succeeded 4:end=0")
  }
}
