import Dispatch
import OperationKit
import Synchronization

final class Timer: Operation, @unchecked Sendable {  // what changes is under a lock
  private let state = Mutex((executing: false, finished: false))

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { state.withLock { $0.executing } }
  override var isFinished: Bool { state.withLock { $0.finished } }

  override func start() {
    if isCancelled { return change(executing: false, finished: true) }
    change(executing: true, finished: false)
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) {
      self.change(executing: false, finished: true)
    }
  }

  private func change(executing: Bool, finished: Bool) {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    state.withLock { $0 = (executing, finished) }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }
}
