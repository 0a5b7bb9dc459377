// Operations that are not ready by themselves, or whose conditions are false: they give their slot back
// and are paused, as far as the scheduler is concerned, until they may run.

import Dispatch
internal import Scheduling

extension Engine {
  func mayRun(_ operation: Operation) -> Bool {
    if operation.has(.cancelled) { return true }
    if !operation.isReady { return false }
    guard operation.has(.hasTerms) else { return true }
    if operation.timeUntilNextQuestion != nil { return false }
    operation.checkRequirements()
    return true
  }

  /// Takes the operation's slot back until it is ready. True if it has finished in the meantime and
  /// the caller must retire it.
  func park(_ operation: Operation) -> Bool {
    enter()
    if operation.clear(.chosen).contains(.finished) {
      lock.unlock()
      operation.conclude()
      return true
    }
    scheduler.pointee.pause(OperationID(Int(operation.number)))
    unlockAndWake()
    askAgain(operation)
    return false
  }

  /// Starts a parked operation if it may start. If its predicates prevent that, they are evaluated
  /// again later; if it is not ready, it is asked when it announces a change.
  func askAgain(_ operation: Operation) {
    if !locked({ isParked(operation) }) { return }
    if !operation.has(.cancelled) {
      if !operation.isReady { return }
      if let delay = operation.timeUntilNextQuestion { return poll(operation, after: delay) }
    }
    enter()
    resume(operation)
    unlockAndWake()
  }

  private func poll(_ operation: Operation, after delay: Duration) {
    if operation.set(.isPolled).contains(.isPolled) { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + delay.dispatchInterval) {
      [weak operation] in
      guard let operation else { return }
      operation.clear(.isPolled)
      self.askAgain(operation)
    }
  }

  /// Must be called under the lock, like `resume`.
  private func isParked(_ operation: Operation) -> Bool {
    operation.number >= 0 && scheduler.pointee.isPaused(OperationID(Int(operation.number)))
  }

  /// Makes an operation ready if it is parked.
  func resume(_ operation: Operation) {
    if isParked(operation) { scheduler.pointee.resume(OperationID(Int(operation.number))) }
  }
}
