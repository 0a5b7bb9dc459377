// Groups, attempts, products, batches and barriers when something ends early.

import Glibc
@testable import OperationKit
import Testing

private struct Broken: Error {}

private final class Producing: Operation, @unchecked Sendable {
  let product: Operation
  init(_ product: Operation) { self.product = product }
  override func main() { produce(product) }
}

@Suite struct CompositeTests {
  @Test func `a barrier waits for what was added before, though an earlier one is cancelled`() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 8
    let journal = Journal()
    let (started, gate, passed) = (Gate(), Gate(), Gate())
    let first = BlockOperation {
      started.open()
      gate.pass()
      journal.note("first")
    }
    first.queuePriority = .high
    queue.addOperation(first)
    started.pass()
    queue.addBarrierBlock { journal.note("cancelled") }
    let barrier = queue.operations.last
    queue.addOperation { journal.note("between") }
    queue.addBarrierBlock { journal.note("second") }
    barrier?.cancel()
    OperationQueue().addOperation { passed.open() }
    passed.pass()
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["first", "between", "second"])
  }

  @Test func `a group that is cancelled before it starts ends its operations`() {
    let (queue, other) = (OperationQueue(), OperationQueue())
    let member = BlockOperation {}
    let group = GroupOperation([member])
    let after = BlockOperation {}
    after.addDependency(member)
    other.addOperation(after)
    group.cancel()
    #expect(member.isCancelled)
    queue.addOperations([group], waitUntilFinished: true)
    #expect(member.isFinished)
    eventually("what waits for the member has run") { after.isFinished }
  }

  @Test func `a group that is cancelled by its policy ends its operations`() {
    let (queue, other) = (OperationQueue(), OperationQueue())
    let failing = BlockOperation { throw Broken() }
    let member = BlockOperation {}
    let group = GroupOperation([member])
    group.dependencyPolicy = .succeeded
    group.addDependency(failing)
    let after = BlockOperation {}
    after.addDependency(member)
    other.addOperation(after)
    queue.addOperations([failing, group], waitUntilFinished: true)
    #expect(group.isCancelled && member.isCancelled && member.isFinished)
    eventually("what waits for the member has run") { after.isFinished }
  }

  @Test func `what is added late to a cancelled group is cancelled`() {
    let queue = OperationQueue()
    let (started, gate) = (Gate(), Gate())
    let late = BlockOperation {}
    let group = GroupOperation()
    group.addOperation(
      BlockOperation { [unowned group] in
        started.open()
        gate.pass()
        group.addOperation(late)
      })
    queue.addOperation(group)
    started.pass()
    group.cancel()
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(late.isCancelled && late.isFinished)
  }

  @Test func `what is added after the producer waits for the product`() {
    let (queue, other) = (OperationQueue(), OperationQueue())
    let journal = Journal()
    let gate = Gate()
    let product = BlockOperation {
      gate.pass()
      journal.note("product")
    }
    let producing = Producing(product)
    let after = noting("after", in: journal)
    after.addDependency(producing)
    queue.addOperations([producing], waitUntilFinished: true)
    other.addOperation(after)
    other.isSuspended = true
    #expect(!after.isReady)
    other.isSuspended = false
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    other.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["product", "after"])
  }

  @Test func `what needs success fails with a product that failed before it was added`() {
    let queue = OperationQueue()
    let product = BlockOperation { throw Broken() }
    let producing = Producing(product)
    let after = BlockOperation {}
    after.dependencyPolicy = .succeeded
    after.addDependency(producing)
    queue.addOperations([producing], waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
    queue.addOperations([after], waitUntilFinished: true)
    #expect(after.isCancelled && after.error is OperationError)
  }

  @Test func `cancelled between two attempts, it ends at once`() async {
    await #expect(processExitsWith: .success) {
      alarm(300)
      let queue = serialQueue()
      let asked = Gate()
      let retry = RetryOperation(
        limit: 2,
        delay: { _ in
          asked.open()
          return .seconds(3600)
        }
      ) { _ in BlockOperation { throw Broken() } }
      queue.addOperation(retry)
      asked.pass()
      retry.cancel()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test func `an attempt that was cancelled by itself is not a good one`() {
    let journal = Journal()
    let retry = RetryOperation(limit: 2) { attempt in
      let operation = noting("\(attempt)", in: journal)
      if attempt == 1 { operation.cancel() }
      return operation
    }
    OperationQueue().addOperations([retry], waitUntilFinished: true)
    #expect(journal.all == ["2"] && retry.error == nil)
  }

  @Test func `observers hear of cancellation though the end comes first`() {
    let operation = AsyncOperation()
    let journal = Journal()
    operation.observeState { journal.note("\($0)") }
    operation.start()
    operation.set(.cancelled)
    operation.finish()
    operation.tell(.cancelled)
    #expect(journal.all == ["executing", "cancelled", "finished"])
  }

  @Test func `a batch that is never run is released`() {
    weak var kept: Operation?
    do {
      let operation = BlockOperation {}
      kept = operation
      _ = OperationBatch([operation], progress: { _, _ in })
    }
    #expect(kept == nil)
  }

  @Test func `an operation keeps none that waited for it and has ended`() {
    let queue = OperationQueue()
    let gate = BlockOperation {}
    weak var kept: Operation?
    do {
      let operation = BlockOperation {}
      operation.addDependency(gate)
      kept = operation
      queue.addOperation(operation)
      operation.cancel()
      operation.waitUntilFinished()
    }
    queue.waitUntilAllOperationsAreFinished()
    eventually("it is released") { kept == nil }
    withExtendedLifetime(gate) {}
  }

  @Test func `a time limit holds for a subclass with its own start`() {
    final class Starting: Operation, @unchecked Sendable {
      private let state = Locked(0)
      override var isExecuting: Bool { state.withLock { $0 == 1 } }
      override var isFinished: Bool { state.withLock { $0 == 2 } }
      override func start() { state.withLock { $0 = 1 } }

      override func cancel() {
        super.cancel()
        state.withLock { $0 = 2 }
        didChangeValue(forKey: "isFinished")
      }
    }
    let queue = OperationQueue()
    let operation = Starting()
    operation.timeout = .milliseconds(10)
    queue.addOperation(operation)
    eventually("its time is over") { operation.isFinished }
    #expect(operation.error as? OperationError == .timedOut(after: .milliseconds(10)))
    operation.cancel()
  }

  @Test func `many named dependencies end without a copy for each`() async {
    await #expect(processExitsWith: .success) {
      // Time of the processor: that of the clock is also that of others.
      var limit = rlimit(rlim_cur: 30, rlim_max: 30)
      setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
      let queue = OperationQueue()
      let last = BlockOperation {}
      for _ in 0..<60_000 {
        let operation = BlockOperation {}
        operation.name = "named"
        last.addDependency(operation)
      }
      queue.addOperations(last.dependencies, waitUntilFinished: false)
      queue.addOperations([last], waitUntilFinished: true)
    }
  }
}
