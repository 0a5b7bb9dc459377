// What queues request from the engine.

import Dispatch
internal import Scheduling

extension Engine {
  func setWidth(_ width: Int, of id: QueueID) {
    enter()
    queues[id.index].isElastic = width < 0
    scheduler.pointee.setWidth(width < 0 ? Elasticity.leastWidth : width, of: id)
    unlockAndWake()
  }

  func setSuspended(_ isSuspended: Bool, of id: QueueID) {
    enter()
    if isSuspended { scheduler.pointee.suspend(id) } else { scheduler.pointee.resume(id) }
    unlockAndWake()
  }

  func dispatchQueue(of id: QueueID) -> DispatchQueue? {
    locked { queues[id.index].dispatchQueue }
  }

  func setDispatchQueue(_ queue: DispatchQueue?, of id: QueueID) {
    locked {
      demand(queues[id.index].count == 0, "the underlying queue of a queue in use is set")
      queues[id.index].dispatchQueue = queue
    }
  }

  func operations(of id: QueueID) -> [Operation] {
    locked {
      var result = startedOperations(of: id.index)
      result.reserveCapacity(queues[id.index].count)
      var number = queues[id.index].first
      while number >= 0 {
        if let operation = members[Int(number)].operation { result.append(operation) }
        number = members[Int(number)].next
      }
      return result + queues[id.index].backlog.all
    }
  }

  func operationCount(of id: QueueID) -> Int { locked { queues[id.index].count } }

  func progress(of id: QueueID) -> Progress {
    locked {
      let progress = queues[id.index].progress ?? Progress()
      queues[id.index].progress = progress
      return progress
    }
  }

  func waitUntilEmpty(_ id: QueueID) {
    let signal = Signal()
    let isEmpty = locked {
      if queues[id.index].count == 0 { return true }
      queues[id.index].waiters.append(signal)
      return false
    }
    if isEmpty { return }
    nap.disturb()
    signal.wait()
  }

  func waitingOperations(for operation: Operation) -> [Operation] {
    locked { dependents(of: operation) }
  }

  /// Has the operation's changes reported from now on.
  func countObserved(_ operation: Operation) {
    locked {
      if !operation.set(.isObserved).isDisjoint(with: [.isObserved, .retired]) { return }
      observedCount += 1
    }
  }
}
