// Subclasses written for Foundation: they keep their own state and announce changes.

import Dispatch
import Glibc
import OperationKit
import Synchronization
import Testing

/// Required: a concurrent operation with executing and finished of its own, on a thread of its own.
private final class Concurrent: Operation, @unchecked Sendable {
  private let state = Locked((executing: false, finished: false))
  let release = Gate()
  override var isConcurrent: Bool { true }
  override var isExecuting: Bool { state.withLock { $0.executing } }
  override var isFinished: Bool { state.withLock { $0.finished } }

  override func start() {
    if isCancelled {
      willChangeValue(forKey: "isFinished")
      state.withLock { $0.finished = true }
      didChangeValue(forKey: "isFinished")
      return
    }
    willChangeValue(forKey: "isExecuting")
    state.withLock { $0.executing = true }
    DispatchQueue.global().async { self.main() }
    didChangeValue(forKey: "isExecuting")
  }

  override func main() {
    release.pass()
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    state.withLock { $0 = (false, true) }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }
}

/// Required: one state for all; a lock held while changes are told; a timer does the work.
private final class TimerDriven: Operation, @unchecked Sendable {
  private enum Stage { case ready, executing, finished }
  private let lock = DispatchSemaphore(value: 1)
  private let stage = Locked(Stage.ready)
  override var isReady: Bool { super.isReady && stage.withLock { $0 == .ready } }
  override var isExecuting: Bool { stage.withLock { $0 == .executing } }
  override var isFinished: Bool { stage.withLock { $0 == .finished } }
  override var isAsynchronous: Bool { true }

  override func start() {
    change(to: .executing, key: "isExecuting")
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) {
      self.change(to: .finished, key: "isFinished")
    }
  }

  private func change(to new: Stage, key: String) {
    lock.wait()
    willChangeValue(forKey: key)
    stage.withLock { $0 = new }
    didChangeValue(forKey: key)
    lock.signal()
  }
}

/// An operation that becomes ready when it is told to.
private final class Readied: Operation, @unchecked Sendable {
  private let ready = Atomic<Bool>(false)
  let hasRun = Atomic<Bool>(false)
  override var isReady: Bool { super.isReady && ready.load(ordering: .acquiring) }
  var didRun: Bool { hasRun.load(ordering: .acquiring) }
  override func main() { hasRun.store(true, ordering: .releasing) }

  func becomeReady() {
    willChangeValue(forKey: "isReady")
    ready.store(true, ordering: .releasing)
    didChangeValue(forKey: "isReady")
  }
}

