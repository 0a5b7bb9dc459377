// What may go wrong with Foundation's queues, tried. The file for OperationKit is the same but for
// its import. Each trial runs in a process of its own: it may hang or crash.

import Foundation

enum FoundationTrials {
  static let all: [String: @Sendable () -> String] = [
    "cycle": cycle, "completion": completion, "inversion": inversion, "blocking": blocking,
    "starvation": starvation, "recursion": recursion, "release": release, "storm": storm,
  ]

  /// Three that wait for each other.
  static func cycle() -> String {
    let queue = OperationQueue()
    let operations = ["a", "b", "c"].map { name in
      let operation = BlockOperation {}
      operation.name = name
      return operation
    }
    for index in 0..<3 { operations[index].addDependency(operations[(index + 1) % 3]) }
    queue.addOperations(operations, waitUntilFinished: false)
    sleepMilliseconds(500)
    return "\(queue.operationCount) of 3 still wait"
  }

  /// Dependents that start before the completion block of what they wait for has run.
  static func completion() -> String {
    let queue = OperationQueue()
    let early = Crowd()
    for _ in 0..<2000 {
      let hasRun = Crowd()
      let first = BlockOperation {}
      first.completionBlock = { hasRun.enter() }
      let second = BlockOperation { if hasRun.most == 0 { early.enter() } }
      second.addDependency(first)
      queue.addOperations([first, second], waitUntilFinished: true)
    }
    return "\(early.most) of 2000 dependents start first"
  }

  /// Of operations that are ready, those of normal priority that start between an urgent one's
  /// adding and its start.
  static func inversion() -> String {
    let widths = [2, OperationQueue.defaultMaxConcurrentOperationCount]
    let counts = widths.map { width in
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = width
      let started = Crowd()
      let before = Crowd()
      for _ in 0..<300 {
        queue.addOperation {
          started.enter()
          sleepMilliseconds(1)
        }
      }
      sleepMilliseconds(10)
      let urgent = BlockOperation { for _ in 0..<started.most { before.enter() } }
      urgent.queuePriority = .veryHigh
      let startedFirst = started.most
      queue.addOperation(urgent)
      queue.waitUntilAllOperationsAreFinished()
      return before.most - startedFirst
    }
    return "\(counts[0]) go first at width 2, \(counts[1]) at the default width"
  }

  /// Operations that block, in a queue as wide as they are many.
  static func blocking() -> String {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 300
    let crowd = Crowd()
    for _ in 0..<300 {
      queue.addOperation {
        crowd.enter()
        sleepMilliseconds(50)
        crowd.leave()
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    return "\(crowd.most) of 300 at once"
  }

  /// Operations of a busy queue that start before ten of another queue have ended.
  static func starvation() -> String {
    let (busy, other) = (OperationQueue(), OperationQueue())
    busy.maxConcurrentOperationCount = 300
    let started = Crowd()
    for _ in 0..<3000 {
      busy.addOperation {
        started.enter()
        sleepMilliseconds(5)
      }
    }
    sleepMilliseconds(50)
    let before = started.most
    other.addOperations((0..<10).map { _ in BlockOperation {} }, waitUntilFinished: true)
    let count = started.most - before
    busy.cancelAllOperations()
    busy.waitUntilAllOperationsAreFinished()
    return "\(count) of the busy queue start before ten of another have ended"
  }

  /// A chain of a million that has run; its last operation, kept by the caller, is let go.
  static func recursion() -> String {
    let queue = OperationQueue()
    var last: BlockOperation?
    for _ in 0..<1_000_000 {
      let operation = BlockOperation {}
      if let last { operation.addDependency(last) }
      queue.addOperation(operation)
      last = operation
    }
    queue.waitUntilAllOperationsAreFinished()
    last = nil
    return "runs and is released"
  }

  /// Operations alive after all have ended, of which the caller keeps the last.
  static func release() -> String {
    final class Leaf: Sendable {
      let crowd: Crowd
      init(_ crowd: Crowd) {
        self.crowd = crowd
        crowd.enter()
      }
      deinit { crowd.leave() }
      func work() {}
    }
    let crowd = Crowd()
    let queue = OperationQueue()
    var last: BlockOperation?
    for _ in 0..<1000 {
      let leaf = Leaf(crowd)
      let operation = BlockOperation { leaf.work() }
      if let last { operation.addDependency(last) }
      queue.addOperation(operation)
      last = operation
    }
    queue.waitUntilAllOperationsAreFinished()
    sleepMilliseconds(200)
    let kept = last?.dependencies.count ?? 0
    return "what \(crowd.inside) of 1000 hold is alive, the last still has \(kept) dependencies"
  }

  /// Eight threads cancel while others run and wait for each other.
  static func storm() -> String {
    let queue = OperationQueue()
    let operations = (0..<100_000).map { _ in BlockOperation {} }
    for index in operations.indices where index % 3 == 0 && index > 10 {
      operations[index].addDependency(operations[index - 7])
    }
    queue.addOperations(operations, waitUntilFinished: false)
    inParallel(8) { for operation in operations.reversed() { operation.cancel() } }
    queue.waitUntilAllOperationsAreFinished()
    let count = operations.count { $0.isFinished }
    return "\(count) of 100000 have finished"
  }
}
