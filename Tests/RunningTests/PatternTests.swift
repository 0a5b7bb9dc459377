// Groups whose instances get copies of their steps while running, in virtual time.

import Plans
import Scheduling
import Testing

@Suite struct `Groups with a matrix that is known during the run` {
  private static let second: Nanoseconds = 1_000_000_000
  /// Two steps in a group, one after the other.
  private static let graph = "z; g/a: z; g/b: z g/a; g: g/a?done g/b?done; c: g; d: g/a"

  private func simulation(
    _ decision: String, _ scripts: [String: String] = [:], group: String = "g*",
    settings: [String: StepSettings] = [:], policy: FailurePolicy = .continue,
    signals: [(second: Nanoseconds, signal: Int32)] = [], width: Int = 8
  ) -> Simulation {
    Simulation(
      graph: Self.graph, scripts: scripts, settings: settings, decisions: ["g": decision],
      groups: [group: ["g/a", "g/b"]], width: width, failurePolicy: policy, signals: signals)
  }

  @Test func `each instance runs copies of the steps, for which the steps stand`() {
    #expect(
      simulation("expand g[x] g[y]", ["g[y]/a": "ok@3"]).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/a>g[x]/a 1:g/b>g[x]/b 1:g>g[x] 1:g/a>g[y]/a "
        + "1:g/b>g[y]/b 1:g>g[y] 1:+g[x]/a 1:+g[y]/a 2:-g[x]/a=0 2:g[x]/a=succeeded 2:+g[x]/b "
        + "3:-g[x]/b=0 3:g[x]/b=succeeded 3:g[x]=succeeded 4:-g[y]/a=0 4:g[y]/a=succeeded "
        + "4:g/a=succeeded 4:+g[y]/b 4:+d 5:-g[y]/b=0 5:g[y]/b=succeeded 5:g/b=succeeded "
        + "5:g[y]=succeeded 5:g=succeeded 5:+c 5:-d=0 5:d=succeeded 6:-c=0 6:c=succeeded "
        + "6:end=0")
  }

  @Test func `a step of it that was cancelled before there were instances runs in none`() {
    var run = simulation("expand g[x] g[y]", ["z": "ok@2"])
    run.canBeChangedFromOutside = true
    run.requests = [(1, "cancel g/b")]
    #expect(
      run.timeline()
        == "0:+z 1:'g/b'_cancelled_by_anna 1:g/b=cancelled<anna 2:-z=0 2:z=succeeded 2:g/a>g[x]/a "
        + "2:g/b>g[x]/b 2:g>g[x] 2:g/a>g[y]/a 2:g/b>g[y]/b 2:g>g[y] 2:g[x]/b=cancelled<anna "
        + "2:g[y]/b=cancelled<anna 2:+g[x]/a 2:+g[y]/a 3:-g[x]/a=0 3:g[x]/a=succeeded 3:g[x]=cancelled<anna "
        + "3:-g[y]/a=0 3:g[y]/a=succeeded 3:g/a=succeeded 3:g[y]=cancelled<anna 3:g=cancelled<anna 3:c=blocked<g "
        + "3:+d 4:-d=0 4:d=succeeded 4:end=1")
  }

  @Test func `a time limit that is over when its matrix becomes known leaves it without instances`()
  {
    var run = Simulation(
      graph: "f; g/a: f; g: g/a?done; o: f?done g?done",
      settings: ["o": StepSettings(timeout: Self.second)],
      decisions: ["g": "expand g[x]", "o": "join"], groups: ["g*": ["g/a"], "o": ["f", "g"]])
    run.answersAfterTimers = true
    #expect(
      run.timeline()
        == "0:+f 1:-f=0 1:f=succeeded 1:g/a=cancelled<limit(o) 1:g=cancelled<limit(o) "
        + "1:o=timedOut<its steps together exceeded 'timeout' 1:end=1")
  }

  @Test func `without instances its steps are skipped`() {
    #expect(
      simulation("expand").timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/b=skipped<its matrix is empty 1:g/a=skipped<its "
        + "matrix is empty 1:g=skipped<its matrix is empty 1:+c 1:+d 2:-c=0 2:c=succeeded "
        + "2:-d=0 2:d=succeeded 2:end=0")
  }

  @Test func `a condition that is false skips its steps`() {
    #expect(
      simulation("skip").timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/b=skipped<no 1:g/a=skipped<no 1:g=skipped<everything "
        + "in it was skipped 1:+c 1:+d 2:-c=0 2:c=succeeded 2:-d=0 2:d=succeeded 2:end=0")
  }

  @Test func `a matrix that cannot be made blocks its steps`() {
    #expect(
      simulation("fail").timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g=failed<no 1:c=blocked<g 1:g/a=blocked<g "
        + "1:g/b=blocked<g 1:d=blocked<g 1:end=1")
  }

  @Test func `what fails before it leaves it without instances`() {
    #expect(
      simulation("expand g[x]", ["z": "1@1"]).timeline()
        == "0:+z 1:-z=1 1:z=failed 1:g/a=blocked<z 1:g/b=blocked<z 1:d=blocked<z 1:g=blocked<z "
        + "1:c=blocked<z 1:end=1")
  }

  @Test func `a failure in one instance leaves the others alone`() {
    #expect(
      simulation("expand g[x] g[y]", ["g[x]/a": "1@1", "g[y]/a": "ok@3"]).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/a>g[x]/a 1:g/b>g[x]/b 1:g>g[x] 1:g/a>g[y]/a "
        + "1:g/b>g[y]/b 1:g>g[y] 1:+g[x]/a 1:+g[y]/a 2:-g[x]/a=1 2:g[x]/a=failed "
        + "2:g[x]/b=blocked<g[x]/a 2:g[x]=failed<g[x]/a 4:-g[y]/a=0 4:g[y]/a=succeeded "
        + "4:g/a=failed<g[x]/a 4:d=blocked<g[x]/a 4:+g[y]/b 5:-g[y]/b=0 5:g[y]/b=succeeded "
        + "5:g/b=blocked<g[x]/a 5:g[y]=succeeded 5:g=failed<g[x]/a 5:c=blocked<g[x]/a 5:end=1")
  }

  @Test func `with fail_fast it cancels the others`() {
    #expect(
      simulation(
        "expand g[x] g[y]", ["g[x]/a": "1@1", "g[y]/a": "hang"], group: "g*!"
      ).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/a>g[x]/a 1:g/b>g[x]/b 1:g>g[x] 1:g/a>g[y]/a "
        + "1:g/b>g[y]/b 1:g>g[y] 1:+g[x]/a 1:+g[y]/a 2:-g[x]/a=1 2:g[x]/a=failed "
        + "2:g[x]/b=blocked<g[x]/a 2:stop(g[y]/a) 2:g[y]/b=cancelled<g[x]/a 2:g/b=cancelled "
        + "2:g[x]=failed<g[x]/a 2:-g[y]/a=sig15 2:g[y]/a=cancelled<g[x]/a 2:g/a=failed<g[x]/a "
        + "2:d=blocked<g[x]/a 2:g[y]=cancelled<g[x]/a 2:g=failed<g[x]/a 2:c=blocked<g[x]/a "
        + "2:end=1")
  }

  @Test func `the policies stop everything`() {
    let scripts = ["g[x]/a": "1@1", "g[y]/a": "ok@3"]
    #expect(
      simulation("expand g[x] g[y]", scripts, policy: .stop).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/a>g[x]/a 1:g/b>g[x]/b 1:g>g[x] 1:g/a>g[y]/a "
        + "1:g/b>g[y]/b 1:g>g[y] 1:+g[x]/a 1:+g[y]/a 2:-g[x]/a=1 2:g[x]/a=failed "
        + "2:stopping(g[x]/a) 2:g[x]/b=blocked<g[x]/a 2:g[x]=failed<g[x]/a 2:c=cancelled<g[x]/a "
        + "2:d=cancelled<g[x]/a 2:g[y]/b=cancelled<g[x]/a 2:g/b=cancelled<g[x]/a 4:-g[y]/a=0 "
        + "4:g[y]/a=succeeded 4:g[y]=cancelled<g[x]/a 4:g/a=failed<g[x]/a 4:g=failed<g[x]/a "
        + "4:end=1"
    )
    #expect(
      simulation("expand g[x] g[y]", scripts, policy: .cancel).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/a>g[x]/a 1:g/b>g[x]/b 1:g>g[x] 1:g/a>g[y]/a "
        + "1:g/b>g[y]/b 1:g>g[y] 1:+g[x]/a 1:+g[y]/a 2:-g[x]/a=1 2:g[x]/a=failed "
        + "2:stopping(g[x]/a) 2:g[x]/b=blocked<g[x]/a 2:g[x]=failed<g[x]/a 2:c=cancelled<g[x]/a "
        + "2:d=cancelled<g[x]/a 2:g[y]/b=cancelled<g[x]/a 2:g/b=cancelled<g[x]/a 2:stop(g[y]/a) "
        + "2:-g[y]/a=sig15 2:g[y]/a=cancelled<g[x]/a 2:g[y]=cancelled<g[x]/a "
        + "2:g/a=failed<g[x]/a 2:g=failed<g[x]/a 2:end=1"
    )
  }

  @Test func `the limit is that of each instance`() {
    #expect(
      simulation(
        "expand g[x] g[y]", ["g[x]/a": "hang"],
        settings: ["g": StepSettings(timeout: 2 * Self.second)]
      ).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/a>g[x]/a 1:g/b>g[x]/b 1:g>g[x] 1:g/a>g[y]/a "
        + "1:g/b>g[y]/b 1:g>g[y] 1:+g[x]/a 1:+g[y]/a 2:-g[y]/a=0 2:g[y]/a=succeeded 2:+g[y]/b "
        + "3:-g[y]/b=0 3:g[y]/b=succeeded 3:g[y]=succeeded 3:stop(g[x]/a) "
        + "3:g[x]/b=cancelled<limit(g[x]) 3:g/b=cancelled 3:-g[x]/a=sig15 "
        + "3:g[x]/a=cancelled<limit(g[x]) 3:g/a=cancelled 3:d=blocked<g/a 3:g[x]=timedOut<its "
        + "steps together exceeded 'timeout' 3:g=timedOut<g[x] 3:c=blocked<g[x] 3:end=1")
  }

  @Test func `a signal ends it at any time`() {
    #expect(
      simulation("expand g[x] g[y]", ["z": "hang"], signals: [(1, 2)]).timeline()
        == "0:+z 1:signal2 1:stopping(signal2) 1:g/a=cancelled<signal2 1:g/b=cancelled<signal2 "
        + "1:c=cancelled<signal2 1:d=cancelled<signal2 1:g=cancelled<signal2 1:stop(z) "
        + "1:-z=sig15 1:z=cancelled<signal2 1:end=130")
    #expect(
      simulation("expand g[x] g[y]", ["g[x]/a": "hang"], signals: [(3, 2)]).timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/a>g[x]/a 1:g/b>g[x]/b 1:g>g[x] 1:g/a>g[y]/a "
        + "1:g/b>g[y]/b 1:g>g[y] 1:+g[x]/a 1:+g[y]/a 2:-g[y]/a=0 2:g[y]/a=succeeded "
        + "2:+g[y]/b 3:signal2 3:stopping(signal2) 3:c=cancelled<signal2 "
        + "3:d=cancelled<signal2 3:g[x]/b=cancelled<signal2 3:stop(g[x]/a) 3:stop(g[y]/b) "
        + "3:-g[y]/b=0 3:g[y]/b=cancelled<signal2 3:g[y]=cancelled<signal2 "
        + "3:g/b=cancelled<signal2 3:-g[x]/a=sig15 3:g[x]/a=cancelled<signal2 "
        + "3:g[x]=cancelled<signal2 3:g/a=cancelled<signal2 3:g=cancelled<signal2 "
        + "3:end=130"
    )
  }

  @Test func `groups in it are made with it`() {
    let run = Simulation(
      graph: "g/h/a; g/h: g/h/a?done; g/b: g/h; g: g/h?done g/b?done; c: g/h/a",
      decisions: ["g": "expand g[x] g[y]", "g[x]/h": "expand g[x]/h[1]", "g[y]/h": "expand"],
      groups: ["g*": ["g/h", "g/b"], "g/h*": ["g/h/a"]])
    #expect(
      run.timeline()
        == "0:g/h/a>g[x]/h/a 0:g/h>g[x]/h 0:g/b>g[x]/b 0:g>g[x] 0:g/h/a>g[y]/h/a 0:g/h>g[y]/h "
        + "0:g/b>g[y]/b 0:g>g[y] 0:g[x]/h/a>g[x]/h[1]/a 0:g[x]/h>g[x]/h[1] "
        + "0:g[y]/h/a=skipped<its matrix is empty 0:g[y]/h=skipped<its matrix is empty "
        + "0:+g[y]/b 0:+g[x]/h[1]/a 1:-g[y]/b=0 1:g[y]/b=succeeded 1:g[y]=succeeded "
        + "1:-g[x]/h[1]/a=0 1:g[x]/h[1]/a=succeeded 1:g[x]/h/a=succeeded 1:g/h/a=succeeded "
        + "1:g[x]/h[1]=succeeded 1:g[x]/h=succeeded 1:g/h=succeeded 1:+g[x]/b 1:+c 2:-g[x]/b=0 "
        + "2:g[x]/b=succeeded 2:g/b=succeeded 2:g[x]=succeeded 2:g=succeeded 2:-c=0 "
        + "2:c=succeeded 2:end=0")
  }
}
