// What swift-corelibs-foundation's tests of operation queues assert, in our own words and without
// their sleeps, unless other suites cover it: docs/operationkit/conformance.md has the whole list.

import Dispatch
import OperationKit
import Testing

@Suite struct FoundationAssertionTests {
  @Test func `operations added together to a running serial queue go by priority`() {
    let queue = serialQueue()
    let journal = Journal()
    let levels: [Operation.QueuePriority] = [.normal, .low, .veryHigh, .veryLow]
    let operations = levels.map { level in
      let operation = noting("\(level)", in: journal)
      operation.queuePriority = level
      return operation
    }
    queue.addOperations(operations, waitUntilFinished: true)
    #expect(journal.all == ["veryHigh", "normal", "low", "veryLow"])
  }

  @Test func `an operation in a queue is executing while its block runs, not before, not after`() {
    let queue = OperationQueue()
    let operation = BlockOperation()
    operation.addExecutionBlock { [unowned operation] in #expect(operation.isExecuting) }
    #expect(!operation.isExecuting)
    queue.addOperation(operation)
    queue.waitUntilAllOperationsAreFinished()
    #expect(!operation.isExecuting && operation.isFinished)
  }

  @Test func `one of five is cancelled, the others run`() {
    let queue = serialQueue()
    let journal = Journal()
    let begin = Gate()
    let first = BlockOperation {
      begin.pass()
      journal.note("0")
    }
    let operations = [first] + (1..<5).map { noting("\($0)", in: journal) }
    queue.addOperations(operations, waitUntilFinished: false)
    operations[2].cancel()
    begin.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["0", "1", "3", "4"])
  }

  @Test func `all operations of one priority are cancelled, the others run`() {
    let queue = serialQueue()
    let journal = Journal()
    let begin = Gate()
    let first = BlockOperation {
      begin.pass()
      journal.note("0")
    }
    let operations = [first] + (1..<5).map { noting("\($0)", in: journal) }
    operations[0].queuePriority = .high
    operations[1].queuePriority = .high
    queue.addOperations(operations, waitUntilFinished: false)
    for operation in operations where operation.queuePriority == .normal { operation.cancel() }
    begin.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["0", "1"])
  }

  @Test @MainActor func `on the main thread the current queue is the main queue`() {
    #expect(OperationQueue.current === OperationQueue.main)
    #expect(!OperationQueue.main.isSuspended)
  }

  @Test func `a suspended queue goes on when its own underlying queue lets it`() {
    let queue = serialQueue()
    let dispatchQueue = DispatchQueue(label: "underlying")
    queue.underlyingQueue = dispatchQueue
    queue.isSuspended = true
    let operation = BlockOperation {
      #expect(OperationQueue.current?.underlyingQueue === dispatchQueue)
    }
    queue.addOperation(operation)
    dispatchQueue.async { queue.isSuspended = false }
    operation.waitUntilFinished()
  }

  @Test func `an underlying queue can be taken back`() {
    let queue = OperationQueue()
    queue.underlyingQueue = DispatchQueue(label: "underlying")
    queue.underlyingQueue = nil
    #expect(queue.underlyingQueue == nil)
    let operation = BlockOperation { [unowned queue] in #expect(OperationQueue.current == queue) }
    queue.addOperations([operation], waitUntilFinished: true)
  }

  @Test func `what waits for an operation that was cancelled before it was added runs`() {
    let queue = serialQueue()
    let journal = Journal()
    let (first, second) = (noting("first", in: journal), noting("second", in: journal))
    second.addDependency(first)
    first.cancel()
    queue.addOperation(first)
    queue.addOperation(second)
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["second"])
  }

  @Test func `a queue is empty after the wait even if it waited for another queue`() {
    let (queue, other) = (OperationQueue(), OperationQueue())
    let begin = Gate()
    let first = BlockOperation { begin.pass() }
    let second = Operation()
    second.addDependency(first)
    queue.addOperation(first)
    other.addOperation(second)
    #expect(other.operationCount == 1)
    begin.open()
    other.waitUntilAllOperationsAreFinished()
    #expect(other.operationCount == 0 && second.isFinished)
  }

  @Test func `a queue is empty soon after its only operation was waited for`() {
    let queue = OperationQueue()
    let operation = Operation()
    queue.addOperation(operation)
    operation.waitUntilFinished()
    eventually("the queue is empty") { queue.operationCount == 0 }
  }

  @Test func `a queue that nobody keeps is released after its operations, one of them cancelled`() {
    weak var released: OperationQueue?
    let (begun, end) = (Gate(), Gate())
    let second = BlockOperation {
      begun.open()
      end.pass()
    }
    let first = Operation()
    first.addDependency(second)
    do {
      let queue = OperationQueue()
      released = queue
      queue.addOperation(first)
      queue.addOperation(second)
    }
    begun.pass()
    #expect(released != nil)
    second.cancel()
    end.open()
    first.waitUntilFinished()
    eventually("the queue is released") { released == nil }
  }

  // This is repeated, because use after the end is detected only sometimes.
  @Test func `of two operations one can wait for what the other does, with completions`() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    for _ in 0..<100 {
      let (one, other, completed) = (Gate(), Gate(), Gate())
      let first = BlockOperation {
        one.pass()
        other.pass()
      }
      first.completionBlock = { completed.open() }
      queue.addOperations([first, BlockOperation { one.open() }], waitUntilFinished: false)
      queue.addOperation { other.open() }
      completed.pass()
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func `the blocks of an operation are listed and all run`() {
    let journal = Journal()
    let operation = BlockOperation { journal.note("block") }
    operation.addExecutionBlock { journal.note("block") }
    #expect(operation.executionBlocks.count == 2)
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(journal.all == ["block", "block"])
  }
}
