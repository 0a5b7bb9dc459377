// Async blocks, results, states as a stream, task cancellation, conditions, groups, retries,
// produced operations, time limits, batches, feeding.

import Dispatch
import Glibc
import OperationKit
import Synchronization
import Testing

@Suite struct ModernTests {
  private struct Broken: Error {}

  @Test func `an async block holds its slot until it returns`() async {
    let queue = serialQueue()
    let journal = Journal()
    queue.addOperation {
      journal.note("begin")
      await Task.yield()
      try await Task.sleep(for: .milliseconds(10))
      journal.note("end")
    }
    let last = noting("next", in: journal)
    queue.addOperation(last)
    await last.finished()
    #expect(journal.all == ["begin", "end", "next"])
  }

  @Test func `an error of an async block is kept`() async {
    let queue = OperationQueue()
    let operation = queue.addOperation {
      await Task.yield()
      throw Broken()
    }
    await operation.finished()
    #expect(operation.error is Broken)
  }

  @Test func `a result can be awaited`() async throws {
    let queue = OperationQueue()
    let operation = ResultOperation { 6 * 7 }
    queue.addOperation(operation)
    let value = try await operation.result()
    #expect(value == 42)
    let asynchronous = ResultOperation {
      await Task.yield()
      return "text"
    }
    queue.addOperation(asynchronous)
    #expect(try await asynchronous.result() == "text")
  }

  @Test func `cancelling the task that awaits cancels the operation`() async {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = ResultOperation { 1 }
    queue.addOperation(operation)
    let task = Task { try await operation.result() }
    task.cancel()
    for await state in operation.states where state == .cancelled { break }
    queue.isSuspended = false
    await #expect(throws: OperationError.cancelled) { try await task.value }
    #expect(operation.isCancelled)
  }

  @Test func `cancelling the operation cancels its task`() async {
    let queue = OperationQueue()
    let operation = queue.addOperation { try await Task.sleep(for: .seconds(100)) }
    eventually("it executes") { operation.isExecuting }
    operation.cancel()
    await operation.finished()
    #expect(operation.error is CancellationError)
  }

  // Required: the states are ready, executing, finished, in this order.
  @Test func `states come in order, none lost, none twice`() async {
    let queue = OperationQueue()
    for _ in 0..<500 {
      let (first, second) = (Operation(), BlockOperation { sched_yield() })
      second.addDependency(first)
      let states = second.states
      queue.addOperations([second, first], waitUntilFinished: false)
      var seen: [Operation.State] = []
      for await state in states { seen.append(state) }
      #expect(seen == [.waiting, .ready, .executing, .finished])
    }
  }

  // Required: a cancelled operation also finishes.
  @Test func `states of a cancelled operation`() async {
    let operation = Operation()
    let states = operation.states
    operation.cancel()
    operation.start()
    var seen: [Operation.State] = []
    for await state in states { seen.append(state) }
    #expect(seen == [.ready, .cancelled, .finished])
    var late: [Operation.State] = []
    for await state in operation.states { late.append(state) }
    #expect(late == [.finished])
  }

  @Test func `cancelled while it executes, the change is told between`() async {
    let queue = OperationQueue()
    let (started, gate) = (Gate(), Gate())
    let operation = BlockOperation {
      started.open()
      gate.pass()
    }
    let states = operation.states
    queue.addOperation(operation)
    started.pass()
    for _ in 0..<3 { operation.cancel() }
    gate.open()
    var seen: [Operation.State] = []
    for await state in states { seen.append(state) }
    #expect(seen == [.ready, .executing, .cancelled, .finished])
  }

  @Test func `a state handler is told what comes after it was added`() {
    let journal = Journal()
    let operation = Operation()
    operation.observeState { journal.note("\($0)") }
    operation.start()
    #expect(journal.all == ["executing", "finished"])
  }

  @Test func `operations with one exclusive name never run at once, in whatever queues`() {
    let crowd = Crowd()
    let queues = (0..<3).map { _ in OperationQueue() }
    for queue in queues {
      queue.maxConcurrentOperationCount = 4
      for _ in 0..<100 {
        let operation = BlockOperation {
          crowd.enter()
          sched_yield()
          crowd.leave()
        }
        operation.addCondition(.exclusive("database"))
        queue.addOperation(operation)
      }
    }
    for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    #expect(crowd.most == 1)
  }

