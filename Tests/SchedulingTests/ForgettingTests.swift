// A scheduler that runs for ever: forgotten operations take no memory and change nothing.

import Scheduling
import TestSupport
import Testing

@Suite struct forgetting {
  @Test func `memory is bounded by what is alive`() {
    var scheduler = Scheduler(graph: Graph(), queues: [QueueSpec(name: "main", width: 2)])
    var last = scheduler.append(OperationSpec())
    for _ in 0..<20_000 {
      let next = scheduler.append(OperationSpec(), after: [(last, .ok), (last, .done)])
      #expect(scheduler.next() == last)
      scheduler.finish(last, as: Ending(.succeeded))
      scheduler.forget(last)
      last = next
    }
    #expect(scheduler.graph.count == 2)
    #expect(scheduler.graph.edgeCount <= 2)
    #expect(scheduler.counts.ready == 1)
    #expect(scheduler.counts.ended == 0)
  }

  @Test func `operations whose ids are used again start in the order they were appended`() {
    var scheduler = Scheduler(graph: Graph(), queues: [QueueSpec(name: "main", width: 1)])
    let first = scheduler.append(OperationSpec())
    let second = scheduler.append(OperationSpec())
    for _ in 0..<2 {
      if let id = scheduler.next() { scheduler.finish(id, as: Ending(.succeeded)) }
    }
    scheduler.forget(first)
    scheduler.forget(second)
    let third = scheduler.append(OperationSpec())
    let fourth = scheduler.append(OperationSpec())
    #expect(third == second && fourth == first)
    #expect(scheduler.next() == third)
    scheduler.stop(.runTimeout)
    #expect(scheduler.takeSettlements().map(\.operation) == [fourth])
  }

  @Test func `a waiting operation may lose a dependency that has ended`() {
    var simulation = Simulation("a; b/3; c: a b; d: c", queues: "main=2")
    let timeline = simulation.run([
      2: { $0.scheduler.forget($0.id("a")) }
    ])
    #expect(timeline == "0 a+ b+ | 1 a- | 3 b- c+ | 4 c- d+ | 5 d-")
    #expect(simulation.scheduler.graph.dependencies(of: simulation.id("c")).count == 1)
  }

  @Test func `the same operations start in the same order as without forgetting`() {
    for seed in 0..<300 {
      let kept = History(seed: seed, isForgetting: false)
      let forgotten = History(seed: seed, isForgetting: true)
      #expect(kept.log == forgotten.log, "seed \(seed)")
      #expect(forgotten.scheduler.graph.count < kept.scheduler.graph.count)
      #expect(forgotten.scheduler.counts.unfinished == kept.scheduler.counts.unfinished)
      if kept.log != forgotten.log { return }
    }
  }
}

/// Operations are appended after others that are alive, start, end; identified by their numbers.
private struct History {
  private(set) var scheduler = Scheduler(
    graph: Graph(), queues: [QueueSpec(name: "a", width: 3), QueueSpec(name: "b", width: 2)],
    pools: [PoolSpec(name: "p", capacity: 3)], patience: 3)
  private(set) var log: [String] = []
  private var alive: [(number: Int, id: OperationID)] = []
  private var running: [Int] = []
  private let isForgetting: Bool

  init(seed: Int, isForgetting: Bool) {
    self.isForgetting = isForgetting
    var dice = SeededGenerator(seed: UInt64(seed))
    for number in 0..<120 {
      append(number, &dice)
      if dice.once(in: 2) { startAll() }
      if dice.once(in: 2), let number = running.randomElement(using: &dice) {
        finish(number, as: dice.ending())
      }
    }
    scheduler.stop(.runTimeout)
    settle()
  }

  private mutating func append(_ number: Int, _ dice: inout SeededGenerator) {
    let pools = [PoolSpec(name: "p", capacity: 3)]
    let spec = dice.spec(queues: 2, pools: pools, isTimed: false)
    var dependencies: [(OperationID, EdgeCondition)] = []
    for _ in 0..<dice.roll(0...2) {
      guard let other = alive.randomElement(using: &dice) else { continue }
      dependencies.append((other.id, dice.condition()))
    }
    alive.append((number, scheduler.append(spec, after: dependencies)))
    settle()
  }

  private mutating func startAll() {
    while let id = scheduler.next() {
      running.append(number(of: id))
      log.append("\(number(of: id))+")
    }
  }

  private mutating func finish(_ number: Int, as ending: Ending) {
    guard let one = alive.first(where: { $0.number == number }) else { return }
    running.removeAll { $0 == number }
    log.append("\(number)-\(ending)")
    scheduler.finish(one.id, as: ending)
    settle()
    leave(one.id)
  }

  private mutating func settle() {
    let settled = scheduler.takeSettlements()
    for settlement in settled {
      log.append("\(number(of: settlement.operation))=\(settlement.ending)")
    }
    for settlement in settled { leave(settlement.operation) }
  }

  private mutating func leave(_ id: OperationID) {
    alive.removeAll { $0.id == id }
    if isForgetting { scheduler.forget(id) }
  }

  private func number(of id: OperationID) -> Int {
    alive.first { $0.id == id }?.number ?? -1
  }
}
