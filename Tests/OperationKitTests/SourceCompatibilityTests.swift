// A program written for Foundation's classes, with the import changed: where both modules are
// imported, by class.

import Foundation
import class OperationKit.BlockOperation
import class OperationKit.Operation
import class OperationKit.OperationQueue
import Testing

/// The usual base class of asynchronous operations; `state` and `error` are its own.
private class BaseOperation: Operation, @unchecked Sendable {
  enum State: String { case ready, executing, finished }
  private let lock = NSLock()
  private var _state = State.ready
  var error: (any Error)?

  var state: State {
    get { lock.withLock { _state } }
    set {
      willChangeValue(forKey: "isExecuting")
      willChangeValue(forKey: "isFinished")
      lock.withLock { _state = newValue }
      didChangeValue(forKey: "isExecuting")
      didChangeValue(forKey: "isFinished")
    }
  }

  override var isReady: Bool { super.isReady && state == .ready }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }
  override var isAsynchronous: Bool { true }

  override func start() {
    if isCancelled {
      state = .finished
      return
    }
    state = .executing
    main()
  }

  func finish() { state = .finished }
}

private final class Download: BaseOperation, @unchecked Sendable {
  private(set) var data: Data?

  override func main() {
    Thread.detachNewThread {
      self.data = Data("image".utf8)
      self.finish()
    }
  }

  override func cancel() {
    super.cancel()
    if isExecuting { finish() }
  }
}

private final class Resize: Operation, @unchecked Sendable {
  private(set) var size = 0

  override func main() {
    guard !isCancelled, let data = (dependencies.first as? Download)?.data else { return }
    size = data.count
  }
}

/// What subclasses may override.
private final class Overriding: Operation, @unchecked Sendable {
  private var block: (@Sendable () -> Void)?
  override var name: String? {
    get { "overridden" }
    set {}
  }
  override var completionBlock: (@Sendable () -> Void)? {
    get { super.completionBlock }
    set { super.completionBlock = newValue }
  }
  override func addDependency(_ operation: Operation) { super.addDependency(operation) }
  override func removeDependency(_ operation: Operation) { super.removeDependency(operation) }
  override func waitUntilFinished() { super.waitUntilFinished() }
}

@Suite struct SourceCompatibilityTests {
  @Test func `download then resize, as written for Foundation`() {
    let queue = OperationQueue()
    queue.name = "images"
    queue.qualityOfService = .default
    queue.maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
    let download = Download()
    let resize = Resize()
    resize.addDependency(download)
    resize.queuePriority = .high
    queue.addOperation(download)
    queue.addOperation(resize)
    queue.waitUntilAllOperationsAreFinished()
    #expect(resize.size == 5 && download.error == nil)
    #expect(queue.name == "images")
  }

  // The benchmark's programs for Foundation are compiled for OperationKit too, with this
  // difference.
  @Test(arguments: ["Jobs", "Trials"]) func `the same program needs another import, no more`(
    _ file: String
  ) throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let folder = root.appending(path: "Benchmarks/Operations/Sources/operations-benchmark")
    func program(_ module: String) throws -> [String] {
      try String(contentsOf: folder.appending(path: "\(module)\(file).swift"), encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        .filter { !$0.hasPrefix("//") }
        .map { $0 == "import \(module)" ? "import" : $0 }
        .map { $0 == "enum \(module)\(file) {" ? "enum" : $0 }
    }
    let (ours, theirs) = (try program("OperationKit"), try program("Foundation"))
    #expect(ours == theirs)
    #expect(ours.count > 60 && ours.contains("import") && ours.contains("enum"))
  }

  @Test func `overridden members are called`() {
    let operation = Overriding()
    let other = Operation()
    operation.addDependency(other)
    operation.removeDependency(other)
    #expect(operation.description == "overridden")
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    operation.waitUntilFinished()
    #expect(operation.isFinished)
  }

  @Test func `blocks are added in all the usual ways`() {
    let queue = OperationQueue()
    let count = NSLock()
    nonisolated(unsafe) var total = 0
    let add: @Sendable () -> Void = { count.withLock { total += 1 } }
    let operation = BlockOperation(block: add)
    operation.addExecutionBlock(add)
    operation.addExecutionBlock { add() }
    queue.addOperation(operation)
    queue.addOperation(add)
    queue.addOperation { add() }
    queue.addBarrierBlock(add)
    queue.waitUntilAllOperationsAreFinished()
    #expect(total == 6)
  }
}
