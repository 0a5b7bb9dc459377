// Operations whose work continues after `main` has returned.

/// An operation that ends when ``finish(_:)`` is called, from any thread.
///
/// Override ``Operation/main()`` to start the work. An operation that is cancelled before it starts
/// finishes by itself.
open class AsyncOperation: Operation, @unchecked Sendable {  // adds no mutable state
  /// Makes an operation that starts nothing.
  public override init() {}

  /// Always true.
  open override var isAsynchronous: Bool { true }

  /// Checks that the operation may start and calls ``Operation/main()``; the end is up to
  /// ``finish(_:)``.
  open override func start() { begin {} }

  /// Ends the operation, because the work is done or has failed. Only the first call counts.
  public func finish(_ error: (any Error)? = nil) {
    if let error, !isFinished { fail(error) }
    finish(onOwnThread: false)
  }
}

/// An operation made of an async closure. Cancelling the operation cancels its task.
public final class TaskOperation: AsyncOperation, @unchecked Sendable {
  // `body` is set once and never changes
  private let body: @Sendable () async throws -> Void

  /// Makes an operation of an async closure. An error that it throws is kept in
  /// ``Operation/error``.
  public init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

  /// Starts the task.
  public override func main() {
    let task = Task {
      do {
        try await body()
        finish()
      } catch { finish(error) }
    }
    whenCancelled { task.cancel() }
  }
}

extension OperationQueue {
  /// Adds an async block, which holds its slot until it returns. Cancelling the operation cancels
  /// its task.
  @discardableResult
  public func addOperation(
    _ block: @escaping @Sendable () async throws -> Void
  ) -> TaskOperation {
    let operation = TaskOperation(block)
    addOperation(operation as Operation)
    return operation
  }
}
