// Dependencies: order, queues, cancellation, policies, completion blocks, memory.

import Dispatch
import Glibc
import OperationKit
import Synchronization
import Testing

@Suite(.serialized) struct DependencyTests {
  // Required: resizing waits for downloading, in whatever order they are added.
  @Test(arguments: [true, false]) func `a dependent starts after what it waits for`(_ inOrder: Bool)
  {
    let queue = OperationQueue()
    let journal = Journal()
    let download = noting("download", in: journal)
    let resize = noting("resize", in: journal)
    resize.addDependency(download)
    queue.addOperations(
      inOrder ? [download, resize] : [resize, download], waitUntilFinished: true)
    #expect(journal.all == ["download", "resize"])
  }

  // Required: q1 runs op1, op2, op3; q2 runs op4, op5; op3 waits for op1, op2 and op4.
  @Test func `dependencies cross queues`() {
    let (q1, q2) = (OperationQueue(), OperationQueue())
    let journal = Journal()
    let operations = (1...5).map { noting("op\($0)", in: journal) }
    for index in [0, 1, 3] { operations[2].addDependency(operations[index]) }
    for index in 0..<3 { q1.addOperation(operations[index]) }
    for index in 3..<5 { q2.addOperation(operations[index]) }
    q1.waitUntilAllOperationsAreFinished()
    q2.waitUntilAllOperationsAreFinished()
    let order = journal.all.filter { $0 != "op5" }
    #expect(order.last == "op3" && Set(order).count == 4)
  }

  // Required: two images are downloaded, then combined, then shown on the main queue.
  @Test @MainActor func `two downloads are combined into one image and shown`() async {
    let queue = OperationQueue()
    let images = Locked<[String: String]>([:])
    let first = BlockOperation { images.withLock { $0["left"] = "<" } }
    let second = BlockOperation { images.withLock { $0["right"] = ">" } }
    let shown: String = await withCheckedContinuation { continuation in
      let combine = BlockOperation {
        let image = images.withLock { "\($0["left"] ?? "")\($0["right"] ?? "")" }
        OperationQueue.main.addOperation { continuation.resume(returning: image) }
      }
      combine.addDependency(first)
      combine.addDependency(second)
      queue.addOperations([combine, second, first], waitUntilFinished: false)
    }
    #expect(shown == "<>")
  }

  @Test func `dependencies are listed once, in order, after the end those that somebody keeps`() {
    let queue = OperationQueue()
    let (a, c) = (Operation(), Operation())
    weak let b: Operation?
    do {
      let kept = Operation()
      b = kept
      for dependency in [a, kept, a] { c.addDependency(dependency) }
      #expect(c.dependencies == [a, kept] && !c.isReady && c.state == .waiting)
      queue.addOperations([a, kept, c], waitUntilFinished: true)
      queue.waitUntilAllOperationsAreFinished()
      #expect(c.dependencies == [a, kept])
    }
    eventually("it is released") { b == nil }
    #expect(c.dependencies == [a])
    c.removeDependency(a)
    #expect(c.dependencies.isEmpty)
  }

  // Required: a dependency can be removed again.
  @Test func `a removed dependency is not waited for, before and after adding`() {
    let queue = OperationQueue()
    let (never, one, other) = (Operation(), Operation(), Operation())
    one.addDependency(never)
    one.removeDependency(never)
    #expect(one.isReady && one.dependencies.isEmpty)
    other.addDependency(never)
    other.addDependency(never)
    queue.addOperations([one, other], waitUntilFinished: false)
    one.waitUntilFinished()
    #expect(!other.isFinished)
    other.removeDependency(never)
    other.waitUntilFinished()
    let held = serialQueue()
    held.isSuspended = true
    let (blocker, waiting) = (Operation(), Operation())
    waiting.addDependency(blocker)
    held.addOperation(blocker)
    queue.addOperation(waiting)
    waiting.removeDependency(blocker)
    waiting.waitUntilFinished()
    held.isSuspended = false
    held.waitUntilAllOperationsAreFinished()
  }