  @Test func `a readiness predicate is waited for without a slot`() {
    let queue = serialQueue()
    let isOpen = Atomic<Bool>(false)
    let journal = Journal()
    let conditional = noting("conditional", in: journal)
    conditional.addCondition(.when(every: .milliseconds(1)) { isOpen.load(ordering: .acquiring) })
    queue.addOperations([conditional, noting("other", in: journal)], waitUntilFinished: false)
    eventually("the other has run") { journal.all == ["other"] }
    isOpen.store(true, ordering: .releasing)
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["other", "conditional"])
  }

  @Test func `an operation whose requirement fails is cancelled with the error`() {
    let queue = OperationQueue()
    let journal = Journal()
    let operation = noting("main", in: journal)
    operation.addCondition(.require { throw Broken() })
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(operation.isCancelled && operation.error is Broken && journal.all.isEmpty)
  }

  @Test func `a time limit cancels`() {
    let queue = OperationQueue()
    let operation = queue.addOperation { try await Task.sleep(for: .seconds(100)) }
    let limited = AsyncOperation()
    limited.timeout = .milliseconds(10)
    limited.observeState { [unowned limited] in if $0 == .cancelled { limited.finish() } }
    queue.addOperation(limited)
    limited.waitUntilFinished()
    #expect(limited.error as? OperationError == .timedOut(after: .milliseconds(10)))
    operation.cancel()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func `a group ends after its operations, with their first error`() {
    let queue = OperationQueue()
    let journal = Journal()
    let failing = BlockOperation { throw Broken() }
    let group = GroupOperation([noting("a", in: journal), failing])
    let produced = BlockOperation { [unowned group] in
      group.addOperation(noting("added", in: journal))
    }
    produced.completionBlock = { journal.note("produced") }
    group.addOperation(produced)
    group.queue.maxConcurrentOperationCount = 1
    let after = noting("after", in: journal)
    after.addDependency(group)
    queue.addOperations([after, group], waitUntilFinished: true)
    #expect(journal.all == ["a", "produced", "added", "after"])
    #expect(group.error is Broken)
  }

  @Test func `cancelling a group cancels its operations`() {
    let queue = OperationQueue()
    let never = AsyncOperation()
    let started = Gate()
    let running = BlockOperation { started.open() }
    never.addDependency(Operation())
    let group = GroupOperation([running, never])
    queue.addOperation(group)
    started.pass()
    group.cancel()
    queue.waitUntilAllOperationsAreFinished()
    #expect(group.isFinished && never.isCancelled && never.isFinished)
    let empty = GroupOperation()
    queue.addOperations([empty], waitUntilFinished: true)
    #expect(empty.isFinished)
  }

  @Test func `attempts end with the first good one`() {
    let queue = OperationQueue()
    let journal = Journal()
    let retry = RetryOperation(limit: 5, delay: { .milliseconds($0) }) { attempt in
      BlockOperation {
        journal.note("\(attempt)")
        if attempt < 3 { throw Broken() }
      }
    }
    queue.addOperations([retry], waitUntilFinished: true)
    #expect(journal.all == ["1", "2", "3"] && retry.error == nil)
    let hopeless = RetryOperation(limit: 2) { _ in BlockOperation { throw Broken() } }
    queue.addOperations([hopeless], waitUntilFinished: true)
    #expect(hopeless.error is Broken)
  }

  @Test func `what waits for an operation waits for what that produces`() {
    final class Producing: Operation, @unchecked Sendable {
      let product: Operation
      init(_ product: Operation) { self.product = product }
      override func main() { produce(product) }
    }
    let queue = serialQueue()
    let journal = Journal()
    let producing = Producing(noting("product", in: journal))
    let after = noting("after", in: journal)
    after.addDependency(producing)
    queue.addOperations([producing, after], waitUntilFinished: true)
    #expect(journal.all == ["product", "after"])
  }
}

@Suite struct BatchTests {
  // Required: a batch tells how many have finished, then calls its completion, after theirs.
  @Test func `a batch tells its progress and its end`() {
    let queue = OperationQueue()
    let journal = Journal()
    let operations = (0..<5).map { _ in Operation() }
    for operation in operations { operation.completionBlock = { journal.note("own") } }
    let batch = OperationBatch(
      operations, progress: { journal.note("\($0) of \($1)") },
      completion: { journal.note("all \($0.count)") })
    queue.addBatch(batch)
    batch.completion.waitUntilFinished()
    let told = journal.all
    #expect(told.filter { $0.contains("of") } == (1...5).map { "\($0) of 5" })
    #expect(told.count { $0 == "own" } == 5 && told.last == "all 5" && told.count == 11)
  }

  // Required: a batch of nothing completes.
  @Test func `an empty batch completes at once`() {
    let queue = OperationQueue()
    let journal = Journal()
    let batch = OperationBatch([], completion: { journal.note("all \($0.count)") })
    queue.addBatch(batch)
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["all 0"])
  }

  @Test func `cancelled operations count in a batch`() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let journal = Journal()
    let batch = OperationBatch(
      (0..<3).map { _ in Operation() }, progress: { journal.note("\($0)/\($1)") },
      completion: { _ in journal.note("end") })
    queue.addBatch(batch)
    batch.cancel()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["1/3", "2/3", "3/3", "end"])
  }

  // Required: feeding huge numbers in batches, so that memory stays flat.
  @Test func `a sequence is fed with so many at once`() {
    let queue = OperationQueue()
    let alive = Crowd()
    let operations = (0..<5000).lazy.map { _ in
      alive.enter()
      return BlockOperation { alive.leave() } as Operation
    }
    queue.addOperations(from: operations, keeping: 20)
    queue.waitUntilAllOperationsAreFinished()
    #expect(alive.inside == 0 && alive.most <= 21)
  }

  @Test func `an asynchronous sequence is fed too`() async throws {
    let queue = OperationQueue()
    let count = Atomic<Int>(0)
    let stream = AsyncStream<BlockOperation> { continuation in
      for _ in 0..<1000 {
        continuation.yield(BlockOperation { count.add(1, ordering: .relaxed) })
      }
      continuation.finish()
    }
    try await queue.addOperations(from: stream, keeping: 10)
    let last = BlockOperation()
    queue.addBarrierBlock {}
    queue.addOperation(last)
    await last.finished()
    let total = count.load(ordering: .relaxed)
    #expect(total == 1000)
  }
}
