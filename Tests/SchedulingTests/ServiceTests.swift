// Operations that take no slot, and dependents that do not wait for their end.

import Scheduling
import Testing

@Suite struct `What takes no slot` {
  @Test func `runs beside a full queue`() {
    var run = Simulation("a; s&/3; b; t&", queues: "main=1")
    #expect(run.run() == "0 a+ s+ t+ | 1 a- t- b+ | 2 b- | 3 s-")
  }

  @Test func `takes its claims all the same`() {
    var run = Simulation("s&%m/2; a%m; b", queues: "main=1", pools: "m=1")
    #expect(run.run() == "0 a+ | 1 a- b+ s+ | 2 b- | 3 s-")
  }

  @Test func `does not start in a queue without width, or one that is suspended`() {
    var run = Simulation("s&; t&@net", queues: "main=0 net=1.")
    let (main, net) = (run.queue("main"), run.queue("net"))
    #expect(
      run.run([
        1: { $0.scheduler.setWidth(1, of: main) }, 3: { $0.scheduler.resume(net) },
      ]) == "1 s+ | 2 s- | 3 t+ | 4 t-")
  }
}

@Suite struct `A service that is announced` {
  @Test func `lets start what waits until it is ready, and no other`() {
    var run = Simulation("s&/5; a: s?ready; b: s?done; c: s?readyOrDone", queues: "main=2")
    let service = run.id("s")
    #expect(
      run.run([2: { $0.scheduler.announce(service) }])
        == "0 s+ | 2 a+ c+ | 3 a- c- | 5 s- b+ | 6 b-")
  }

  @Test func `as failed blocks what waits until it is ready`() {
    var run = Simulation(
      "s&/5=failed; a: s?ready; b: a; c: s?readyOrDone; d: s?failed", queues: "main=2")
    let service = run.id("s")
    #expect(
      run.run([2: { $0.scheduler.announce(service, as: Ending(.failed)) }])
        == "0 s+ | 2 a=blocked(s) b=blocked(s) c+ | 3 c- | 5 s-failed d+ | 6 d-")
  }

  @Test func `that was never ready tells with its end`() {
    var run = Simulation("s&=failed; a: s?ready; c: s?readyOrDone; t&=skipped; b: t?ready")
    #expect(run.run() == "0 s+ t+ | 1 s-failed a=blocked(s) t-skipped c+ | 2 c- b+ | 3 b-")
  }
}
