// Operations made of operations: groups, attempts, and operations that are produced while one runs.

import Dispatch

/// Runs operations in its own queue and ends when all have ended. Its error is the first of theirs;
/// cancelling it cancels them.
open class GroupOperation: AsyncOperation, @unchecked Sendable {  // members are under a lock
  private struct Members {
    var unfinishedCount = 1
    var pending: [Operation] = []
    var hasStarted = false
  }

  /// The queue in which its operations run; its width can be set.
  public let queue = OperationQueue()
  private let members = Guarded(Members())

  /// Makes a group of operations that are in no queue yet.
  public init(_ operations: [Operation] = []) {
    super.init()
    whenCancelled { [queue, members] in
      for operation in members.withLock({ $0.pending }) { operation.cancel() }
      queue.cancelAllOperations()
    }
    for operation in operations { addOperation(operation) }
  }

  /// Adds an operation, before the group starts or, from one of its operations, while it runs.
  public func addOperation(_ operation: Operation) {
    demand(!isFinished, "an operation is added to a group that has finished: '\(self)'")
    operation.whenRetired { [weak self, weak operation] in self?.ended(operation) }
    let hasStarted = members.withLock {
      $0.unfinishedCount += 1
      if !$0.hasStarted { $0.pending.append(operation) }
      return $0.hasStarted
    }
    if isCancelled { operation.cancel() }
    if !hasStarted { return }
    queue.addOperation(operation)
    if isCancelled { operation.cancel() }
  }

  /// Starts the operations.
  open override func main() { begin() }

  /// Operations may wait for its own: they end, too.
  override func endUnstarted() { begin() }

  private func begin() {
    let operations: [Operation]? = members.withLock { members in
      if members.hasStarted { return nil }
      members.hasStarted = true
      defer { members.pending = [] }
      return members.pending
    }
    guard let operations else { return }
    if isCancelled { for operation in operations { operation.cancel() } }
    queue.addOperations(operations, waitUntilFinished: false)
    if isCancelled { for operation in operations { operation.cancel() } }
    ended(nil)
  }

  private func ended(_ operation: Operation?) {
    if let error = operation?.error { fail(error) }
    let isLast = members.withLock {
      $0.unfinishedCount -= 1
      return $0.unfinishedCount == 0
    }
    if isLast { finish() }
  }
}

/// Tries an operation again until one attempt has no error and was not cancelled. Between two
/// attempts it keeps its slot.
public final class RetryOperation: AsyncOperation, @unchecked Sendable {  // a lock holds `phase`
  private enum Phase {
    case pausing
    case attempting(Operation?)
  }

  private let limit: Int
  private let delay: @Sendable (_ attempt: Int) -> Duration
  private let make: @Sendable (_ attempt: Int) -> Operation
  private let queue = OperationQueue()
  private let phase = Guarded(Phase.attempting(nil))

  /// Makes an operation that consists of attempts.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of attempts.
  ///   - delay: How long to wait after an attempt; the first one is number 1.
  ///   - make: Makes the operation for an attempt; the first one is number 1.
  public init(
    limit: Int, delay: @escaping @Sendable (_ attempt: Int) -> Duration = { _ in .zero },
    _ make: @escaping @Sendable (_ attempt: Int) -> Operation
  ) {
    demand(limit > 0, "there are \(limit) attempts, wanted: 1 or more")
    self.limit = limit
    self.delay = delay
    self.make = make
  }

  /// Makes the first attempt.
  public override func main() {
    whenCancelled { [weak self] in self?.stop() }
    begin(attempt: 1)
  }

  private func stop() {
    switch phase.withLock({ $0 }) {
    case .pausing: finish()
    case .attempting(let operation): operation?.cancel()
    }
  }

  private func begin(attempt number: Int) {
    phase.withLock { $0 = .attempting(nil) }
    if isCancelled { return finish() }
    let operation = make(number)
    phase.withLock { $0 = .attempting(operation) }
    operation.whenRetired { [self, weak operation] in ended(number, operation) }
    queue.addOperation(operation)
    if isCancelled { operation.cancel() }
  }

  private func ended(_ number: Int, _ operation: Operation?) {
    if isCancelled { return finish(operation?.error) }
    let failure = operation?.failure
    guard failure != nil, number < limit else { return finish(failure) }
    let delay = delay(number)
    if delay <= .zero { return begin(attempt: number + 1) }
    phase.withLock { $0 = .pausing }
    DispatchQueue.global().asyncAfter(deadline: .now() + delay.dispatchInterval) {
      self.begin(attempt: number + 1)
    }
    if isCancelled { finish() }
  }
}

extension Operation {
  /// Why the operation is not a success; nil if it is one.
  fileprivate var failure: (any Error)? {
    error ?? (has(.cancelled) ? OperationError.cancelled : nil)
  }
}

extension OperationProtocol {
  /// Adds an operation to the queue that runs this one. Operations that wait for this one, or will
  /// when they are added to a queue, wait for that one, too.
  ///
  /// Call it while this operation executes in a queue.
  public func produce(_ operation: Operation) {
    guard let queue = OperationQueue.current, has(.queued), isExecuting else {
      // A mistake of the calling program, reported in release builds too.
      fatalError("an operation is produced by one that no queue executes: '\(self)'")
    }
    for dependent in Engine.shared.addProduct(operation, of: self) {
      dependent.addDependency(operation)
    }
    queue.addOperation(operation)
  }
}
