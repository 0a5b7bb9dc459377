// Thousands of random graphs and random events, against the reference: the same operations start in
// the same order, the same ones are blocked or cancelled for the same reason.

import Scheduling
import TestSupport
import Testing

extension SeededGenerator {
  mutating func roll(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

  /// True once in this many times.
  mutating func once(in times: Int) -> Bool { roll(1...times) == 1 }
}

@Suite struct `random graphs` {
  @Test(arguments: 0..<8)
  func `start in the order of the reference`(_ part: Int) {
    for seed in (part * 400)..<(part * 400 + 400) {
      var run = RandomRun(seed: seed, patience: .max)
      let fault = run.run()
      #expect(fault == nil, "seed \(seed)")
      if fault != nil { return }
    }
  }

  @Test func `keep every limit while large claims age`() {
    for seed in 0..<1_000 {
      var run = RandomRun(seed: seed, patience: 2)
      let fault = run.run()
      #expect(fault == nil, "seed \(seed)")
      if fault != nil { return }
    }
  }

  @Test func `give the same order for the same input`() {
    for seed in 0..<200 {
      var first = RandomRun(seed: seed, patience: 3)
      var second = RandomRun(seed: seed, patience: 3)
      _ = (first.run(), second.run())
      #expect(first.started == second.started)
    }
  }
}

/// One random graph and its random history, told to a scheduler and to the reference.
private struct RandomRun {
  private(set) var started: [OperationID] = []
  private var dice: SeededGenerator
  private var scheduler: Scheduler
  private var reference: Reference
  /// Edges go from smaller to larger: so there is no cycle.
  private var heights: [Int]
  private let isOrderCompared: Bool
  private var fault: String?

  init(seed: Int, patience: Int) {
    var dice = SeededGenerator(seed: UInt64(seed))
    isOrderCompared = patience == .max
    let queues = (0...dice.roll(0...2)).map {
      QueueSpec(name: "\($0)", width: dice.roll(0...4), isSuspended: dice.once(in: 8))
    }
    let pools = (0..<dice.roll(0...3)).map {
      PoolSpec(name: "\($0)", capacity: Int64(dice.roll(1...4)))
    }
    let isTimed = dice.once(in: 2)
    let count = dice.roll(1...24)
    let specs = (0..<count).map { _ in
      dice.spec(queues: queues.count, pools: pools, isTimed: isTimed)
    }
    heights = dice.once(in: 2) ? Array(0..<count) : (0..<count).shuffled(using: &dice)
    var graph = Graph()
    for spec in specs { graph.append(spec) }
    let edges = dice.edges(heights: heights)
    for edge in edges { graph.addEdge(from: edge.from, to: edge.to, when: edge.condition) }
    scheduler = Scheduler(
      graph: graph, queues: queues, pools: pools, patience: patience, pathReach: .max)
    reference = Reference(specs: specs, edges: edges, queues: queues, pools: pools)
    self.dice = dice
  }

  /// What went wrong, if anything did.
  mutating func run() -> String? {
    for _ in 0..<60 where fault == nil {
      turn { $0.act() }
    }
    if fault == nil { turn { $0.open() } }
    while fault == nil, !scheduler.isFinished {
      if scheduler.runningCount == 0, scheduler.counts.paused == 0 { fault = "it stands still" }
      turn {
        $0.resumeOne()
        $0.finishOne(as: Ending(.succeeded))
      }
    }
    if fault == nil, reference.operations.contains(where: { $0.endCount != 1 }) {
      fault = "not ended once"
    }
    return fault
  }

  private mutating func turn(_ act: (inout RandomRun) -> Void) {
    act(&self)
    compare()
    if fault == nil { startAll() }
  }

  private mutating func startAll() {
    while let id = scheduler.next() {
      started.append(id)
      check(id)
      if !isOrderCompared {
        reference.operations[id.index].state = .running
      } else if let expected = reference.next(), expected != id {
        fault = "\(id.index) started, not \(expected.index)"
      }
      if fault != nil { return }
    }
    if isOrderCompared, let missing = reference.next() { fault = "\(missing.index) did not start" }
  }

  /// Checks that the operation may start, by rules that do not depend on the order.
  private mutating func check(_ id: OperationID) {
    let operation = reference.operations[id.index]
    let queue = operation.spec.queue.index
    if operation.state != .ready { fault = "\(id.index) started while \(operation.state)" }
    if reference.queues[queue].isSuspended { fault = "\(id.index) started in a suspended queue" }
    if reference.running(in: queue).count >= reference.queues[queue].width {
      fault = "\(id.index) went beyond the width"
    }
    if !reference.fits(operation.spec.claims) { fault = "\(id.index) went beyond a pool" }
  }

  private func show(_ settlements: [Settlement]) -> String {
    settlements.map { "\($0.operation.index) \($0.ending)" }.joined(separator: " ")
  }

  private mutating func compare() {
    let settlements = scheduler.takeSettlements()
    if settlements != reference.settlements {
      fault = "settled \(show(settlements)), not \(show(reference.settlements))"
    }
    reference.settlements = []
    for (index, operation) in reference.operations.enumerated() {
      let state = scheduler.state(of: OperationID(index))
      if state != operation.state { fault = "\(index) is \(state), not \(operation.state)" }
    }
    for queue in reference.queues.indices {
      let count = scheduler.counts(of: QueueID(queue)).running
      if count != reference.running(in: queue).count { fault = "queue \(queue) counts \(count)" }
    }
  }
}

extension RandomRun {
  private mutating func act() {
    switch dice.roll(0...19) {
    case 0...9: finishOne(as: dice.ending())
    case 10: pauseOne()
    case 11: resumeOne()
    case 12: settleOne()
    case 13, 14: append()
    case 15: addEdge()
    case 16: setWidth(dice.roll(0...4))
    case 17: suspend()
    case 18: resumeQueue()
    default: if dice.once(in: 12) { stop() }
    }
  }

