// Operations that the scheduler does not know yet: whatever happens to one that waits behind many
// others, it is as if the scheduler knew all of them.

import OperationKit
import Synchronization
import Testing

@Suite struct BacklogTests {
  /// A queue that runs one after the other, once it is resumed.
  private func suspendedQueue() -> OperationQueue {
    let queue = serialQueue()
    queue.isSuspended = true
    return queue
  }

  private func run(_ queue: OperationQueue) {
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test(arguments: [false, true]) func `many run in the order they were added`(_ atOnce: Bool) {
    let queue = suspendedQueue()
    let journal = Journal()
    let operations = (0..<100).map { noting("\($0)", in: journal) }
    if atOnce {
      queue.addOperations(operations, waitUntilFinished: false)
    } else {
      for operation in operations { queue.addOperation(operation) }
    }
    #expect(queue.operations == operations && queue.operationCount == 100)
    run(queue)
    #expect(journal.all == operations.map { $0.description })
  }

  @Test func `arrays and single ones run in the order they were added`() {
    let queue = suspendedQueue()
    let journal = Journal()
    let operations = (0..<30).map { noting("\($0)", in: journal) }
    for start in stride(from: 0, to: 30, by: 6) {
      queue.addOperations(Array(operations[start..<start + 4]), waitUntilFinished: false)
      queue.addOperation(operations[start + 4])
      queue.addOperation(operations[start + 5])
    }
    #expect(queue.operations == operations)
    run(queue)
    #expect(journal.all == operations.map { $0.description })
  }

  @Test func `one that gets another priority goes where that says`() {
    let queue = suspendedQueue()
    let journal = Journal()
    let operations = (0..<6).map { noting("\($0)", in: journal) }
    queue.addOperations(operations, waitUntilFinished: false)
    operations[4].queuePriority = .high
    operations[1].queuePriority = .low
    for number in 6..<9 { queue.addOperation(noting("\(number)", in: journal)) }
    run(queue)
    #expect(journal.all == ["4", "0", "2", "3", "5", "6", "7", "8", "1"])
  }

  @Test func `one with a priority of its own goes where that says`() {
    let queue = suspendedQueue()
    let journal = Journal()
    for (name, priority) in [
      ("a", Operation.QueuePriority.normal), ("b", .normal), ("low", .veryLow), ("c", .normal),
      ("high", .veryHigh), ("d", .normal),
    ] {
      let operation = noting(name, in: journal)
      operation.queuePriority = priority
      queue.addOperation(operation)
    }
    run(queue)
    #expect(journal.all == ["high", "a", "b", "c", "d", "low"])
  }

  @Test func `a barrier waits for those that run`() throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 4
    let crowd = Crowd()
    let gate = Gate()
    for _ in 0..<2 {
      queue.addOperation {
        crowd.enter()
        gate.pass()
        crowd.leave()
      }
    }
    eventually("both run") { crowd.inside == 2 }
    queue.addBarrierBlock { #expect(crowd.inside == 0) }
    let barrier = try #require(queue.operations.last)
    #expect(!barrier.isReady && queue.operationCount == 3)
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func `one that is cancelled ends in its turn, without its work`() {
    let queue = suspendedQueue()
    let journal = Journal()
    let operations = (0..<5).map { noting("\($0)", in: journal) }
    for operation in operations {
      operation.completionBlock = { journal.note("end \(operation.description)") }
    }
    queue.addOperations(operations, waitUntilFinished: false)
    operations[3].cancel()
    #expect(queue.operationCount == 5 && operations[3].isReady && !operations[3].isFinished)
    run(queue)
    #expect(journal.all == ["0", "end 0", "1", "end 1", "2", "end 2", "end 3", "4", "end 4"])
  }

  @Test func `one that gets a dependency waits for it`() {
    let queue = suspendedQueue()
    let journal = Journal()
    let operations = (0..<5).map { noting("\($0)", in: journal) }
    queue.addOperations(operations, waitUntilFinished: false)
    operations[1].addDependency(operations[3])
    #expect(!operations[1].isReady && operations[2].isReady)
    run(queue)
    #expect(journal.all == ["0", "2", "3", "1", "4"])
  }

  @Test func `one that the scheduler knows can wait for one that it does not know`() {
    let queue = suspendedQueue()
    let journal = Journal()
    let operations = (0..<5).map { noting("\($0)", in: journal) }
    queue.addOperations(operations, waitUntilFinished: false)
    operations[0].addDependency(operations[4])
    run(queue)
    #expect(journal.all == ["1", "2", "3", "4", "0"])
  }

  @Test func `one of another queue waits for one behind many others`() {
    let queue = suspendedQueue()
    let other = OperationQueue()
    let journal = Journal()
    let operations = (0..<5).map { noting("\($0)", in: journal) }
    queue.addOperations(operations, waitUntilFinished: false)
    let dependent = noting("dependent", in: journal)
    dependent.addDependency(operations[2])
    let releasing = noting("released", in: journal)
    releasing.addDependency(operations[3])
    other.addOperations([dependent, releasing], waitUntilFinished: false)
    #expect(!dependent.isReady && !releasing.isReady)
    releasing.removeDependency(operations[3])
    other.addOperation {}
    releasing.waitUntilFinished()
    #expect(journal.all == ["released"])
    operations[3].addDependency(dependent)
    run(queue)
    other.waitUntilAllOperationsAreFinished()
    let order = journal.all
    #expect(order.count == 7)
    #expect(order.firstIndex(of: "2")! < order.firstIndex(of: "dependent")!)
    #expect(order.firstIndex(of: "dependent")! < order.firstIndex(of: "3")!)
  }

  @Test func `one that needs the success of one behind many others is cancelled with it`() {
    let queue = suspendedQueue()
    let other = OperationQueue()
    let journal = Journal()
    let operations = (0..<5).map { noting("\($0)", in: journal) }
    queue.addOperations(operations, waitUntilFinished: false)
    let dependents = [1, 2].map { number in
      let dependent = noting("after \(number)", in: journal)
      dependent.dependencyPolicy = .succeeded
      dependent.addDependency(operations[number])
      return dependent
    }
    other.addOperations(dependents, waitUntilFinished: false)
    operations[2].cancel()
    run(queue)
    other.waitUntilAllOperationsAreFinished()
    #expect(Set(journal.all) == ["0", "1", "after 1", "3", "4"])
    #expect(dependents.map(\.isCancelled) == [false, true])
    #expect(dependents[1].error as? OperationError == .dependencyFailed("2"))
  }

  @Test func `one that needs the success of one that runs is cancelled with it`() {
    let queue = OperationQueue()
    let journal = Journal()
    let gate = Gate()
    let running = BlockOperation { gate.pass() }
    running.name = "running"
    queue.addOperation(running)
    eventually("it runs") { running.isExecuting }
    let dependent = noting("dependent", in: journal)
    dependent.dependencyPolicy = .succeeded
    dependent.addDependency(running)
    queue.addOperation(dependent)
    #expect(!dependent.isReady)
    running.cancel()
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all.isEmpty && dependent.isCancelled)
    #expect(dependent.error as? OperationError == .dependencyFailed("running"))
  }

  @Test func `one that ends by itself is out of its queue`() {
    let queue = suspendedQueue()
    let operations = (0..<5).map { _ in AsyncOperation() }
    queue.addOperations(operations, waitUntilFinished: false)
    operations[3].finish()
    #expect(queue.operations == [0, 1, 2, 4].map { operations[$0] })
    for number in [0, 4, 2, 1] { operations[number].finish() }
    #expect(queue.operationCount == 0)
    queue.waitUntilAllOperationsAreFinished()
  }

  /// Does something while it is on its way into a queue.
  private final class Meddler: AsyncOperation, @unchecked Sendable {  // set before it is added
    var meddling: (@Sendable () -> Void)?

    override var queuePriority: QueuePriority {
      get {
        let action = meddling
        meddling = nil
        action?()
        return super.queuePriority
      }
      set { super.queuePriority = newValue }
    }

    override func main() { finish() }
  }

  @Test func `one that ends on its way into a queue is out of it`() {
    let queue = suspendedQueue()
    let journal = Journal()
    let early = AsyncOperation()
    let meddler = Meddler()
    meddler.meddling = { early.finish() }
    let after = noting("after", in: journal)
    after.addDependency(early)
    queue.addOperations(
      [noting("first", in: journal), early, meddler, after], waitUntilFinished: false)
    #expect(early.isFinished && queue.operationCount == 3)
    run(queue)
    #expect(journal.all == ["first", "after"])
  }

  @Test func `one that gets another priority on its way into a queue goes where that says`() {
    let queue = suspendedQueue()
    let journal = Journal()
    let operations = (0..<4).map { noting("\($0)", in: journal) }
    let meddler = Meddler()
    meddler.meddling = { operations[2].queuePriority = .veryHigh }
    queue.addOperations(operations + [meddler], waitUntilFinished: false)
    run(queue)
    #expect(journal.all == ["2", "0", "1", "3"])
  }

  @Test(arguments: 1...40) func `any mixture runs by priority, then in the order it was added`(
    _ seed: UInt64
  ) {
    var dice = Dice(seed)
    let queue = suspendedQueue()
    let journal = Journal()
    var operations: [BlockOperation] = []
    func make() -> BlockOperation {
      let operation = noting("\(operations.count)", in: journal)
      if dice.happens(oneIn: 16) { operation.queuePriority = .low }
      operations.append(operation)
      return operation
    }
    for _ in 0..<60 {
      switch Int.random(in: 0..<8, using: &dice) {
      case 0: queue.addOperations((0..<10).map { _ in make() }, waitUntilFinished: false)
      case 1 where seed % 2 == 0: operations.randomElement(using: &dice)?.queuePriority = .high
      default: queue.addOperation(make())
      }
    }
    #expect(queue.operations == operations)
    let expected = operations.enumerated().sorted {
      let (left, right) = ($0.element.queuePriority.rawValue, $1.element.queuePriority.rawValue)
      return left == right ? $0.offset < $1.offset : left > right
    }
    run(queue)
    #expect(journal.all == expected.map { "\($0.offset)" })
  }
}
