// Several operations as one: progress while they end, and one common end.

/// Runs operations together: reports how many have finished, and calls a closure after the last.
public final class OperationBatch: Sendable {
  /// The operations, in the order they were given.
  public let operations: [Operation]
  /// An operation that waits for all of them; others can depend on it.
  public let completion: Operation
  private let finishedCount = Guarded(0)

  /// Makes a batch of operations that are in no queue yet.
  ///
  /// - Parameters:
  ///   - operations: The operations to run.
  ///   - progress: Called once for each operation that has finished, one call after the other.
  ///   - completion: Called once, after the completion block of every operation; at once when an
  ///     empty batch is added to a queue.
  public init(
    _ operations: [Operation], progress: (@Sendable (_ finished: Int, _ total: Int) -> Void)? = nil,
    completion: (@Sendable ([Operation]) -> Void)? = nil
  ) {
    self.operations = operations
    self.completion = BlockOperation { completion?(operations) }
    for operation in operations {
      if let progress { countEnd(of: operation, progress) }
      self.completion.addDependency(operation)
    }
  }

  private func countEnd(
    of operation: Operation, _ progress: @escaping @Sendable (Int, Int) -> Void
  ) {
    let block = operation.completionBlock
    let total = operations.count
    operation.completionBlock = { [finishedCount] in
      block?()
      finishedCount.withLock {
        $0 += 1
        progress($0, total)
      }
    }
  }

  /// Cancels all operations that have not ended; the closures are still called.
  public func cancel() {
    for operation in operations { operation.cancel() }
  }
}

extension OperationQueue {
  /// Adds all operations of a batch, and its completion.
  public func addBatch(_ batch: OperationBatch) {
    addOperations(batch.operations, waitUntilFinished: false)
    addOperation(batch.completion)
  }

  /// Adds the operations of a sequence while there is room: at most `limit` wait or run at the same
  /// time. It returns when the last one was added, and blocks the calling thread until then; memory
  /// does not depend on the number of operations.
  public func addOperations(from operations: some Sequence<Operation>, keeping limit: Int) {
    demand(limit > 0, "a queue is fed with \(limit) at once, wanted: 1 or more")
    let room = Signal()
    for _ in 0..<limit { room.send() }
    for operation in operations {
      room.wait()
      operation.whenRetired { room.send() }
      addOperation(operation)
    }
  }

  /// Like ``addOperations(from:keeping:)-(Sequence<Operation>,_)``, for tasks: it suspends.
  public func addOperations<Operations: AsyncSequence>(
    from operations: Operations, keeping limit: Int
  ) async throws where Operations.Element: Operation {
    demand(limit > 0, "a queue is fed with \(limit) at once, wanted: 1 or more")
    let (room, places) = AsyncStream.makeStream(of: Void.self)
    for _ in 0..<limit { places.yield() }
    var vacancies = room.makeAsyncIterator()
    for try await operation in operations {
      guard await vacancies.next() != nil else { throw CancellationError() }
      operation.whenRetired { places.yield() }
      addOperation(operation)
    }
  }
}
