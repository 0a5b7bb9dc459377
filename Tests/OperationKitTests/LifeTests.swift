// States, start and main, cancellation, completion blocks: one operation, with and without a queue.

import Dispatch
import Glibc
import OperationKit
import Synchronization
import Testing

/// `main` counts its runs.
private final class Counting: Operation, @unchecked Sendable {
  let runs = Atomic<Int>(0)
  override func main() { runs.add(1, ordering: .relaxed) }
  var runCount: Int { runs.load(ordering: .relaxed) }
}

@Suite struct LifeTests {
  // Required: states begin with ready, if there is nothing to wait for.
  @Test func `a new operation is ready and nothing else`() {
    let operation = Operation()
    #expect(operation.isReady)
    #expect(!operation.isExecuting && !operation.isFinished && !operation.isCancelled)
    #expect(!operation.isAsynchronous && !operation.isConcurrent)
    #expect(operation.state == .ready)
  }

  // Required: start() runs main on the calling thread; without a queue nothing is asynchronous.
  @Test func `start runs main on the calling thread and finishes`() {
    let thread = pthread_self()
    let operation = BlockOperation { #expect(pthread_equal(pthread_self(), thread) != 0) }
    operation.start()
    #expect(operation.isFinished && !operation.isExecuting)
  }

  // Required: isExecuting while main runs, isFinished after it.
  @Test func `an operation is executing while main runs`() {
    let box = Locked<Operation?>(nil)
    let operation = BlockOperation {
      let operation = box.withLock { $0 }
      #expect(operation?.isExecuting == true)
      #expect(operation?.isFinished == false)
      #expect(operation?.state == .executing)
    }
    box.withLock { $0 = operation }
    operation.start()
    #expect(!operation.isExecuting)
    box.withLock { $0 = nil }
  }

  // Required: isCancelled == YES, isFinished == NO after cancel; start() then finishes without
  // main.
  @Test func `cancel before start leaves it unfinished until start, which skips main`() {
    let operation = Counting()
    operation.cancel()
    #expect(operation.isCancelled && !operation.isFinished && !operation.isExecuting)
    operation.start()
    #expect(operation.isFinished && operation.runCount == 0)
  }

  // Required: if the operation has finished, cancel has no effect.
  @Test func `cancel after the end does nothing`() {
    let operation = Counting()
    operation.start()
    operation.cancel()
    #expect(!operation.isCancelled)
  }

  // Required: cancel stops no code; main looks at isCancelled between its parts.
  @Test func `running code sees that it is cancelled`() {
    final class Looping: Operation, @unchecked Sendable {
      let started = Gate()
      override func main() {
        started.open()
        while !isCancelled { sched_yield() }
      }
    }
    let operation = Looping()
    let queue = OperationQueue()
    queue.addOperation(operation)
    operation.started.pass()
    operation.cancel()
    operation.waitUntilFinished()
    #expect(operation.isCancelled && operation.isFinished)
  }

  // Required: a completion block runs when the main work is done.
  @Test func `the completion block runs once, after the end, without a queue`() {
    let journal = Journal()
    let operation = noting("main", in: journal)
    operation.completionBlock = { [unowned operation] in
      journal.note("completion, finished: \(operation.isFinished)")
    }
    operation.start()
    #expect(journal.all == ["main", "completion, finished: true"])
    #expect(operation.completionBlock == nil)
  }

  @Test func `a cancelled operation runs its completion block`() {
    let journal = Journal()
    let operation = noting("main", in: journal)
    operation.completionBlock = { journal.note("completion") }
    operation.cancel()
    operation.start()
    #expect(journal.all == ["completion"])
  }

  // Required: a block operation manages several blocks, ends when all have; extra ones get threads.
  @Test func `blocks of one operation run at the same time`() {
    let crowd = Crowd()
    let gates = (0..<4).map { _ in Gate() }
    let operation = BlockOperation()
    for index in 0..<4 {
      operation.addExecutionBlock {
        crowd.enter()
        gates[index].open()
        for gate in gates { gate.pass() }
        crowd.leave()
      }
    }
    #expect(operation.executionBlocks.count == 4)
    operation.start()
    #expect(crowd.most == 4 && operation.isFinished)
  }

  @Test func `an operation is equal to itself only`() {
    let (one, other) = (Operation(), Operation())
    #expect(one == one && one != other && one.isEqual(one) && !one.isEqual(other))
    #expect(Set([one, other, one]).count == 2)
    #expect(one.hash == one.hash)
  }

  @Test func `a name is for people`() {
    let operation = Operation()
    #expect(operation.name == nil && operation.description == "Operation")
    operation.name = "resize"
    #expect(operation.name == "resize" && operation.description == "resize")
  }

  @Test func `an error that a block throws is kept, the first one`() {
    struct Broken: Error, Equatable { let number: Int }
    let operation = BlockOperation { throw Broken(number: 1) }
    operation.start()
    operation.fail(Broken(number: 2))
    #expect(operation.error as? Broken == Broken(number: 1))
    #expect(operation.isFinished && !operation.isCancelled)
  }

  // Required: the result of an invocation operation; of a cancelled one it is an error.
  @Test func `a result is what the closure returned, threw, or a cancelled error`() throws {
    struct Broken: Error {}
    let good = ResultOperation { 42 }
    good.start()
    #expect(try good.result == 42)
    let bad = ResultOperation<Int> { throw Broken() }
    bad.start()
    #expect(throws: Broken.self) { try bad.result }
    let cancelled = ResultOperation { 1 }
    cancelled.cancel()
    cancelled.start()
    #expect(throws: OperationError.cancelled) { try cancelled.result }
  }
}

// A trap stops the program with a message on standard error. Required: start of an operation that
// is not ready, executes or has finished, and a completion block for one that executes or has
// finished, are errors of the program.
@Suite struct TrapTests {
  private func message(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func `start of a finished operation traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = Operation()
      operation.start()
      operation.start()
    }
    #expect(message(result).contains("start() of an operation that has finished: 'Operation'"))
  }

  @Test func `start of an executing operation traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = AsyncOperation()
      operation.start()
      operation.start()
    }
    #expect(message(result).contains("start() of an operation that is executing"))
  }