  @Test func `a dependency can be added in the queue until the operation starts`() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let journal = Journal()
    let (a, b) = (noting("a", in: journal), noting("b", in: journal))
    queue.addOperations([b, a], waitUntilFinished: false)
    b.addDependency(a)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["a", "b"])
  }

  @Test func `a dependency that is started by hand counts too`() {
    let queue = OperationQueue()
    let (byHand, dependent) = (Operation(), Operation())
    dependent.addDependency(byHand)
    queue.addOperation(dependent)
    #expect(!dependent.isReady && !dependent.isFinished)
    byHand.start()
    dependent.waitUntilFinished()
  }

  @Test func `dependencies work without queues`() {
    let (first, second) = (Operation(), Operation())
    second.addDependency(first)
    #expect(!second.isReady)
    first.start()
    #expect(second.isReady)
    second.start()
    #expect(second.isFinished)
  }

  // Required: cancelled in a queue, an operation ignores its dependencies and is out of the queue.
  @Test func `a cancelled operation ignores its unfinished dependencies`() {
    let queue = OperationQueue()
    let journal = Journal()
    let never = Operation()
    let operation = noting("main", in: journal)
    operation.addDependency(never)
    queue.addOperation(operation)
    operation.cancel()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished && journal.all.isEmpty)
  }

  // Required: being cancelled counts as finished, so dependents run.
  @Test func `a dependent of a cancelled operation runs`() {
    let queue = serialQueue()
    let journal = Journal()
    let (cancelled, dependent) = (
      noting("cancelled", in: journal), noting("dependent", in: journal)
    )
    dependent.addDependency(cancelled)
    cancelled.cancel()
    queue.addOperations([cancelled, dependent], waitUntilFinished: true)
    #expect(journal.all == ["dependent"])
  }

  @Test func `with the policy succeeded it is cancelled, and so is what waits for it`() {
    struct Broken: Error {}
    let queue = OperationQueue()
    let journal = Journal()
    let failing = BlockOperation { throw Broken() }
    failing.name = "failing"
    let dependents = ["a", "b", "c"].map { noting($0, in: journal) }
    for dependent in dependents { dependent.dependencyPolicy = .succeeded }
    dependents[0].addDependency(failing)
    dependents[1].addDependency(dependents[0])
    queue.addOperations([dependents[1], dependents[0], failing], waitUntilFinished: true)
    dependents[2].addDependency(failing)
    queue.addOperations([dependents[2]], waitUntilFinished: true)
    #expect(journal.all.isEmpty && dependents.allSatisfy { $0.isCancelled && $0.isFinished })
    #expect(dependents[0].error as? OperationError == .dependencyFailed("failing"))
    #expect(dependents[1].error as? OperationError == .dependencyFailed("a"))
    #expect(dependents[2].error as? OperationError == .dependencyFailed("failing"))
  }

  // The opposite of what Foundation nearly always does.
  @Test func `the completion block has run before a dependent starts`() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 4
    for _ in 0..<2000 {
      let hasRun = Atomic<Bool>(false)
      let first = AsyncFinishing()
      first.completionBlock = { hasRun.store(true, ordering: .releasing) }
      let second = BlockOperation {
        let hadRun = hasRun.load(ordering: .acquiring)
        #expect(hadRun)
      }
      second.addDependency(first)
      queue.addOperations([first, second], waitUntilFinished: true)
    }
  }

  /// Finishes from another thread.
  private final class AsyncFinishing: AsyncOperation, @unchecked Sendable {
    override func main() { DispatchQueue.global().async { self.finish() } }
  }

  @Test func `a queue that nobody keeps lives until its operations have ended`() {
    weak var weakQueue: OperationQueue?
    let (gate, done) = (Gate(), Gate())
    let first = BlockOperation { gate.pass() }
    let second = BlockOperation { done.open() }
    second.addDependency(first)
    do {
      let queue = serialQueue()
      weakQueue = queue
      queue.addOperations([second, first], waitUntilFinished: false)
    }
    #expect(weakQueue != nil)
    gate.open()
    done.pass()
    eventually("the queue is gone") { weakQueue == nil }
  }

  @Test func `finished operations and their graph are released`() {
    final class Leaf: Operation, @unchecked Sendable {
      static let alive = Atomic<Int>(0)
      static var count: Int { alive.load(ordering: .relaxed) }
      override init() { Leaf.alive.add(1, ordering: .relaxed) }
      deinit { Leaf.alive.subtract(1, ordering: .relaxed) }
    }
    let queue = OperationQueue()
    var last = Leaf()
    queue.addOperation(last)
    for _ in 0..<1000 {
      let next = Leaf()
      next.addDependency(last)
      next.completionBlock = { [next] in _ = next.isFinished }
      queue.addOperation(next)
      last = next
    }
    last.waitUntilFinished()
    queue.waitUntilAllOperationsAreFinished()
    eventually("only the last is alive") { Leaf.count == 1 }
    withExtendedLifetime(last) {}
  }

  /// Of these, recursion would take more than any thread's stack.
  @Test func `a chain of 200,000 runs and is released without recursion`() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let count = Atomic<Int>(0)
    var last: Operation?
    for _ in 0..<200_000 {
      let operation = BlockOperation { count.add(1, ordering: .relaxed) }
      if let last { operation.addDependency(last) }
      queue.addOperation(operation)
      last = operation
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    let total = count.load(ordering: .relaxed)
    #expect(total == 200_000)
  }

  @Test func `a chain of 300,000 that never ran is released without recursion`() {
    var last = Operation()
    for _ in 0..<300_000 {
      let operation = Operation()
      operation.addDependency(last)
      last = operation
    }
    #expect(!last.isReady)
  }
}
