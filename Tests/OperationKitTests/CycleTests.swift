// Operations that wait for each other: they are found and reported.

import OperationKit
import Testing

@Suite(.serialized) struct CycleTests {
  /// The messages of the cycles that the body closes. Those that are expected may come a moment later: a thread that
  /// takes over what was added reports them, or a search that had to wait.
  private func messages(expecting count: Int = 0, _ body: () -> Void) -> [String] {
    let messages = Locked<[String]>([])
    OperationQueue.cycleHandler = { cycle in
      messages.withLock { $0.append(OperationQueue.cycleMessage(cycle)) }
    }
    defer { OperationQueue.cycleHandler = nil }
    body()
    eventually("the cycles are told") { messages.withLock { $0.count >= count } }
    return messages.withLock { $0 }
  }

  // Required: operations that wait for each other never run, a mistake of the program.
  @Test func `a cycle is told with its path when its last operation is added`() {
    let (queue, other) = (OperationQueue(), OperationQueue())
    let journal = Journal()
    let names = ["a", "b", "c"]
    let operations = names.map { noting($0, in: journal) }
    for index in 0..<3 { operations[index].addDependency(operations[(index + 1) % 3]) }
    let messages = messages(expecting: 1) {
      queue.addOperation(operations[0])
      other.addOperation(operations[1])
      queue.addOperation(operations[2])
    }
    #expect(
      messages == [
        "operations wait for each other, none of them can start: 'c' → 'a' → 'b' → 'c'"
      ])
    // It can be broken: the cancelled one ends, the others run.
    operations[2].cancel()
    queue.waitUntilAllOperationsAreFinished()
    other.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["b", "a"])
  }

  @Test func `an operation that waits for itself is told`() {
    let queue = OperationQueue()
    let operation = Operation()
    operation.name = "self"
    operation.addDependency(operation)
    let messages = messages(expecting: 1) { queue.addOperation(operation) }
    #expect(messages == ["operations wait for each other, none of them can start: 'self' → 'self'"])
    operation.removeDependency(operation)
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func `a dependency that closes a cycle in a queue is told`() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let journal = Journal()
    let (a, b) = (noting("a", in: journal), noting("b", in: journal))
    b.addDependency(a)
    queue.addOperations([a, b], waitUntilFinished: false)
    let messages = messages(expecting: 1) { a.addDependency(b) }
    #expect(messages == ["operations wait for each other, none of them can start: 'a' → 'b' → 'a'"])
    b.removeDependency(a)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["b", "a"])
  }

  /// Each operation added takes a search through both chains, until the budget is used up.
  @Test func `a dependency of one behind many others that closes a cycle is told`() {
    let queue = serialQueue()
    queue.isSuspended = true
    let journal = Journal()
    let operations = (0..<4).map { noting("\($0)", in: journal) }
    queue.addOperations(operations, waitUntilFinished: false)
    let other = OperationQueue()
    let last = noting("last", in: journal)
    last.addDependency(operations[2])
    other.addOperation(last)
    let messages = messages(expecting: 1) { operations[2].addDependency(last) }
    #expect(
      messages == ["operations wait for each other, none of them can start: '2' → 'last' → '2'"])
    operations[2].cancel()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    other.waitUntilAllOperationsAreFinished()
    #expect(journal.all.filter { $0 != "last" } == ["0", "1", "3"] && journal.all.contains("last"))
  }

  @Test func `a cycle among too many to search at once is told a moment later`() {
    let length = 2000
    let chains = (0..<2).map { _ in
      let chain = (0..<length).map { _ in Operation() }
      for index in 1..<length { chain[index].addDependency(chain[index - 1]) }
      return chain
    }
    let between = (0..<200).map { _ in Operation() }
    let last = Operation()
    for operation in between {
      operation.addDependency(chains[0][length - 1])
      chains[1][0].addDependency(operation)
    }
    last.addDependency(chains[1][length - 1])
    chains[0][0].addDependency(last)
    let queue = OperationQueue()
    queue.isSuspended = true
    let count = Locked(0)
    OperationQueue.cycleHandler = { cycle in
      count.withLock { $0 = cycle.contains(last) ? cycle.count : -1 }
    }
    for operation in chains[0] + chains[1] + between + [last] { queue.addOperation(operation) }
    eventually("the cycle is told") { count.withLock { $0 != 0 } }
    OperationQueue.cycleHandler = nil
    #expect(count.withLock { $0 } == 2 * length + 2)
    queue.isSuspended = false
    last.cancel()
    queue.waitUntilAllOperationsAreFinished()
  }

  /// A search for each would take quadratic time.
  @Test func `a grid added in random order is added in linear time, without a message`() {
    let width = 100
    let queue = OperationQueue()
    queue.isSuspended = true
    let grid = (0..<width * width).map { _ in Operation() }
    for index in width..<grid.count {
      grid[index].addDependency(grid[index - width])
      grid[index].addDependency(grid[index - width + 1])
    }
    let messages = messages {
      for operation in grid.shuffled() { queue.addOperation(operation) }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
    #expect(messages.isEmpty && grid.allSatisfy { $0.isFinished })
  }

  @Test func `no cycle, no message, whatever the order of adding`() {
    let queue = OperationQueue()
    let messages = messages {
      let operations = (0..<2000).map { _ in Operation() }
      for index in 1..<2000 {
        operations[index].addDependency(operations[index / 2])
        operations[index].addDependency(operations[index - 1])
      }
      queue.addOperations(operations.shuffled(), waitUntilFinished: true)
    }
    #expect(messages.isEmpty)
  }
}
