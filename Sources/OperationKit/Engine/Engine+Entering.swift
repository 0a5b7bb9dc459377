// How operations are added: without the lock into the inbox where that is possible, and from there,
// or at once, into their queue.

internal import Scheduling
import Synchronization

/// A consequence of adding an operation. It is handled when the lock is released, because it calls
/// user code.
enum Affair {
  /// The operation needs the success of one that did not succeed.
  case doomed(Operation)
  /// The operation has closed a cycle.
  case cycle([Operation])
  /// The operation had ended before it came into its queue.
  case ended(Operation)
  /// Operations that must not be released under the lock.
  case kept([Operation])

  func settle() {
    switch self {
    case .doomed(let operation):
      let culprit = operation.dependencies.first { $0.bits.isUnsuccessful }
      operation.fail(OperationError.dependencyFailed(culprit?.description ?? ""))
      operation.cancel()
    case .kept: break
    case .cycle(let operations):
      OperationQueue.report(operations)
    case .ended(let operation):
      Engine.shared.expel(operation)
    }
  }
}

extension Engine {
  /// The number of operations that make a batch for `help`.
  private static let batch = 512

  func add(
    _ operation: Operation, to queue: OperationQueue, asBarrier: Bool = false
  ) {
    if asBarrier { operation.set(.isBarrier) }
    let old = operation.becomeQueued(in: queue.id)
    let reference = Unmanaged.passRetained(operation)
    if !asBarrier, old.isDisjoint(with: .needsCare), let count = queue.entrance.goIn() {
      post(reference)
      if operation.rank > 0 { nap.disturb() }
      if count % Engine.batch == Engine.batch - 1 { help(patiently: old.contains(.mayWait)) }
      return
    }
    enter()
    open(queue)
    receive(reference, in: queue.id, asBarrier: asBarrier)
    unlockAndWake()
  }

  func add(_ operations: [Operation], to queue: OperationQueue) {
    let chain = makeChain(of: operations, for: queue.id)
    enter()
    if !operations.isEmpty { open(queue) }
    if !chain.isUniform { reserve(operations.count) }
    receive(chain)
    unlockAndWake()
  }

  /// Makes operations the engine's own, without the lock.
  private func makeChain(of operations: [Operation], for queue: QueueID) -> Chain {
    var chain = Chain()
    operations.forEachReference { reference in
      reference._withUnsafeGuaranteedRef { _ = $0.becomeQueued(in: queue) }
      chain.append(reference.retain())
    }
    return chain
  }

  /// Adds an operation without the lock. A thread that looks for work will find it; if there is
  /// none, the adder requests one. They cannot miss each other: one announces that no thread is
  /// looking any more and then checks the inbox, the other puts something in and then checks the
  /// announcement.
  private func post(_ reference: Unmanaged<Operation>) {
    inbox.push(reference)
    if attendance.load(ordering: .sequentiallyConsistent) { return }
    enter()
    unlockAndWake(wasUnattended: true)
  }

  /// Lets a thread that adds many operations in a row take them over now and then: it has just made
  /// them, so they and what they wait for are in its cache, and not in that of the threads which
  /// run them. That halves the time of a graph.
  ///
  /// Operations that wait for nothing are not worth waiting for the lock: a thread that has it is
  /// about to take them over itself, and two that do it in turn are in each other's way.
  private func help(patiently: Bool) {
    if patiently { lock.lock() } else if !lock.tryLock() { return }
    takeOver()
    unlockAndWake(mayWait: true)
  }

  /// Moves everything in the inbox to its queue. Must be called under the lock.
  func takeOver() { receive(inbox.takeAll(), arePosted: true) }

  /// Puts operations at the end of their queues: in the backlog, if there can be one.
  private func receive(_ operations: Chain, arePosted: Bool = false) {
    guard let first = operations.first else { return }
    let queue = QueueID(Int(first._withUnsafeGuaranteedRef { $0.queueNumber }))
    if !operations.isUniform || queues[queue.index].isMixed {
      return receiveEach(operations, arePosted)
    }
    if arePosted { queues[queue.index].postedCount += operations.count }
    queues[queue.index].count += operations.count
    queues[queue.index].backlog.append(operations)
    scheduler.pointee.addCounted(operations.count, to: queue)
  }

  private func receiveEach(_ operations: Chain, _ arePosted: Bool) {
    var operations = operations
    while let reference = operations.popFirst() {
      let queue = QueueID(Int(reference._withUnsafeGuaranteedRef { $0.queueNumber }))
      if arePosted { queues[queue.index].postedCount += 1 }
      receive(reference, in: queue, asBarrier: false)
    }
  }

  private func receive(_ reference: Unmanaged<Operation>, in queue: QueueID, asBarrier: Bool) {
    queues[queue.index].count += 1
    if !queues[queue.index].isMixed {
      if !asBarrier, reference._withUnsafeGuaranteedRef({ $0.isPlain }) {
        queues[queue.index].backlog.append(reference)
        return scheduler.pointee.addCounted(1, to: queue)
      }
      mix(queue.index)
    }
    admit(reference, to: queue, asBarrier: asBarrier)
  }

  private func open(_ queue: OperationQueue) {
    let queueNumber = queue.id.index
    if queues[queueNumber].queue != nil { return }
    queues[queueNumber].queue = queue
    queues[queueNumber].mark = CurrentQueue.Mark(queue)
    queues[queueNumber].postedCount = 0
    queue.entrance.open()
  }

