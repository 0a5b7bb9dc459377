// Requests of queues to the engine.

import Dispatch
internal import Scheduling

extension Engine {
  func width(of id: QueueID) -> Int { locked { queues[id.index].width } }

  func setWidth(_ width: Int, of id: QueueID) {
    enter()
    queues[id.index].width = width
    scheduler.pointee.setWidth(width < 0 ? Elasticity.leastWidth : width, of: id)
    unlockAndWake()
  }

  func isSuspended(_ id: QueueID) -> Bool { locked { scheduler.pointee.isSuspended(id) } }

  func setSuspended(_ isSuspended: Bool, of id: QueueID) {
    enter()
    if isSuspended { scheduler.pointee.suspend(id) } else { scheduler.pointee.resume(id) }
    unlockAndWake()
  }

  func dispatchQueue(of id: QueueID) -> DispatchQueue? {
    locked { queues[id.index].dispatchQueue }
  }

  func setDispatchQueue(_ queue: DispatchQueue?, of id: QueueID) {
    let old = locked {
      demand(queues[id.index].count == 0, "the underlying queue of a queue in use is set")
      defer { queues[id.index].dispatchQueue = queue }
      return queues[id.index].dispatchQueue
    }
    withExtendedLifetime(old) {}
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

  /// Makes the dependents of an operation, present and future, wait for its product, too. Returns
  /// those that are in queues now.
  func addProduct(_ product: Operation, of operation: Operation) -> [Operation] {
    locked {
      operation.makeTies().addProduct(product)
      return dependents(of: operation)
    }
  }

  /// Makes the operation's changes be reported from now on.
  func countObserved(_ operation: Operation) {
    locked {
      if !operation.set(.isObserved).isDisjoint(with: [.isObserved, .retired]) { return }
      operation.withAttachments { $0.isCounted = true }
    }
  }
}
