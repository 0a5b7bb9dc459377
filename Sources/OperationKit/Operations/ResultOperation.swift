// An operation that makes a value.

/// Runs a closure and keeps what it returned or threw.
open class ResultOperation<Value: Sendable>: AsyncOperation, @unchecked Sendable {
  // `outcome` is under a lock
  private enum Body: Sendable {
    case synchronous(@Sendable () throws -> Value)
    case asynchronous(@Sendable () async throws -> Value)
  }

  private let body: Body
  private let outcome = Guarded<Result<Value, any Error>?>(nil)

  /// Makes an operation of a closure.
  public init(_ body: @escaping @Sendable () throws -> Value) { self.body = .synchronous(body) }

  /// Makes an operation of an async closure. Cancelling the operation cancels its task.
  @_disfavoredOverload
  public init(_ body: @escaping @Sendable () async throws -> Value) {
    self.body = .asynchronous(body)
  }

  /// Runs the closure.
  open override func main() {
    switch body {
    case .synchronous(let body): end(Result { try body() })
    case .asynchronous(let body):
      let task = Task {
        do { end(.success(try await body())) } catch { end(.failure(error)) }
      }
      whenCancelled { task.cancel() }
    }
  }

  private func end(_ result: Result<Value, any Error>) {
    outcome.withLock { $0 = result }
    if case .failure(let error) = result { finish(error) } else { finish() }
  }

  /// The value that the closure returned; throws its error, or ``OperationError/cancelled`` if it
  /// did not run. Waits until the operation has finished.
  public var result: Value {
    get throws {
      waitUntilFinished()
      return try kept()
    }
  }

  /// Like ``result``, for tasks: it suspends. Cancelling the task cancels the operation.
  public func result(isolation: isolated (any Actor)? = #isolation) async throws -> Value {
    await withTaskCancellationHandler {
      await finished()
    } onCancel: {
      cancel()
    }
    return try kept()
  }

  private func kept() throws -> Value {
    if let outcome = outcome.withLock({ $0 }) { return try outcome.get() }
    throw error ?? OperationError.cancelled
  }
}