  @Test func `start of an operation that is not ready traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = Operation()
      operation.addDependency(Operation())
      operation.start()
    }
    #expect(message(result).contains("is not ready, it waits for dependencies"))
  }

  @Test func `start of an operation in a queue traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = Operation()
      queue.addOperation(operation)
      operation.start()
    }
    #expect(message(result).contains("start() of an operation that is in a queue"))
  }

  @Test func `adding a block to a finished operation traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = BlockOperation {}
      operation.start()
      operation.addExecutionBlock {}
    }
    #expect(message(result).contains("a block is added to an operation that is executing or"))
  }

  @Test func `setting the completion block of a finished operation traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = Operation()
      operation.start()
      operation.completionBlock = {}
    }
    #expect(message(result).contains("the completion block of an operation that is executing"))
  }

  @Test func `adding a block to an executing operation traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = BlockOperation()
      operation.addExecutionBlock { [unowned operation] in operation.addExecutionBlock {} }
      operation.start()
    }
    #expect(message(result).contains("a block is added to an operation that is executing or"))
  }

  @Test func `setting the completion block of an executing operation traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = AsyncOperation()
      operation.start()
      operation.completionBlock = {}
    }
    #expect(message(result).contains("the completion block of an operation that is executing"))
  }

  @Test func `adding an operation twice traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = Operation()
      queue.addOperation(operation)
      queue.addOperation(operation)
    }
    #expect(message(result).contains("an operation is added that is in a queue"))
  }

  @Test func `a negative width traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      OperationQueue().maxConcurrentOperationCount = -2
    }
    #expect(message(result).contains("a queue is -2 wide, wanted: 0 or more, or -1"))
  }
}
