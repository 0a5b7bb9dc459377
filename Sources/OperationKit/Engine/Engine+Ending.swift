// How operations leave the engine: dependents are told, the queue forgets them.

internal import Scheduling
import Synchronization

/// The rest of an ending, done once the lock is released: nothing of it may run under the lock,
/// since releasing an operation can run user code.
struct Leftovers: ~Copyable {
  /// Parts that hardly any ending has.
  final class Rest {
    var signals: [Signal] = []
    var doomed: [Operation] = []
    var readied: [Operation] = []
    var progress: Progress?
    /// Operations that waited for one that has not ended, and have ended themselves.
    var forgotten: [Operation] = []
  }

  /// The engine's own reference to the operation that has ended.
  var reference: Unmanaged<Operation>?
  var dependencies = OperationList()
  var queue: OperationQueue?
  private(set) var rest: Rest?
  /// True if settling calls code of users.
  private(set) var callsOthers = false
  private var isSettled = false

  mutating func willCallOthers() { callsOthers = true }

  mutating func withRest(_ body: (Rest) -> Void) {
    let present = rest ?? Rest()
    rest = present
    body(present)
  }

  /// Settles an operation, at the first call.
  mutating func settle(_ operation: Operation) {
    if isSettled { return }
    isSettled = true
    let bits = operation.bits
    if bits.contains(.hasWaiters) { operation.releaseWaiters() }
    if bits.contains(.hasSuccessors) { operation.releaseSuccessors() }
    guard let rest else { return }
    rest.progress?.tell()
    for signal in rest.signals { signal.send() }
    for other in rest.readied { other.tell(.ready) }
    for other in rest.doomed {
      other.fail(OperationError.dependencyFailed(operation.description))
      other.cancel()
    }
  }
}

extension Engine {
  /// Called when the operation's completion block has run: dependents may continue.
  func retire(_ operation: Operation) { end(operation) { retire(operation, &$0) } }

  /// Removes an operation that had ended when it came into its queue.
  func expel(_ operation: Operation) {
    end(operation) {
      if operation.number >= 0 { takeOut(operation, operation.bits, &$0) }
    }
  }

  private func end(_ operation: Operation, _ body: (inout Leftovers) -> Void) {
    var leftovers = Leftovers()
    enter()
    body(&leftovers)
    unlockAndWake()
    leftovers.settle(operation)
    leftovers.reference?.release()
  }

  /// Must be called under the lock.
  func retire(_ operation: Operation, _ leftovers: inout Leftovers) {
    let old = operation.set(.retired)
    crew.endedCount &+= 1
    endedCount.store(crew.endedCount, ordering: .relaxed)
    if old.contains(.hasSuccessors) { leftovers.willCallOthers() }
    if !operation.awaited.isEmpty || !old.contains(.queued) {
      leftovers.dependencies = operation.withAwaited { $0.takeAll() }
      if !leftovers.dependencies.isEmpty { dismiss(operation, old, &leftovers) }
    }
    if old.contains(.isObserved) { operation.withAttachments { $0.isCounted = false } }
    if old.isUnsuccessful { collectDoomed(by: operation, &leftovers) }
    if observedCount.load(ordering: .relaxed) > 0 {
      retireWatched(operation, old, &leftovers)
    } else {
      free(operation, old, &leftovers)
    }
  }

  /// Releases the dependencies of an operation, some of which have not ended if it was cancelled or has ended itself.
  private func dismiss(_ operation: Operation, _ old: Status, _ leftovers: inout Leftovers) {
    if old.contains(.remembers) || operation.isDistinct {
      operation.makeTies().past = KnownOperations(leftovers.dependencies)
    }
    if old.contains(.executing), !old.contains(.cancelled) { return }
    var forgotten: [Operation] = []
    leftovers.dependencies.forEach {
      if let ties = $0.ties { forgotten += ties.noteEnd(of: operation) }
    }
    if !forgotten.isEmpty { leftovers.withRest { $0.forgotten += forgotten } }
  }

  /// Retires an operation whose observers may want to be told that dependents have become ready.
  private func retireWatched(_ operation: Operation, _ old: Status, _ leftovers: inout Leftovers) {
    let observed = observedDependents(of: operation)
    free(operation, old, &leftovers)
    for other in observed where isReady(other) {
      leftovers.withRest { $0.readied.append(other) }
      leftovers.willCallOthers()
    }
  }

