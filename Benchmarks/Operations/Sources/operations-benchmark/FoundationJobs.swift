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

  static func chain(_ count: Int) {
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
    while operations.popLast() != nil {}
  }

  static func graph(_ graph: RandomGraph) {
    let queue = OperationQueue()
    var operations: [Operation] = []
    operations.reserveCapacity(graph.dependencies.count)
    for dependencies in graph.dependencies {
      let operation = BlockOperation {}
      for index in dependencies { operation.addDependency(operations[Int(index)]) }
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

  static func blocking(_ count: Int) -> Int {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = count
    let crowd = Crowd()
    for _ in 0..<count {
      queue.addOperation {
        crowd.enter()
        sleepMilliseconds(50)
        crowd.leave()
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    return crowd.most
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
