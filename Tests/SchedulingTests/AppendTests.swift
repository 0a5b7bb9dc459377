// Operations, edges, queues and pools that are added while the graph runs.

import Testing

@testable import Scheduling

@Suite struct `a graph that grows` {
  @Test func `an appended operation runs after what it waits for`() {
    #expect(
      schedule("a/3; b", queues: "main=2", [1: { $0.append("c: a b; d: c") }])
        == "0 a+ b+ | 1 b- | 3 a- c+ | 4 c- d+ | 5 d-")
  }

  @Test func `an operation appended after an ended one is ready at once`() {
    #expect(
      schedule("a; b/5: a", queues: "main=2", [2: { $0.append("c: a") }])
        == "0 a+ | 1 a- b+ | 2 c+ | 3 c- | 6 b-")
  }

  @Test func `an operation appended after a blocked one is blocked by the same root`() {
    #expect(
      schedule("a=failed; b: a", [3: { $0.append("c: b; d: c?done") }])
        == "0 a+ | 1 a-failed b=blocked(a) | 3 c=blocked(a) d+ | 4 d-")
  }

  @Test func `operations that are appended together may wait for each other in any order`() {
    #expect(
      schedule("a/2", queues: "main=2", [1: { $0.appendTogether("c: b; b: a") }])
        == "0 a+ | 2 a- b+ | 3 b- c+ | 4 c-")
  }

  @Test func `what is blocked of them blocks the others`() {
    #expect(
      schedule("a=failed", [2: { $0.appendTogether("c: b; b: a; d: c?done") }])
        == "0 a+ | 1 a-failed | 2 b=blocked(a) c=blocked(a) d+ | 3 d-")
  }

  @Test func `what is skipped of them lets the others run`() {
    #expect(
      schedule("a", [2: { $0.appendTogether("c: b; b: a?failed") }])
        == "0 a+ | 1 a- | 2 b=skipped(a) c+ | 3 c-")
  }

  @Test func `a finished graph goes on when something is appended`() {
    #expect(schedule("a", [7: { $0.append("b: a") }]) == "0 a+ | 1 a- | 7 b+ | 8 b-")
  }

  @Test func `a scheduler may start empty`() {
    #expect(schedule("", [0: { $0.append("a; b: a") }]) == "0 a+ | 1 a- b+ | 2 b-")
  }

  @Test func `an appended operation hands its priority on`() {
    #expect(
      schedule(
        "a/2; b; c; d: b; e!1; f: d",
        [1: { $0.append("x!5: f") }]) == "0 e+ | 1 e- b+ | 2 b- d+ | 3 d- f+ | 4 f- x+ | 5 x- a+"
        + " | 7 a- c+ | 8 c-")
  }

  @Test func `an appended operation lengthens the path of the nearest`() {
    var simulation = Simulation("p; a; b: a; c: b; d: c", queues: "main=0", pathReach: 3)
    simulation.append("e: d")
    let paths = ["p", "a", "b", "c", "d", "e"].map {
      Rank.path(ofKey: simulation.scheduler.records[simulation.id($0).index].key)
    }
    #expect(paths == [1, 4, 4, 3, 2, 1])
  }

  @Test func `an edge may be added to what has not started`() {
    #expect(
      schedule(
        "a/4; b; c", queues: "main=1",
        [
          0: {
            $0.scheduler.addEdge(from: $0.id("c"), to: $0.id("b"), when: .ok)
            $0.scheduler.addEdge(from: $0.id("a"), to: $0.id("c"), when: .failed)
          }
        ]) == "0 a+ | 4 a- c=skipped(a) b+ | 5 b-")
  }

  @Test func `an edge from what has ended is settled at once`() {
    #expect(
      schedule(
        "a!2; b!1/5; c; d: c",
        [
          2: {
            $0.scheduler.addEdge(from: $0.id("a"), to: $0.id("d"), when: .ok)
            $0.scheduler.addEdge(from: $0.id("a"), to: $0.id("c"), when: .failed)
          }
        ]) == "0 a+ | 1 a- b+ | 2 c=skipped(a) | 6 b- d+ | 7 d-")
  }

  @Test func `queues and pools may be added`() {
    var simulation = Simulation("a%m; b%m", queues: "main=2", pools: "m=1")
    let queue = simulation.scheduler.addQueue(QueueSpec(name: "late", width: 1))
    let pool = simulation.scheduler.addPool(PoolSpec(name: "n", capacity: 1))
    var spec = OperationSpec()
    spec.queue = queue
    spec.claims = [Claim(pool, amount: 1)]
    let first = simulation.scheduler.append(spec)
    spec.queue = .default
    let second = simulation.scheduler.append(spec)
    var started: [OperationID] = []
    while let id = simulation.scheduler.next() { started.append(id) }
    #expect(started == [OperationID(0), second])
    simulation.scheduler.finish(second, as: Ending(.succeeded))
    #expect(simulation.scheduler.next() == first)
    #expect(simulation.scheduler.counts(of: queue).running == 1)
  }
}

@Suite struct `what can be asked` {
  @Test func `counts follow the states`() {
    var simulation = Simulation("a=failed; b: a; c@net; d@net; e", queues: "main=2 net=1")
    #expect(simulation.scheduler.counts.ready == 4)
    #expect(simulation.scheduler.counts.waiting == 1)
    while simulation.scheduler.next() != nil {}
    #expect(simulation.scheduler.counts(of: .default).running == 2)
    #expect(simulation.scheduler.counts(of: QueueID(1)).running == 1)
    #expect(simulation.scheduler.counts(of: QueueID(1)).ready == 1)
    #expect(simulation.scheduler.runningCount == 3)
    simulation.scheduler.pause(simulation.id("e"))
    simulation.scheduler.finish(simulation.id("a"), as: Ending(.failed))
    #expect(simulation.scheduler.counts.paused == 1)
    #expect(simulation.scheduler.counts.ended == 2)
    #expect(simulation.scheduler.counts.unfinished == 3)
    #expect(simulation.scheduler.root(of: simulation.id("b")) == simulation.id("a"))
    #expect(simulation.scheduler.root(of: simulation.id("a")) == nil)
    #expect(simulation.scheduler.ending(of: simulation.id("b")) == Ending(.blocked))
    #expect(simulation.scheduler.state(of: simulation.id("e")) == .paused)
    #expect(!simulation.scheduler.isFinished)
  }
}
