// Mutexes that other runs share, in virtual time.

import Plans
import Scheduling
import Testing

@testable import Running

@Suite struct `A mutex of the host` {
  private let mutex = [PoolSpec(name: "m", capacity: 1_000_000, isGranted: true)]

  @Test func `lets one step in`() {
    let run = Simulation(graph: "a%m; b%m; c", scripts: ["a": "ok@2"], pools: mutex)
    #expect(
      run.timeline()
        == "0:+c 0:+a 1:-c=0 1:c=succeeded 2:-a=0 2:a=succeeded 2:+b 3:-b=0 3:b=succeeded 3:end=0")
  }

  @Test func `that another run has is waited for, and nothing else is`() {
    let run = Simulation(graph: "a%m; b; c: a", pools: mutex, others: [0..<3], width: 1)
    #expect(
      run.timeline()
        == "0:+b 1:-b=0 1:b=succeeded 3:+a 4:-a=0 4:a=succeeded 4:+c 5:-c=0 5:c=succeeded 5:end=0")
  }

  @Test func `is given back after each step, so that others have their turn`() {
    let run = Simulation(graph: "a%m; b%m", pools: mutex, others: [1..<3])
    #expect(
      run.timeline() == "0:+a 1:-a=0 1:a=succeeded 3:+b 4:-b=0 4:b=succeeded 4:end=0")
  }

  @Test func `is given back between attempts, and kept for hooks`() {
    var retry = RetryPolicy()
    retry.limit = 1
    retry.delay = 2_000_000_000
    var hooks = Hooks()
    hooks.onSuccess = [.known(.script("hook"))]
    let run = Simulation(
      graph: "a%m; b%m: a", scripts: ["a": "1@1 ok@1"],
      settings: ["a": StepSettings(retry: retry, hooks: hooks)], pools: mutex, others: [2..<4])
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a#2in2 4:+a 5:-a=0 5:+a.on_success.1 6:-a.on_success.1=0 6:a=succeeded "
        + "6:+b 7:-b=0 7:b=succeeded 7:end=0")
  }

  @Test func `is not taken while the run is being stopped`() {
    let run = Simulation(
      graph: "a%m; b", scripts: ["b": "hang"], pools: mutex, others: [0..<100],
      signals: [(2, 15)])
    #expect(
      run.timeline()
        == "0:+b 2:signal15 2:stopping(signal15) 2:a=cancelled<signal15 2:stop(b) 2:-b=sig15 "
        + "2:b=cancelled<signal15 2:end=143")
  }

  @Test func `is not waited for with a slot`() {
    let run = Simulation(
      graph: "a%m; b; c", pools: mutex, others: [0..<2], width: 1)
    #expect(
      run.timeline()
        == "0:+b 1:-b=0 1:b=succeeded 1:+c 2:-c=0 2:c=succeeded 2:+a 3:-a=0 3:a=succeeded 3:end=0")
  }

  @Test func `means nothing to a rehearsal`() {
    let plan = Simulation(graph: "a%m", pools: mutex).plan()
    var machine = RunMachine(plan: plan)
    machine.begin(at: 0)
    let starts = machine.takeActions().filter { if case .start = $0 { true } else { false } }
    #expect(starts.count == 1)
  }
}
