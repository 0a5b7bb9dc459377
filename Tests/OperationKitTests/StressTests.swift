// Many operations with random dependencies, priorities, cancels, suspensions and widths.
//
// OPERATIONKIT_STRESS sets how many, OPERATIONKIT_SEED the seed; a failure reports the seed.

import Dispatch
import Glibc
import OperationKit
import Synchronization
import Testing

/// A generator that can be started again at the same place.
struct Dice: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }

  mutating func happens(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}

private func setting(_ name: String, _ fallback: Int) -> Int {
  getenv(name).flatMap { Int(String(cString: $0)) } ?? fallback
}

private let levels: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]

// MARK: - The order, against a model

/// The plainest model of one queue of width 1: looks through everything for each step.
private struct Model {
  struct Item {
    var dependencies: [Int]
    var priority: Int
    var isCancelled: Bool
  }

  var items: [Item]

  /// The operations whose main runs, in order.
  func order() -> [Int] {
    var isDone = [Bool](repeating: false, count: items.count)
    var order: [Int] = []
    while true {
      let ready = items.indices.filter { index in
        !isDone[index]
          && (items[index].isCancelled || items[index].dependencies.allSatisfy { isDone[$0] })
      }
      guard let next = ready.max(by: { isBehind($0, $1) }) else { return order }
      isDone[next] = true
      if !items[next].isCancelled { order.append(next) }
    }
  }

  private func isBehind(_ left: Int, _ right: Int) -> Bool {
    if items[left].priority != items[right].priority {
      return items[left].priority < items[right].priority
    }
    return left > right
  }
}

@Suite(.serialized) struct StressTests {
  private let seed = UInt64(setting("OPERATIONKIT_SEED", 1))

  @Test func `a serial queue runs in the order of the model`() {
    var dice = Dice(seed)
    for round in 0..<300 {
      let count = Int.random(in: 1...80, using: &dice)
      let model = Model(
        items: (0..<count).map { index in
          let dependencies = (0..<Int.random(in: 0...3, using: &dice)).map { _ in
            Int.random(in: 0...index, using: &dice)
          }
          return Model.Item(
            dependencies: dependencies.filter { $0 != index },
            priority: levels.randomElement(using: &dice)?.rawValue ?? 0,
            isCancelled: dice.happens(oneIn: 8))
        })
      #expect(run(model) == model.order(), "seed \(seed), round \(round)")
    }
  }

  private func run(_ model: Model) -> [Int] {
    let ran = Locked<[Int]>([])
    let queue = serialQueue()
    queue.isSuspended = true
    let operations = model.items.indices.map { index in
      BlockOperation { ran.withLock { $0.append(index) } }
    }
    for (operation, item) in zip(operations, model.items) {
      operation.queuePriority = Operation.QueuePriority(rawValue: item.priority) ?? .normal
      for dependency in item.dependencies { operation.addDependency(operations[dependency]) }
    }
    queue.addOperations(operations, waitUntilFinished: false)
    for (operation, item) in zip(operations, model.items) where item.isCancelled {
      operation.cancel()
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    return ran.withLock { $0 }
  }
}

// MARK: - Everything at once

/// What all operations of a run have in common.
private final class Arena: Sendable {
  static let largestWidth = 6
  let queues = (0..<5).map { _ in OperationQueue() }
  let crowds = (0..<5).map { _ in Crowd() }
  let room = DispatchSemaphore(value: 2000)
  let mains = Atomic<Int>(0)
  let ends = Atomic<Int>(0)
  let alive = Atomic<Int>(0)
  let tooEarly = Atomic<Int>(0)

  init() {
    for queue in queues { queue.maxConcurrentOperationCount = 2 }
    queues[4].maxConcurrentOperationCount = 1
  }
}

/// Whether an operation's completion block has run.
private final class Flag: Sendable {
  private let value = Atomic<Int>(0)
  func raise() { value.add(1, ordering: .acquiringAndReleasing) }
  var count: Int { value.load(ordering: .acquiring) }
}

private final class Tested: AsyncOperation, @unchecked Sendable {
  let arena: Arena
  let queueNumber: Int
  let flag = Flag()
  private let endsElsewhere: Bool
  private let required = Locked<[Flag]>([])
  private let mainCount = Atomic<Int>(0)

  init(_ arena: Arena, queueNumber: Int, endsElsewhere: Bool) {
    self.arena = arena
    self.queueNumber = queueNumber
    self.endsElsewhere = endsElsewhere
    super.init()
    arena.alive.add(1, ordering: .relaxed)
    completionBlock = { [arena, flag] in
      flag.raise()
      arena.ends.add(1, ordering: .relaxed)
      arena.room.signal()
    }
  }