  /// Frees the operation's entry, and releases those that wait for it.
  private func free(_ operation: Operation, _ old: Status, _ leftovers: inout Leftovers) {
    if operation.number >= 0 {
      takeOut(operation, old, &leftovers)
    } else if operation.number < -1 {
      takeOutPlain(operation, &leftovers)
    }
    if let ties = operation.ties { releaseWaiting(in: ties, &leftovers) }
  }

  private func takeOut(_ operation: Operation, _ old: Status, _ leftovers: inout Leftovers) {
    let id = OperationID(Int(operation.number))
    scheduler.pointee.retire(id)
    if old.contains(.hasTerms) { giveBackPools(of: operation) }
    operation.number = -1
    let member = members[id.index]
    members[id.index].reference = nil
    if member.previous >= 0 { members[Int(member.previous)].next = member.next }
    if member.next >= 0 { members[Int(member.next)].previous = member.previous }
    queues[Int(operation.queueNumber)].remove(id, member)
    leave(operation, &leftovers)
  }

  private func takeOutPlain(_ operation: Operation, _ leftovers: inout Leftovers) {
    started.remove(operation.number)
    operation.number = -1
    scheduler.pointee.finishCounted(in: QueueID(Int(operation.queueNumber)))
    leave(operation, &leftovers)
  }

  private func leave(_ operation: Operation, _ leftovers: inout Leftovers) {
    let queueNumber = Int(operation.queueNumber)
    leftovers.reference = .passUnretained(operation)
    queues[queueNumber].count -= 1
    queues[queueNumber].endedCount += 1
    if let progress = queues[queueNumber].progress, progress.countOne() {
      leftovers.withRest { $0.progress = progress }
    }
    if queues[queueNumber].count == 0 { becameEmpty(queueNumber, &leftovers) }
  }

  private func becameEmpty(_ queueNumber: Int, _ leftovers: inout Leftovers) {
    if !queues[queueNumber].waiters.isEmpty {
      leftovers.withRest { swap(&$0.signals, &queues[queueNumber].waiters) }
    }
    if let queue = queues[queueNumber].queue,
      queue.entrance.close(after: queues[queueNumber].postedCount)
    {
      leftovers.queue = queue
      queues[queueNumber].queue = nil
    }
    queues[queueNumber].isMixed = false
    if queues[queueNumber].isElastic { resetElasticity(of: queueNumber) }
  }

  /// Releases queued operations that wait for one that was in no queue.
  private func releaseWaiting(in ties: Ties, _ leftovers: inout Leftovers) {
    if ties.waiting.isEmpty { return }
    ties.takeWaiting().forEach { dependent in
      scheduler.pointee.release(OperationID(Int(dependent.number)))
    }
    if !ties.waiting.isEmpty {
      let forgotten = ties.waiting.remove { _ in true }
      leftovers.withRest { $0.forgotten += forgotten }
    }
  }

  /// Prevents dependents that need success from starting until they are cancelled.
  private func collectDoomed(by operation: Operation, _ leftovers: inout Leftovers) {
    for dependent in dependents(of: operation) where dependent.has(.needsSuccess) {
      let id = OperationID(Int(dependent.number))
      guard scheduler.pointee.isWaiting(id) else { continue }
      scheduler.pointee.hold(id)
      leftovers.withRest { $0.doomed.append(dependent) }
      leftovers.willCallOthers()
    }
  }

  private func observedDependents(of operation: Operation) -> [Operation] {
    dependents(of: operation).filter { $0.has(.isObserved) && !isReady($0) }
  }

  private func isReady(_ operation: Operation) -> Bool {
    operation.number >= 0
      && !scheduler.pointee.isWaiting(OperationID(Int(operation.number)))
  }

  /// The operations in queues that depend on `operation`. Linear.
  func dependents(of operation: Operation) -> [Operation] {
    if operation.number < 0 { return operation.ties?.waiting.all.filter { $0.number >= 0 } ?? [] }
    return scheduler.pointee.graph.dependents(of: OperationID(Int(operation.number)))
      .filter { $0.condition == .ok }
      .compactMap { members[$0.to.index].operation }
  }
}