@Suite struct SubclassTests {
  @Test func `an asynchronous operation holds its slot until it says that it has finished`() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    let operations = (0..<4).map { _ in Concurrent() }
    queue.addOperations(operations, waitUntilFinished: false)
    eventually("two execute") { operations.count { $0.isExecuting } == 2 }
    #expect(operations.map { $0.isExecuting } == [true, true, false, false])
    operations[1].release.open()
    operations[1].waitUntilFinished()
    eventually("the next executes") { operations[2].isExecuting }
    for operation in operations { operation.release.open() }
    queue.waitUntilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.isFinished && !$0.isExecuting })
  }

  @Test func `it works without a queue too, and wakes dependents and waiters`() {
    let operation = Concurrent()
    let journal = Journal()
    operation.completionBlock = { journal.note("completion") }
    let dependent = noting("dependent", in: journal)
    dependent.addDependency(operation)
    let queue = OperationQueue()
    queue.addOperation(dependent)
    operation.start()
    #expect(operation.isExecuting)
    operation.release.open()
    operation.waitUntilFinished()
    dependent.waitUntilFinished()
    #expect(journal.all == ["completion", "dependent"])
  }

  @Test func `cancelled before it starts, it is started to find out and finishes`() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = Concurrent()
    queue.addOperation(operation)
    operation.cancel()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished && operation.isCancelled)
  }

  // Required: the timer-driven asynchronous operation.
  @Test func `a timer-driven operation finishes in a queue and by hand`() {
    let queue = serialQueue()
    let operations = (0..<3).map { _ in TimerDriven() }
    queue.addOperations(operations, waitUntilFinished: true)
    #expect(operations.allSatisfy { $0.isFinished })
    let byHand = TimerDriven()
    byHand.start()
    byHand.waitUntilFinished()
    #expect(byHand.isFinished)
  }

  // Required: start without an end; of ten in a queue two wide, two start and that is all.
  @Test func `an operation that never finishes holds its slot`() {
    final class Endless: Operation, @unchecked Sendable {
      let starts: Crowd
      private let isOver = Atomic<Bool>(false)
      init(_ starts: Crowd) { self.starts = starts }
      override var isFinished: Bool { isOver.load(ordering: .acquiring) }
      override func start() { starts.enter() }
      func end() {
        willChangeValue(forKey: "isFinished")
        isOver.store(true, ordering: .releasing)
        didChangeValue(forKey: "isFinished")
      }
    }
    let starts = Crowd()
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    let operations = (0..<10).map { _ in Endless(starts) }
    queue.addOperations(operations, waitUntilFinished: false)
    eventually("two have started") { starts.inside == 2 }
    let other = OperationQueue()
    for _ in 0..<100 { other.addOperation {} }
    other.waitUntilAllOperationsAreFinished()
    #expect(starts.inside == 2 && queue.operationCount == 10)
    for operation in operations { operation.end() }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func `an operation that is not ready by itself lets others go first`() {
    let queue = serialQueue()
    let operation = Readied()
    let other = Operation()
    queue.addOperations([operation, other], waitUntilFinished: false)
    other.waitUntilFinished()
    eventually("it alone is left") { queue.operations == [operation] }
    #expect(!operation.didRun)
    operation.becomeReady()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.didRun)
  }

  @Test func `an operation that is not ready by itself can be cancelled`() {
    let queue = serialQueue()
    let operation = Readied()
    queue.addOperation(operation)
    eventually("it was looked at") { !operation.isExecuting }
    operation.cancel()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished && !operation.didRun)
  }

  // Required: SDWebImage's operation ends itself in cancel.
  @Test func `an operation that finishes while it waits is taken out of the queue`() {
    final class Impatient: AsyncOperation, @unchecked Sendable {
      override func cancel() {
        super.cancel()
        finish()
      }
    }
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = Impatient()
    queue.addOperation(operation)
    operation.cancel()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished)
    queue.isSuspended = false
  }

  @Test func `finish counts once, from whatever thread`() {
    final class Racing: AsyncOperation, @unchecked Sendable {
      override func main() {
        for _ in 0..<4 { DispatchQueue.global().async { self.finish() } }
      }
    }
    let queue = OperationQueue()
    for _ in 0..<500 {
      let operation = Racing()
      let count = Atomic<Int>(0)
      operation.completionBlock = { count.add(1, ordering: .relaxed) }
      queue.addOperation(operation)
      queue.waitUntilAllOperationsAreFinished()
      let ends = count.load(ordering: .relaxed)
      #expect(ends == 1)
    }
  }

  @Test func `it can finish while its queue is about to start it`() {
    let queue = OperationQueue()
    for round in 0..<5000 {
      let operation = AsyncOperation()
      let count = Locked(0)
      operation.completionBlock = { count.withLock { $0 += 1 } }
      queue.addOperation(operation)
      for _ in 0..<round % 50 { sched_yield() }
      operation.finish()
      queue.waitUntilAllOperationsAreFinished()
      #expect(count.withLock { $0 } == 1)
    }
  }

  // Required: thread priority from 0.0 to 1.0, 0.5 by default; for main, not for the completion
  // block.
  @Test func `thread priority applies to main only`() {
    @Sendable func nice() -> Int32 { getpriority(.init(PRIO_PROCESS.rawValue), 0) }
    let normal = nice()
    let lowest: Int32 = 19
    let queue = OperationQueue()
    let operation = BlockOperation { #expect(nice() == min(lowest, normal + 10)) }
    #expect(operation.threadPriority == 0.5 && operation.qualityOfService == .default)
    operation.threadPriority = 0.25
    operation.completionBlock = { #expect(nice() == normal) }
    let after = BlockOperation { #expect(nice() == normal) }
    after.addDependency(operation)
    queue.addOperations([operation, after], waitUntilFinished: true)
    let background = BlockOperation { #expect(nice() > normal || normal == lowest) }
    background.qualityOfService = .background
    background.start()
    #expect(nice() == normal)
  }
}