  private func reserve(_ count: Int) {
    let needed = members.count + count
    if needed > members.capacity { members.reserveCapacity(max(needed, 2 * members.capacity)) }
    scheduler.pointee.expect(count)
  }

  func admit(_ reference: Unmanaged<Operation>, to queue: QueueID, asBarrier: Bool) {
    reference._withUnsafeGuaranteedRef { admit($0, reference, to: queue, asBarrier: asBarrier) }
  }

  private func admit(
    _ operation: Operation, _ reference: Unmanaged<Operation>, to queue: QueueID, asBarrier: Bool
  ) {
    var spec = OperationSpec()
    spec.queue = queue
    spec.priority = operation.rank
    if operation.has(.hasTerms) { spec.claims = claims(of: operation) }
    let isFree =
      operation.awaited.isEmpty && !operation.has(.isAwaited) && !asBarrier
      && queues[queue.index].barrier < 0
    let id = scheduler.pointee.append(spec, holds: isFree ? 0 : 1)
    operation.number = id.rawValue
    enroll(reference, as: id, in: queue.index)
    if !isFree { link(operation, id, queue.index, asBarrier) }
    if operation.has(.retired) { affairs.append(.ended(operation)) }
  }

  private func enroll(_ reference: Unmanaged<Operation>, as id: OperationID, in queueNumber: Int) {
    let previous = queues[queueNumber].append(id)
    let member = Member(reference: reference, previous: previous)
    if id.index == members.count { members.append(member) } else { members[id.index] = member }
    if previous >= 0 { members[Int(previous)].next = id.rawValue }
    addedCount &+= 1
  }

  /// Connects a held operation with its dependencies and dependents, and releases it.
  private func link(
    _ operation: Operation, _ id: OperationID, _ queueNumber: Int, _ isBarrier: Bool
  ) {
    var isDoomed = false
    var closesCycle = false
    operation.awaited.forEach { dependency in
      if dependency === operation { closesCycle = true }
      link(operation, to: dependency)
      if hasFailed(dependency) { isDoomed = true }
    }
    if isDoomed, operation.has(.needsSuccess) {
      scheduler.pointee.hold(id)
      affairs.append(.doomed(operation))
    }
    addBarrierEdges(to: operation, id, in: queueNumber, isBarrier: isBarrier)
    if takeOverWaiting(of: operation) { closesCycle = true }
    if operation.has(.cancelled) { ignoreDependencies(of: operation) }
    scheduler.pointee.release(id)
    if closesCycle { searchForCycle(through: id) }
  }

  /// True if the operation, or a product of it, has ended without success.
  private func hasFailed(_ operation: Operation) -> Bool {
    let bits = operation.bits
    if bits.contains(.retired), bits.isUnsuccessful { return true }
    guard let products = operation.ties?.products?.all else { return false }
    affairs.append(.kept(products))
    return products.contains { hasFailed($0) }
  }

  /// Lets a queued operation wait for another, and what that has produced: by an edge if that is
  /// queued too, otherwise by a hold.
  func link(_ operation: Operation, to dependency: Operation) {
    if let products = dependency.ties?.products?.all {
      affairs.append(.kept(products))
      for product in products where product !== operation { link(operation, to: product) }
    }
    let id = OperationID(Int(operation.number))
    if dependency.number >= 0 {
      scheduler.pointee.addEdge(from: OperationID(Int(dependency.number)), to: id, when: .ok)
    } else if !dependency.has(.retired) {
      dependency.makeTies().waiting.append(operation)
      dependency.set(.isAwaited)
      scheduler.pointee.hold(id)
    }
  }

  /// Gives edges to operations that waited for this one while it was in no queue. True if there are
  /// any: a cycle may have been closed.
  private func takeOverWaiting(of operation: Operation) -> Bool {
    guard let ties = operation.ties, !ties.waiting.isEmpty else { return false }
    let id = OperationID(Int(operation.number))
    ties.takeWaiting().forEach { dependent in
      let other = OperationID(Int(dependent.number))
      guard scheduler.pointee.isWaiting(other) else { return }
      scheduler.pointee.addEdge(from: id, to: other, when: .ok)
      scheduler.pointee.release(other)
    }
    return true
  }

  /// Makes what is added after a barrier wait for it, and a barrier wait for everything that was
  /// added before, as far back as the previous barrier.
  private func addBarrierEdges(
    to operation: Operation, _ id: OperationID, in queueNumber: Int, isBarrier: Bool
  ) {
    let latest = queues[queueNumber].barrier
    if latest >= 0 {
      scheduler.pointee.addEdge(from: OperationID(Int(latest)), to: id, when: .done)
    }
    guard isBarrier else { return }
    for other in startedOperations(of: queueNumber) { link(operation, to: other) }
    var number = members[id.index].previous
    while number >= 0, number != latest {
      scheduler.pointee.addEdge(from: OperationID(Int(number)), to: id, when: .done)
      number = members[Int(number)].previous
    }
    queues[queueNumber].barrier = id.rawValue
  }
}

extension [Operation] {
  /// Calls `body` for each operation without counting references: a loop would do so twice for
  /// each.
  fileprivate func forEachReference(_ body: (Unmanaged<Operation>) -> Void) {
    withUnsafeBytes {
      for reference in $0.bindMemory(to: Unmanaged<Operation>.self) { body(reference) }
    }
  }
}