  deinit { arena.alive.subtract(1, ordering: .relaxed) }

  func require(_ other: Tested) {
    addDependency(other)
    required.withLock { $0.append(other.flag) }
  }

  override func main() {
    arena.crowds[queueNumber].enter()
    arena.mains.add(1, ordering: .relaxed)
    if mainCount.add(1, ordering: .relaxed).oldValue != 0 {
      arena.tooEarly.add(1, ordering: .relaxed)
    }
    let isEarly = required.withLock { $0.contains { $0.count != 1 } }
    if isEarly { arena.tooEarly.add(1, ordering: .relaxed) }
    if endsElsewhere { DispatchQueue.global().async { self.end() } } else { end() }
  }

  private func end() {
    arena.crowds[queueNumber].leave()
    finish()
  }
}

extension StressTests {
  /// Adds its share; of what it added lately it cancels some, and lets new ones depend on others.
  private func produce(_ count: Int, in arena: Arena, _ seed: UInt64) {
    var dice = Dice(seed)
    var recent: [Tested] = []
    for _ in 0..<count {
      arena.room.wait()
      let queueNumber = Int.random(in: 0..<arena.queues.count, using: &dice)
      let operation = Tested(
        arena, queueNumber: queueNumber, endsElsewhere: dice.happens(oneIn: 16))
      operation.queuePriority = levels.randomElement(using: &dice) ?? .normal
      for _ in 0..<Int.random(in: 0...2, using: &dice) {
        if let other = recent.randomElement(using: &dice) { operation.require(other) }
      }
      if dice.happens(oneIn: 200) { operation.cancel() }
      arena.queues[queueNumber].addOperation(operation)
      if recent.count < 64 {
        recent.append(operation)
      } else {
        recent[Int.random(in: 0..<64, using: &dice)] = operation
      }
      if dice.happens(oneIn: 10) { recent.randomElement(using: &dice)?.cancel() }
      if dice.happens(oneIn: 20) {
        recent.randomElement(using: &dice)?.queuePriority =
          levels.randomElement(using: &dice) ?? .low
      }
      if dice.happens(oneIn: 100) { disturb(arena, &dice) }
    }
  }

  private func disturb(_ arena: Arena, _ dice: inout Dice) {
    let queue = arena.queues[Int.random(in: 0..<4, using: &dice)]
    switch Int.random(in: 0..<3, using: &dice) {
    case 0:
      queue.isSuspended = true
      sched_yield()
      queue.isSuspended = false
    case 1:
      queue.maxConcurrentOperationCount = Int.random(in: 1...Arena.largestWidth, using: &dice)
    default:
      for operation in queue.operations.prefix(20) { operation.cancel() }
    }
  }

  @Test func `everything at once keeps its promises`() {
    let count = setting("OPERATIONKIT_STRESS", 50_000)
    let producers = 4
    let arena = Arena()
    DispatchQueue.concurrentPerform(iterations: producers) { number in
      produce(count / producers, in: arena, seed &+ UInt64(number))
    }
    for queue in arena.queues { queue.waitUntilAllOperationsAreFinished() }
    let ends = arena.ends.load(ordering: .relaxed)
    let tooEarly = arena.tooEarly.load(ordering: .relaxed)
    let mains = arena.mains.load(ordering: .relaxed)
    #expect(ends == count / producers * producers, "seed \(seed)")
    #expect(tooEarly == 0, "seed \(seed)")
    #expect(mains <= ends && mains > ends / 4, "seed \(seed)")
    #expect(arena.crowds[4].most == 1, "seed \(seed)")
    for crowd in arena.crowds { #expect(crowd.most <= Arena.largestWidth, "seed \(seed)") }
    eventually("all are released") { arena.alive.load(ordering: .relaxed) == 0 }
  }

  @Test func `a storm of cancels from many threads harms nothing`() {
    for _ in 0..<20 {
      let queue = OperationQueue()
      let ends = Atomic<Int>(0)
      let operations = (0..<500).map { index in
        let operation = BlockOperation { sched_yield() }
        operation.completionBlock = { ends.add(1, ordering: .relaxed) }
        return operation
      }
      for index in 1..<500 { operations[index].addDependency(operations[index / 2]) }
      DispatchQueue.concurrentPerform(iterations: 8) { number in
        if number == 0 { queue.addOperations(operations, waitUntilFinished: false) }
        for operation in operations.dropFirst(number * 10) { operation.cancel() }
        queue.cancelAllOperations()
      }
      queue.waitUntilAllOperationsAreFinished()
      let total = ends.load(ordering: .relaxed)
      #expect(total == 500 && operations.allSatisfy { $0.isFinished })
    }
  }
}
