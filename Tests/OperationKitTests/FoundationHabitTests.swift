// What programs for Foundation's classes rely on beyond the documentation: what asks what, what is
// left after the end, what things are called. Each was first observed with Foundation.

import Dispatch
import OperationKit
import Synchronization
import Testing

/// Records how often it was asked whether it is ready, and was.
private final class Asked: Operation, @unchecked Sendable {
  private let count = Atomic<Int>(0)
  var yesCount: Int { count.load(ordering: .relaxed) }
  override var isReady: Bool {
    let isReady = super.isReady
    if isReady { count.add(1, ordering: .relaxed) }
    return isReady
  }
}

/// Records what is called.
private final class Instrumented: OperationQueue, @unchecked Sendable {
  let journal = Journal()
  override func addOperation(_ operation: Operation) {
    journal.note("operation")
    super.addOperation(operation)
  }
  override func addOperation(_ block: @escaping @Sendable () -> Void) {
    journal.note("block")
    super.addOperation(block)
  }
  override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    journal.note("operations")
    super.addOperations(operations, waitUntilFinished: wait)
  }
  override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    journal.note("barrier")
    super.addBarrierBlock(barrier)
  }
  override func cancelAllOperations() {
    journal.note("cancel")
    super.cancelAllOperations()
  }
  override class var main: OperationQueue { super.main }
  override class var current: OperationQueue? { super.current }
  override var hash: Int { 1 }
  override func isEqual(_ object: Any?) -> Bool { object is Instrumented }
  override var debugDescription: String { "instrumented" }
}

@Suite struct AskingTests {
  private let queue = OperationQueue()

  @Test func `an operation in no queue is asked once what it waits for has ended`() {
    let (first, second) = (Operation(), Operation())
    let operation = Asked()
    operation.addDependency(first)
    operation.addDependency(second)
    queue.addOperations([first], waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.yesCount == 0)
    queue.addOperations([second], waitUntilFinished: false)
    eventually("it is asked") { operation.yesCount > 0 }
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.yesCount == 1)
    operation.addDependency(second)
    #expect(operation.yesCount == 2, "it may have become ready again")
  }

  @Test func `it is asked when it is cancelled, and when the last dependency is taken away`() {
    let cancelled = Asked()
    cancelled.addDependency(Operation())
    cancelled.cancel()
    #expect(cancelled.yesCount == 1)
    let never = Operation()
    let freed = Asked()
    freed.addDependency(never)
    freed.removeDependency(never)
    #expect(freed.yesCount == 1)
  }

  @Test func `it is asked once though all it waits for end at the same time`() {
    for _ in 0..<200 {
      let dependencies = (0..<4).map { _ in Operation() }
      let operation = Asked()
      for dependency in dependencies { operation.addDependency(dependency) }
      queue.addOperations(dependencies, waitUntilFinished: false)
      eventually("it is asked") { operation.yesCount > 0 }
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.yesCount == 1)
    }
  }

  @Test func `nobody is kept alive to be asked`() {
    let dependency = Operation()
    weak let operation: Asked?
    do {
      let asked = Asked()
      asked.addDependency(dependency)
      operation = asked
    }
    #expect(operation == nil)
    queue.addOperations([dependency], waitUntilFinished: true)
  }
}

@Suite struct InstrumentedQueueTests {
  @Test func `blocks go through what is overridden for operations`() async {
    let queue = Instrumented()
    queue.addOperation {}
    queue.addOperation { throw CancellationError() }
    await queue.addOperation { try await Task.sleep(for: .nanoseconds(1)) }.finished()
    queue.addOperations([Operation()], waitUntilFinished: false)
    queue.addBarrierBlock {}
    queue.cancelAllOperations()
    let calls = [
      "block", "operation", "operation", "operation", "operations", "barrier", "cancel",
    ]
    #expect(queue.journal.all == calls)
    await withCheckedContinuation { done in queue.addBarrierBlock { done.resume() } }
  }

