// How an operation starts, is cancelled and ends. Each step is one change of the status word, so
// that a thread that comes second finds out.

import Synchronization

extension Operation {
  /// Does the work of ``start()``: the checks, the work, then `ending`. It does nothing if the
  /// operation has finished while its queue was about to start it, as one that ends itself in
  /// `cancel()` may.
  func begin(ending: () -> Void) {
    let bits = bits
    if bits.isSuperset(of: [.finished, .chosen]) { return }
    demand(!bits.contains(.finished), "start() of an operation that has finished: '\(self)'")
    demand(!bits.contains(.executing), "start() of an operation that is executing: '\(self)'")
    demand(
      !bits.contains(.queued) || bits.contains(.chosen),
      "start() of an operation that is in a queue: '\(self)'")
    if bits.contains(.cancelled) { return endUnstarted() }
    demand(
      bits.contains(.chosen) || isReady,
      "start() of an operation that is not ready, it waits for dependencies: '\(self)'")
    let old = set(.executing)
    demand(!old.contains(.executing), "start() of an operation that is executing: '\(self)'")
    if old.contains(.finished) { return }
    if old.contains(.isObserved) { tell(.executing) }
    if old.contains(.hasTerms) { runOnTerms() } else { main() }
    ending()
  }

  /// Makes the operation executing, if a queue has chosen it and nothing prevents its start.
  func beginsPlainly() -> Bool {
    var old = bits
    while old.isDisjoint(with: .hindersStart) {
      let (exchanged, original) = status.weakCompareExchange(
        expected: old.rawValue, desired: old.union([.executing, .chosen]).rawValue,
        ordering: .acquiringAndReleasing)
      if exchanged { return true }
      old = Status(rawValue: original)
    }
    return false
  }

  /// Does the work of ``cancel()``.
  func becomeCancelled() {
    var old = bits
    repeat {
      if !old.isDisjoint(with: [.finished, .cancelled]) { return }
      let (exchanged, original) = status.compareExchange(
        expected: old.rawValue, desired: old.union(.cancelled).rawValue,
        ordering: .acquiringAndReleasing)
      if exchanged { break }
      old = Status(rawValue: original)
    } while true
    if old.contains(.isObserved) { tell(.cancelled) }
    if old.contains(.hasCancelHandlers) { runCancelHandlers() }
    if old.contains(.queued) {
      Engine.shared.cancelled(self)
    } else if isSubclassed, !old.contains(.executing) {
      clear(.asked)
      askIfNothingIsLeft()
    }
  }

  /// Ends the operation, as far as ``start()`` can tell. A subclass that calls it from its own
  /// `start()` and continues afterwards indicates that by its own ``isFinished``.
  func finishUnlessDenied() {
    if isSubclassed {
      set(.ending)
      if !isFinished { return }
    }
    finish(onOwnThread: true)
  }

  /// Called when the work is done. The first call counts; it handles what follows, unless the queue
  /// that chose the operation has not returned from `start()`: then the queue does.
  func finish(onOwnThread: Bool) {
    let old = set(.finished)
    if !old.isDisjoint(with: [.finished, .chosen]) { return }
    if onOwnThread || !old.contains(.hasCompletion) {
      conclude()
      Engine.shared.retire(self)
    } else {
      Engine.shared.perform {
        self.conclude()
        Engine.shared.retire(self)
      }
    }
  }

  /// Handles what follows the end and comes before dependents: observers, the completion block.
  func conclude() {
    let bits = bits
    if bits.contains(.isObserved) { tell(.finished) }
    if bits.contains(.hasTerms) { stopClock() }
    guard bits.contains(.hasCompletion) else { return }
    if bits.contains(.hasWaiters) { releaseWaiters() }
    let block = withAttachments { attachments in
      defer { attachments.completionBlock = nil }
      return attachments.completionBlock
    }
    block?()
  }

  /// Releases everything that waits for the end.
  func releaseWaiters() {
    let waiters = withAttachments { attachments in
      defer { attachments.waiters = [] }
      return attachments.waiters
    }
    for waiter in waiters { waiter() }
  }

  /// Calls `action` once the operation has finished, or now if it has.
  func whenFinished(_ action: @escaping @Sendable () -> Void) {
    let isDone = withAttachments { attachments in
      if set(.hasWaiters).contains(.finished) { return true }
      attachments.waiters.append(action)
      return false
    }
    if isDone { action() }
  }

  /// Calls everything that continues when the end is complete.
  func releaseSuccessors() {
    let successors = withAttachments { attachments in
      defer { attachments.successors = [] }
      return attachments.successors
    }
    for successor in successors { successor() }
  }

  /// Calls `action` once the operation has finished, its completion block has run and its queue has
  /// forgotten it, or now if all that has happened.
  func whenRetired(_ action: @escaping @Sendable () -> Void) {
    let isDone = withAttachments { attachments in
      if set(.hasSuccessors).contains(.retired) { return true }
      attachments.successors.append(action)
      return false
    }
    if isDone { action() }
  }

  /// Calls `action` once the operation is cancelled, or now if it is.
  func whenCancelled(_ action: @escaping @Sendable () -> Void) {
    let isDone = withAttachments { attachments in
      if set(.hasCancelHandlers).contains(.cancelled) { return true }
      attachments.cancelHandlers.append(action)
      return false
    }
    if isDone { action() }
  }

  private func runCancelHandlers() {
    let handlers = withAttachments { attachments in
      defer { attachments.cancelHandlers = [] }
      return attachments.cancelHandlers
    }
    for handler in handlers { handler() }
  }
}

extension Operation {
  func wait() {
    if isFinished { return }
    let signal = Signal()
    whenFinished { signal.send() }
    Engine.shared.nap.disturb()
    signal.wait()
  }

  func setCompletionBlock(_ block: (@Sendable () -> Void)?) {
    if block != nil {
      demand(
        bits.isDisjoint(with: [.executing, .finished]),
        "the completion block of an operation that is executing or finished is set: '\(self)'")
      set(.hasCompletion)
    }
    let old = withAttachments { attachments in
      defer { attachments.completionBlock = block }
      return attachments.completionBlock
    }
    withExtendedLifetime(old) {}
  }
}

extension OperationProtocol {
  /// Suspends until the operation has finished.
  public func finished() async {
    await withCheckedContinuation { continuation in
      whenFinished { continuation.resume() }
      Engine.shared.nap.disturb()
    }
  }

  /// The same as ``finished()``, which is the newer name.
  public func completion() async { await finished() }

  /// The first error that was recorded, by ``fail(_:)`` or because a block threw it.
  public var error: (any Error)? { readAttachments { $0.error } ?? nil }

  /// Records an error; the first one is kept. It stops nothing, but dependents can react to it: see
  /// ``dependencyPolicy``.
  public func fail(_ error: any Error) {
    withAttachments { if $0.error == nil { $0.error = error } }
    set(.failed)
  }
}