  private mutating func one(_ isWanted: (OperationState) -> Bool) -> OperationID? {
    let ids = reference.operations.indices.filter { isWanted(reference.operations[$0].state) }
    return ids.randomElement(using: &dice).map { OperationID($0) }
  }

  private mutating func finishOne(as ending: Ending) {
    guard let id = one({ $0 == .running }) else { return }
    scheduler.finish(id, as: ending)
    reference.end(id, ending, nil)
    reference.settleDependents(of: id)
  }

  private mutating func pauseOne() {
    guard let id = one({ $0 == .running }) else { return }
    scheduler.pause(id)
    reference.operations[id.index].state = .paused
  }

  private mutating func resumeOne() {
    guard let id = one({ $0 == .paused }) else { return }
    if let reason = reference.stopReason {
      scheduler.settle(id, as: Ending(.cancelled), cause: .stopped(reason))
      reference.end(id, Ending(.cancelled), .stopped(reason))
    } else {
      scheduler.resume(id)
      reference.operations[id.index].state = .ready
    }
  }

  private mutating func settleOne() {
    guard let id = one({ !$0.hasEnded && $0 != .running }) else { return }
    let ending = dice.ending()
    scheduler.settle(id, as: ending, cause: .itself)
    reference.end(id, ending, .itself)
    reference.settleDependents(of: id)
  }

  private mutating func stop() {
    if reference.stopReason != nil { return }
    scheduler.stop(.runTimeout)
    reference.stop(.runTimeout)
  }

  private mutating func append() {
    let count = reference.operations.count
    if count > 40 { return }
    let queues = reference.queues.count
    let spec = dice.spec(queues: queues, pools: reference.pools, isTimed: dice.once(in: 2))
    let dependencies = (0..<dice.roll(0...3)).map { _ in
      (OperationID(dice.roll(0...(count - 1))), dice.condition())
    }
    heights.append((heights.max() ?? 0) + 1)
    scheduler.append(spec, after: dependencies)
    reference.append(spec, dependencies)
  }

  private mutating func addEdge() {
    guard let dependent = one({ $0 == .waiting || $0 == .ready }),
      let dependency = one({ _ in true }),
      heights[dependency.index] < heights[dependent.index]
    else { return }
    let condition = dice.condition()
    scheduler.addEdge(from: dependency, to: dependent, when: condition)
    reference.addEdge(Graph.Edge(from: dependency, to: dependent, condition: condition))
  }

  private mutating func setWidth(_ width: Int) {
    let queue = dice.roll(0...(reference.queues.count - 1))
    scheduler.setWidth(width, of: QueueID(queue))
    reference.queues[queue].width = width
  }

  private mutating func suspend() {
    let queue = dice.roll(0...(reference.queues.count - 1))
    scheduler.suspend(QueueID(queue))
    reference.queues[queue].isSuspended = true
  }

  private mutating func resumeQueue() {
    let queue = dice.roll(0...(reference.queues.count - 1))
    scheduler.resume(QueueID(queue))
    reference.queues[queue].isSuspended = false
  }

  /// From here on, lets everything end.
  private mutating func open() {
    for queue in reference.queues.indices {
      scheduler.resume(QueueID(queue))
      reference.queues[queue].isSuspended = false
      scheduler.setWidth(2, of: QueueID(queue))
      reference.queues[queue].width = 2
    }
  }
}

extension SeededGenerator {
  mutating func ending() -> Ending {
    if once(in: 2) { return Ending(.succeeded) }
    let outcomes: [Outcome] = [.succeeded, .cached, .failed, .timedOut, .cancelled, .skipped]
    return Ending(outcomes[roll(0...5)], isAllowed: once(in: 3))
  }

  mutating func condition() -> EdgeCondition {
    once(in: 3) ? EdgeCondition.allCases[roll(0...3)] : .ok
  }

  mutating func spec(queues: Int, pools: [PoolSpec], isTimed: Bool) -> OperationSpec {
    var spec = OperationSpec()
    spec.queue = QueueID(roll(0...(queues - 1)))
    spec.priority = once(in: 3) ? Int16(roll(-2...2)) : 0
    if isTimed, once(in: 2) { spec.expected = Int64(roll(0...5)) }
    for (index, pool) in pools.enumerated() where once(in: 2) {
      spec.claims.append(Claim(PoolID(index), amount: Int64(roll(1...Int(pool.capacity)))))
    }
    return spec
  }

  mutating func edges(heights: [Int]) -> [Graph.Edge] {
    let density = roll(0...3)
    var edges: [Graph.Edge] = []
    for _ in 0..<(heights.count * density) {
      let (from, to) = (roll(0...(heights.count - 1)), roll(0...(heights.count - 1)))
      guard heights[from] < heights[to] else { continue }
      edges.append(Graph.Edge(from: OperationID(from), to: OperationID(to), condition: condition()))
    }
    return edges
  }
}
