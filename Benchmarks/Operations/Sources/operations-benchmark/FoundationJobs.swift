// The jobs, done by Foundation. The file for OperationKit is the same but for its import.

import Foundation

enum FoundationJobs {
  static func independent(_ count: Int) {
    let queue = OperationQueue()
    for _ in 0..<count { queue.addOperation {} }
    queue.waitUntilAllOperationsAreFinished()
  }

  static func independentAtOnce(_ count: Int) {
    let queue = OperationQueue()
    queue.addOperations(
      (0..<count).map { _ in BlockOperation {} }, waitUntilFinished: false)
    queue.waitUntilAllOperationsAreFinished()
  }

  /// Chains of 5,000, one after the other; the caller keeps nothing. A longer one of Foundation's
  /// overflows the stack when its last operation is released.
  static func chains(_ count: Int) {
    let queue = OperationQueue()
    for _ in 0..<count / 5000 {
      var last: BlockOperation?
      for _ in 0..<5000 {
        let operation = BlockOperation {}
        if let last { operation.addDependency(last) }
        last = operation
        queue.addOperation(operation)
      }
      last = nil
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  /// The caller keeps all operations.
  static func keptChain(_ count: Int) {
    let queue = OperationQueue()
    var operations: [Operation] = []
    for _ in 0..<count {
      let operation = BlockOperation {}
      if let last = operations.last { operation.addDependency(last) }
      operations.append(operation)
      queue.addOperation(operation)
    }
    queue.waitUntilAllOperationsAreFinished()
    // Foundation's operations keep their dependencies: released in order, a long chain overflows
    // the stack.
    while var operation = operations.popLast() {
      while !isKnownUniquelyReferenced(&operation) { yieldProcessor() }
    }
  }

  static func graph(_ graph: RandomGraph) {
    let queue = OperationQueue()
    var operations: [Operation] = []
    operations.reserveCapacity(graph.count)
    for index in 0..<graph.count {
      let operation = BlockOperation {}
      for other in graph.dependencies(of: index) {
        operation.addDependency(operations[Int(other)])
      }
      operations.append(operation)
      queue.addOperation(operation)
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  static func producers(_ count: Int) {
    let queue = OperationQueue()
    inParallel(8) { for _ in 0..<count / 8 { queue.addOperation {} } }
    queue.waitUntilAllOperationsAreFinished()
  }

  /// Bytes for each operation that waits in a suspended queue, its closure included.
  static func memory(_ count: Int) -> Int {
    let queue = OperationQueue()
    queue.isSuspended = true
    let before = bytesInUse()
    for number in 0..<count { queue.addOperation { use(number) } }
    let bytes = (bytesInUse() - before) / count
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    return bytes
  }
}