  @Test func `the rest can be overridden too`() {
    #expect(Instrumented.main === OperationQueue.main)
    #expect(
      Instrumented() == Instrumented() && Instrumented().hashValue == Instrumented().hashValue)
    #expect(String(reflecting: Instrumented()) == "instrumented")
    let queue = Instrumented()
    let current = Locked<OperationQueue?>(nil)
    queue.addOperation { current.withLock { $0 = Instrumented.current } }
    queue.waitUntilAllOperationsAreFinished()
    #expect(current.withLock { $0 === queue })
  }

  @Test func `changes are told by key paths of the class, too`() {
    final class Told: Operation, @unchecked Sendable {
      let keys = Journal()
      var state = 0
      override func didChangeValue(forKey key: String) { keys.note("told") }
      func change() {
        willChangeValue(for: \Operation.isFinished)
        didChangeValue(for: \Operation.isFinished)
        willChangeValue(for: \.isExecuting)
        didChangeValue(for: \.isExecuting)
        willChangeValue(for: \.state)
        didChangeValue(for: \.state)
      }
    }
    let operation = Told()
    operation.change()
    #expect(operation.keys.all == ["told", "told", "told"])
  }
}

@Suite struct AfterTheEndTests {
  @Test func `blocks are kept, and main runs them again`() {
    let journal = Journal()
    let operation = BlockOperation { journal.note("first") }
    operation.start()
    operation.main()
    #expect(journal.all == ["first", "first"] && operation.executionBlocks.count == 1)
    let several = BlockOperation {}
    several.addExecutionBlock { journal.note("other") }
    several.start()
    for block in several.executionBlocks { block() }
    #expect(journal.all.suffix(2) == ["other", "other"])
    let retrying = Retrying { journal.note("try") }
    retrying.start()
    #expect(journal.all.suffix(2) == ["try", "try"])
  }

  /// A subclass that tries its block again.
  private final class Retrying: BlockOperation, @unchecked Sendable {
    override func main() {
      super.main()
      super.main()
    }
  }

  @Test func `names are those of Foundation`() {
    let queue = OperationQueue()
    let address = "\(Unmanaged.passUnretained(queue).toOpaque())"
    #expect(queue.name == "NSOperationQueue \(address)")
    queue.name = "images"
    #expect(queue.name == "images" && queue.description == "images")
    queue.name = nil
    #expect(queue.name == "")
  }

  @Test func `the main queue stays as it is`() {
    let main = OperationQueue.main
    main.name = "mine"
    main.maxConcurrentOperationCount = 3
    main.isSuspended = true
    main.qualityOfService = .background
    main.underlyingQueue = nil
    #expect(
      main.name == "NSOperationQueue Main Queue"
        && main.underlyingQueue?.label == DispatchQueue.main.label)
    #expect(main.maxConcurrentOperationCount == 1 && !main.isSuspended)
    #expect(main.qualityOfService == .userInteractive)
  }
}

/// Calls `super.start()` although it need not, and continues until it is told that it is done.
private final class Calling: Operation, @unchecked Sendable {
  private let state = Locked((executing: false, finished: false))
  override var isExecuting: Bool { state.withLock { $0.executing } }
  override var isFinished: Bool { state.withLock { $0.finished } }
  override func start() {
    super.start()
    change(executing: true, finished: false)
  }
  func end() { change(executing: false, finished: true) }
  private func change(executing: Bool, finished: Bool) {
    willChangeValue(forKey: "isFinished")
    state.withLock { $0 = (executing, finished) }
    didChangeValue(forKey: "isFinished")
  }
}

@Suite struct CallingSuperTests {
  @Test(arguments: [false, true]) func `an operation that calls start of its superclass goes on`(
    _ isCancelled: Bool
  ) {
    let queue = serialQueue()
    let operation = Calling()
    let journal = Journal()
    operation.completionBlock = { journal.note("completion") }
    let next = noting("next", in: journal)
    if isCancelled { operation.cancel() }
    queue.addOperation(operation)
    queue.addOperation(next)
    eventually("it executes") { operation.isExecuting }
    #expect(queue.operations == [operation, next] && journal.all == [])
    operation.end()
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["completion", "next"])
  }
}
