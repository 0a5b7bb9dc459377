// How operations leave the engine: dependents are told, the queue forgets them.

internal import Scheduling

/// What is left to do of an ending once the lock is free: nothing here may run under it, since
/// releasing an operation can run anybody's code.
struct Leftovers {
  var dependencies: [Operation] = []
  var queue: OperationQueue?
  var signals: [Signal] = []
  var doomed: [Operation] = []
  var readied: [Operation] = []

  func settle(_ operation: Operation) {
    if operation.has(.hasWaiters) { operation.releaseSuccessors() }
    for signal in signals { signal.send() }
    for other in readied { other.tell(.ready) }
    for other in doomed {
      other.fail(OperationError.dependencyFailed(operation.description))
      other.cancel()
    }
  }
}

extension Engine {
  /// The operation's completion block has run: dependents may go on.
  func retire(_ operation: Operation) {
    var leftovers = Leftovers()
    lock.lock()
    retire(operation, &leftovers)
    unlockAndWake()
    leftovers.settle(operation)
  }

  /// Under the lock.
  func retire(_ operation: Operation, _ leftovers: inout Leftovers) {
    let old = operation.set(.retired)
    crew.endedCount &+= 1
    swap(&leftovers.dependencies, &operation.awaited)
    if old.contains(.isObserved) { observedCount -= 1 }
    if old.isUnsuccessful { collectDoomed(by: operation, &leftovers) }
    let observed = observedCount > 0 ? observedDependents(of: operation) : []
    if operation.number >= 0 { takeOut(operation, &leftovers) }
    releaseWaiting(for: operation)
    for other in observed where isReady(other) { leftovers.readied.append(other) }
  }

  private func takeOut(_ operation: Operation, _ leftovers: inout Leftovers) {
    let id = OperationID(Int(operation.number))
    let lane = Int(operation.lane)
    scheduler.pointee.retire(id)
    giveBackPools(of: operation)
    operation.number = -1
    leave(id, lane, &leftovers)
  }

  private func leave(_ id: OperationID, _ lane: Int, _ leftovers: inout Leftovers) {
    let member = members[id.index]
    members[id.index].operation = nil
    if member.previous >= 0 {
      members[Int(member.previous)].next = member.next
    } else {
      lanes[lane].first = member.next
    }
    if member.next >= 0 {
      members[Int(member.next)].previous = member.previous
    } else {
      lanes[lane].last = member.previous
    }
    if lanes[lane].barrier == id.rawValue { lanes[lane].barrier = -1 }
    if let progress = lanes[lane].progress { progress.countOne() }
    lanes[lane].count -= 1
    lanes[lane].endedCount += 1
    if lanes[lane].count == 0 { becameEmpty(lane, &leftovers) }
  }

  private func becameEmpty(_ lane: Int, _ leftovers: inout Leftovers) {
    swap(&leftovers.signals, &lanes[lane].waiters)
    swap(&leftovers.queue, &lanes[lane].queue)
    if lanes[lane].isElastic { resetElasticity(of: lane) }
  }

  /// Queued operations that wait for one that was in no queue.
  private func releaseWaiting(for operation: Operation) {
    for dependent in operation.waiting where dependent.number >= 0 {
      scheduler.pointee.release(OperationID(Int(dependent.number)))
    }
    operation.waiting = []
  }

  /// Dependents that need success are kept from starting until they are cancelled.
  private func collectDoomed(by operation: Operation, _ leftovers: inout Leftovers) {
    for dependent in dependents(of: operation) where dependent.has(.needsSuccess) {
      let id = OperationID(Int(dependent.number))
      guard scheduler.pointee.isWaiting(id) else { continue }
      scheduler.pointee.hold(id)
      leftovers.doomed.append(dependent)
    }
  }

  private func observedDependents(of operation: Operation) -> [Operation] {
    dependents(of: operation).filter { $0.has(.isObserved) && !isReady($0) }
  }

  private func isReady(_ operation: Operation) -> Bool {
    operation.number >= 0
      && !scheduler.pointee.isWaiting(OperationID(Int(operation.number)))
  }

  /// Operations in queues that depend on it; linear.
  func dependents(of operation: Operation) -> [Operation] {
    if operation.number < 0 { return operation.waiting.filter { $0.number >= 0 } }
    return scheduler.pointee.graph.dependents(of: OperationID(Int(operation.number)))
      .filter { $0.condition == .ok }
      .compactMap { members[$0.to.index].operation }
  }
}
