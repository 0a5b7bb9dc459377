// Queues: width, suspension, priorities, order, waiting, barriers, progress, current queues.

import Dispatch
import Glibc
import OperationKit
import Synchronization
import Testing

@Suite struct QueueTests {
  @Test func `a queue counts and lists what has not ended, in the order it was added`() {
    let queue = OperationQueue()
    let gate = Gate()
    let operations = (0..<3).map { _ in BlockOperation { gate.pass() } }
    for operation in operations { queue.addOperation(operation) }
    #expect(queue.operationCount == 3 && queue.operations == operations)
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.operationCount == 0 && queue.operations.isEmpty)
  }

  // Required: an operation is out of the queue once it has finished; nobody has to remove it.
  @Test func `an operation is out of the queue once it has finished`() {
    let queue = OperationQueue()
    for _ in 0..<200 {
      let operation = BlockOperation {}
      queue.addOperation(operation)
      operation.waitUntilFinished()
      eventually("the queue has forgotten it") { queue.operationCount == 0 }
    }
  }

  // Required: what is added to a queue runs on other threads.
  @Test func `operations of a queue run on threads of their own`() {
    let thread = pthread_self()
    let queue = OperationQueue()
    queue.addOperations(
      (0..<10).map { _ in BlockOperation { #expect(pthread_equal(pthread_self(), thread) == 0) } },
      waitUntilFinished: true)
  }

  // Required: "works with width 1 as a serial queue", in the order of adding.
  @Test func `a queue of width 1 runs one after the other in order`() {
    let queue = serialQueue()
    let journal = Journal()
    for number in 0..<1000 { queue.addOperation { journal.note("\(number)") } }
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == (0..<1000).map { "\($0)" })
  }

  // Required: at 0, nothing is executed.
  @Test func `a queue of width 0 starts nothing until it is wider`() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 0
    let journal = Journal()
    let operation = noting("ran", in: journal)
    queue.addOperation(operation)
    let other = OperationQueue()
    for _ in 0..<100 { other.addOperation {} }
    other.waitUntilAllOperationsAreFinished()
    #expect(journal.all.isEmpty && !operation.isExecuting && queue.operationCount == 1)
    queue.maxConcurrentOperationCount = 1
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["ran"])
  }

  // Required: at n, so many execute at once; an image downloader runs six.
  @Test(arguments: [2, 6, 300]) func `a queue of width n runs n that block, and no more`(
    _ width: Int
  ) {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = width
    let crowd = Crowd()
    let gate = Gate()
    for _ in 0..<width + 20 {
      queue.addOperation {
        crowd.enter()
        if crowd.most == width { gate.open() }
        gate.pass()
        crowd.leave()
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(crowd.most == width)
  }

  @Test func `the default width grows while operations block`() {
    let queue = OperationQueue()
    let crowd = Crowd()
    let gate = Gate()
    for _ in 0..<40 {
      queue.addOperation {
        crowd.enter()
        if crowd.most == 40 { gate.open() }
        gate.pass()
        crowd.leave()
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(crowd.most == 40)
  }

  @Test func `the width can be changed while operations run`() {
    let queue = serialQueue()
    let (first, second) = (Gate(), Gate())
    queue.addOperation {
      first.open()
      second.pass()
    }
    queue.addOperation { second.open() }
    first.pass()
    queue.maxConcurrentOperationCount = 2
    queue.waitUntilAllOperationsAreFinished()
  }

  // Required: suspended, nothing new starts; what runs goes on; it can be resumed.
  @Test func `a suspended queue starts nothing and lets go on what runs`() {
    let queue = serialQueue()
    let journal = Journal()
    let (started, gate) = (Gate(), Gate())
    let running = BlockOperation {
      started.open()
      gate.pass()
      journal.note("running")
    }
    queue.addOperation(running)
    queue.addOperation { journal.note("next") }
    started.pass()
    queue.isSuspended = true
    gate.open()
    running.waitUntilFinished()
    eventually("one is left") { queue.operationCount == 1 }
    #expect(journal.all == ["running"])
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["running", "next"])
  }

  // Required: cancelled in a suspended queue, an operation stays until the queue goes on and starts
  // it.
  @Test func `operations cancelled in a suspended queue finish when it goes on`() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let journal = Journal()
    let operations = [noting("a", in: journal), noting("b", in: journal)]
    queue.addOperations(operations, waitUntilFinished: false)
    queue.cancelAllOperations()
    #expect(operations.allSatisfy { $0.isCancelled && !$0.isFinished })
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.isCancelled && $0.isFinished && !$0.isExecuting })
    #expect(journal.all.isEmpty)
  }

  // Required: all operations of a queue are cancelled; those that run end by themselves.
  @Test func `all operations of a queue are cancelled, whatever they wait for`() {
    let queue = serialQueue()
    let (begun, end) = (Gate(), Gate())
    let journal = Journal()
    let running = BlockOperation()
    running.addExecutionBlock { [unowned running] in
      begun.open()
      end.pass()
      journal.note(running.isCancelled ? "told" : "not told")
    }
    let others = (0..<3).map { noting("\($0)", in: journal) }
    others[0].addDependency(Operation())
    queue.addOperations([running] + others, waitUntilFinished: false)
    begun.pass()
    queue.cancelAllOperations()
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["told"])
    #expect(others.allSatisfy { $0.isFinished && $0.isCancelled })
  }

  // Required: of ready operations the one of the highest priority executes first.
  @Test func `ready operations go by priority, then in the order they were added`() {
    let queue = serialQueue()
    queue.isSuspended = true
    let journal = Journal()
    let levels: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
    for round in 0..<3 {
      for level in levels {
        let operation = noting("\(level) \(round)", in: journal)
        operation.queuePriority = level
        queue.addOperation(operation)
      }
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == levels.reversed().flatMap { level in (0..<3).map { "\(level) \($0)" } })
  }

  // Required: priority is no substitute for dependencies.
  @Test func `priority never goes before readiness`() {
    let queue = serialQueue()
    queue.isSuspended = true
    let journal = Journal()
    let (low, high) = (noting("low", in: journal), noting("high", in: journal))
    low.queuePriority = .veryLow
    high.queuePriority = .veryHigh
    high.addDependency(low)
    queue.addOperations([high, low, noting("normal", in: journal)], waitUntilFinished: false)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["normal", "low", "high"])
  }

  @Test func `a priority can be changed until the operation starts`() {
    let queue = serialQueue()
    queue.isSuspended = true
    let journal = Journal()
    let operations = ["a", "b", "c"].map { noting($0, in: journal) }
    queue.addOperations(operations, waitUntilFinished: false)
    operations[2].queuePriority = .high
    operations[0].queuePriority = .low
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["c", "b", "a"])
  }

  @Test func `an urgent operation goes before a thousand that are ready`() {
    let queue = serialQueue()
    let journal = Journal()
    let (started, gate) = (Gate(), Gate())
    queue.addOperation {
      started.open()
      gate.pass()
    }
    started.pass()
    for _ in 0..<1000 { queue.addOperation { journal.note("normal") } }
    let urgent = noting("urgent", in: journal)
    urgent.queuePriority = .veryHigh
    queue.addOperation(urgent)
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all.first == "urgent")
  }

  @Test func `a busy queue does not starve another`() {
    let (busy, other) = (OperationQueue(), OperationQueue())
    let isOver = Atomic<Bool>(false)
    for _ in 0..<100_000 { busy.addOperation { _ = isOver.load(ordering: .relaxed) } }
    busy.addOperation {
      while !isOver.load(ordering: .relaxed) { sched_yield() }
    }
    other.addOperation { isOver.store(true, ordering: .relaxed) }
    other.waitUntilAllOperationsAreFinished()
    busy.waitUntilAllOperationsAreFinished()
  }

  @Test func `a barrier runs alone, after all before it and before all after it`() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 8
    let journal = Journal()
    let crowd = Crowd()
    for _ in 0..<50 {
      queue.addOperation {
        crowd.enter()
        journal.note("before")
        crowd.leave()
      }
    }
    queue.addBarrierBlock {
      crowd.enter()
      journal.note("barrier \(crowd.inside)")
      crowd.leave()
    }
    for _ in 0..<50 {
      queue.addOperation {
        crowd.enter()
        journal.note("after")
        crowd.leave()
      }
    }
    queue.addBarrierBlock { journal.note("end") }
    queue.waitUntilAllOperationsAreFinished()
    let before = Array(repeating: "before", count: 50)
    let after = Array(repeating: "after", count: 50)
    #expect(journal.all == before + ["barrier 1"] + after + ["end"])
  }

  @Test func `progress counts what ends once a total is set`() {
    let queue = OperationQueue()
    queue.addOperations([BlockOperation {}], waitUntilFinished: true)
    // A finished operation is counted a moment later: by then there must be no total.
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.isIndeterminate && queue.progress.completedUnitCount == 0)
    queue.progress.totalUnitCount = 4
    queue.addOperations(
      [BlockOperation {}, BlockOperation {}, BlockOperation {}], waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.completedUnitCount == 3 && queue.progress.fractionCompleted == 0.75)
    #expect(!queue.progress.isFinished)
    queue.addBarrierBlock {}
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.isFinished)
  }

  @Test func `the current queue is that of the running operation`() {
    let queue = OperationQueue()
    queue.addOperation { [unowned queue] in #expect(OperationQueue.current == queue) }
    let multiple = BlockOperation()
    for _ in 0..<3 {
      multiple.addExecutionBlock { [unowned queue] in #expect(OperationQueue.current == queue) }
    }
    queue.addOperations([multiple], waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func `the main queue is one, not suspended, one wide`() {
    #expect(OperationQueue.main === OperationQueue.main)
    #expect(!OperationQueue.main.isSuspended)
    #expect(OperationQueue.main.maxConcurrentOperationCount == 1)
    #expect(OperationQueue.main.underlyingQueue?.label == DispatchQueue.main.label)
  }

  // Required: an operation of the main queue runs on the main thread, as for updating what is
  // shown.
  @Test @MainActor func `operations of the main queue run on the main thread`() async {
    #expect(OperationQueue.current === OperationQueue.main)
    await withCheckedContinuation { continuation in
      OperationQueue.main.addOperation {
        dispatchPrecondition(condition: .onQueue(.main))
        #expect(OperationQueue.current === OperationQueue.main)
        continuation.resume()
      }
    }
  }

  @Test func `operations run on the underlying queue if there is one`() {
    let key = DispatchSpecificKey<Int>()
    let dispatchQueue = DispatchQueue(label: "underlying")
    dispatchQueue.setSpecific(key: key, value: 7)
    let queue = OperationQueue()
    queue.underlyingQueue = dispatchQueue
    queue.isSuspended = true
    for _ in 0..<10 {
      queue.addOperation {
        #expect(DispatchQueue.getSpecific(key: key) == 7)
        #expect(OperationQueue.current?.underlyingQueue === dispatchQueue)
      }
    }
    dispatchQueue.async { queue.isSuspended = false }
    dispatchQueue.sync {}
    queue.waitUntilAllOperationsAreFinished()
    queue.underlyingQueue = nil
    queue.addOperation { #expect(DispatchQueue.getSpecific(key: key) == nil) }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func `an operation that cancels its own queue does no harm`() {
    let queue = serialQueue()
    let journal = Journal()
    queue.addOperation { [unowned queue] in queue.cancelAllOperations() }
    queue.addOperation { journal.note("may run") }
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.operationCount == 0)
  }

  // Required: an error in one operation is its own business.
  @Test func `an error stops nothing`() {
    struct Broken: Error {}
    let queue = serialQueue()
    let journal = Journal()
    queue.addOperation { throw Broken() }
    queue.addOperation { journal.note("next") }
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["next"])
  }

  // Required: waiting for one operation, for several added together.
  @Test func `a wait for several returns when all have finished`() {
    let queue = OperationQueue()
    let operations = (0..<100).map { _ in BlockOperation { sched_yield() } }
    queue.addOperations(operations, waitUntilFinished: true)
    #expect(operations.allSatisfy { $0.isFinished })
  }
}
