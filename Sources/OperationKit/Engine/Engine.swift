// The engine: one scheduler for all operations in all queues, under one lock. Dependencies cross
// queues, so the lock does.
//
// This file holds what is under the lock, and how operations come in. The scheduler decides who is
// next; Engine+Workers.swift runs it; Engine+Ending.swift takes it out. User code is never called
// under the lock. Design: docs/operationkit/design.md.

import Dispatch
internal import Scheduling
import Synchronization

final class Engine: @unchecked Sendable {  // all that changes is under `lock`
  static let shared = Engine()

  /// An operation in a queue, and its neighbours in the order they were added.
  struct Member {
    var operation: Operation?
    var previous: Int32 = -1
    var next: Int32 = -1
  }

  /// What the engine knows of a queue. Its number is used again after its end.
  struct Lane {
    /// While it has members: they keep their queue alive.
    var queue: OperationQueue?
    var first: Int32 = -1
    var last: Int32 = -1
    var count = 0
    /// The latest barrier; what comes after waits for it.
    var barrier: Int32 = -1
    var waiters: [Signal] = []
    var dispatchQueue: DispatchQueue?
    var progress: Progress?
    /// Its width is for the machine to decide.
    var isElastic = true
    /// How many have ended since the last look at its width.
    var endedCount = 0
  }

  let lock = Lock()
  /// Behind a pointer: no checks for exclusive access, which the lock is for. The engine is never
  /// released.
  let scheduler = UnsafeMutablePointer<Scheduler>.allocate(capacity: 1)
  // The lock excludes others; checks for it on each access would cost a tenth of the time.
  @exclusivity(unchecked) var members: [Member] = []
  @exclusivity(unchecked) var lanes: [Lane] = []
  private var vacantLanes: [QueueID] = []
  private var pools: [String: (pool: PoolID, users: Int)] = [:]
  private var vacantPools: [PoolID] = []
  @exclusivity(unchecked) var crew = Crew()
  /// How many observed operations have not finished.
  @exclusivity(unchecked) var observedCount = 0
  /// A thread watches queues whose width is for the machine to decide.
  var isWatching = false
  /// Changes when there is work and somebody is looking for it.
  let epoch = Atomic<UInt32>(0)

  private init() {
    scheduler.initialize(
      to: Scheduler(graph: Graph(), queues: [], pathReach: 0, inheritsRank: false))
  }

  // MARK: Queues

  func addLane() -> QueueID {
    lock.locked {
      let width = Elasticity.leastWidth
      if let id = vacantLanes.popLast() {
        scheduler.pointee.setWidth(width, of: id)
        scheduler.pointee.resume(id)
        return id
      }
      lanes.append(Lane())
      return scheduler.pointee.addQueue(QueueSpec(name: "", width: width))
    }
  }

  func removeLane(_ id: QueueID) {
    lock.locked {
      lanes[id.index] = Lane()
      vacantLanes.append(id)
    }
  }

  // MARK: Exclusive conditions

  /// Operations of one name share a pool of one.
  func claims(of operation: Operation) -> [Claim] {
    guard operation.has(.hasTerms) else { return [] }
    let names = operation.readDetails { $0.exclusions } ?? []
    return Set(names).map { name in
      var entry = pools[name] ?? (vacantPools.popLast() ?? addPool(), 0)
      entry.users += 1
      pools[name] = entry
      return Claim(entry.pool, amount: 1)
    }
  }

  private func addPool() -> PoolID {
    scheduler.pointee.addPool(PoolSpec(name: "", capacity: 1))
  }

  func giveBackPools(of operation: Operation) {
    guard operation.has(.hasTerms) else { return }
    for name in Set(operation.readDetails { $0.exclusions } ?? []) {
      guard var entry = pools[name] else { continue }
      entry.users -= 1
      pools[name] = entry.users == 0 ? nil : entry
      if entry.users == 0 { vacantPools.append(entry.pool) }
    }
  }
}

extension Engine {
  // MARK: Coming in

  func add(_ operation: Operation, to queue: OperationQueue, asBarrier: Bool = false) {
    var doomed: [Operation] = []
    var cycle: [Operation] = []
    lock.lock()
    admit(operation, to: queue, asBarrier: asBarrier, &doomed, &cycle)
    unlockAndWake()
    settle(doomed, cycle)
  }

  func add(_ operations: [Operation], to queue: OperationQueue) {
    var doomed: [Operation] = []
    var cycles: [[Operation]] = []
    lock.lock()
    reserve(operations.count)
    for operation in operations {
      var cycle: [Operation] = []
      admit(operation, to: queue, asBarrier: false, &doomed, &cycle)
      if !cycle.isEmpty { cycles.append(cycle) }
    }
    unlockAndWake()
    settle(doomed, [])
    for cycle in cycles { OperationQueue.report(cycle) }
  }

  private func settle(_ doomed: [Operation], _ cycle: [Operation]) {
    for operation in doomed {
      let culprit = operation.dependencies.first { $0.bits.isUnsuccessful }
      operation.fail(OperationError.dependencyFailed(culprit?.description ?? ""))
      operation.cancel()
    }
    if !cycle.isEmpty { OperationQueue.report(cycle) }
  }

  private func reserve(_ count: Int) {
    let needed = members.count + count
    if needed > members.capacity { members.reserveCapacity(max(needed, 2 * members.capacity)) }
  }

  private func admit(
    _ operation: Operation, to queue: OperationQueue, asBarrier: Bool,
    _ doomed: inout [Operation], _ cycle: inout [Operation]
  ) {
    let lane = queue.id.index
    let old = operation.set(.queued)
    precondition(
      old.isDisjoint(with: [.queued, .executing, .finished]),
      "an operation is added that is in a queue, executing or finished: '\(operation)'")
    var spec = OperationSpec()
    spec.queue = queue.id
    spec.priority = Int16(operation.queuePriority.rawValue)
    spec.claims = claims(of: operation)
    let id = scheduler.pointee.append(spec, holds: 1)
    enroll(operation, as: id, in: lane, of: queue)
    var isDoomed = false
    var closesCircle = false
    for dependency in operation.awaited {
      if dependency === operation { closesCircle = true }
      link(operation, to: dependency)
      if dependency.has(.retired), dependency.bits.isUnsuccessful { isDoomed = true }
    }
    if isDoomed, old.contains(.needsSuccess) {
      scheduler.pointee.hold(id)
      doomed.append(operation)
    }
    addBarrierEdges(to: id, in: lane, isBarrier: asBarrier)
    if takeOverWaiting(of: operation) { closesCircle = true }
    if old.contains(.cancelled) {
      scheduler.pointee.ignoreDependencies(of: id)
    } else {
      scheduler.pointee.release(id)
      if closesCircle { cycle = findCycle(through: id) }
    }
  }

  private func enroll(
    _ operation: Operation, as id: OperationID, in lane: Int, of queue: OperationQueue
  ) {
    operation.number = id.rawValue
    operation.lane = Int32(lane)
    let member = Member(operation: operation, previous: lanes[lane].last, next: -1)
    if id.index == members.count { members.append(member) } else { members[id.index] = member }
    if member.previous >= 0 {
      members[Int(member.previous)].next = id.rawValue
    } else {
      lanes[lane].first = id.rawValue
      lanes[lane].queue = queue
    }
    lanes[lane].last = id.rawValue
    lanes[lane].count += 1
  }

  /// Lets a queued operation wait for another: by an edge if that is queued too, else by a hold.
  private func link(_ operation: Operation, to dependency: Operation) {
    let id = OperationID(Int(operation.number))
    if dependency.number >= 0 {
      scheduler.pointee.addEdge(from: OperationID(Int(dependency.number)), to: id, when: .ok)
    } else if !dependency.has(.retired) {
      dependency.waiting.append(operation)
      scheduler.pointee.hold(id)
    }
  }

  /// Operations that waited for this one while it was in no queue get edges. True if there are
  /// any: a circle may have been closed.
  private func takeOverWaiting(of operation: Operation) -> Bool {
    if operation.waiting.isEmpty { return false }
    let id = OperationID(Int(operation.number))
    for dependent in operation.waiting where dependent.number >= 0 {
      let other = OperationID(Int(dependent.number))
      guard scheduler.pointee.isWaiting(other) else { continue }
      scheduler.pointee.addEdge(from: id, to: other, when: .ok)
      scheduler.pointee.release(other)
    }
    operation.waiting = []
    return true
  }

  /// What is added after a barrier waits for it, and a barrier for all that was added before, as far
  /// back as the last one.
  private func addBarrierEdges(to id: OperationID, in lane: Int, isBarrier: Bool) {
    let latest = lanes[lane].barrier
    if latest >= 0 {
      scheduler.pointee.addEdge(from: OperationID(Int(latest)), to: id, when: .done)
    }
    guard isBarrier else { return }
    var number = members[id.index].previous
    while number >= 0, number != latest {
      scheduler.pointee.addEdge(from: OperationID(Int(number)), to: id, when: .done)
      number = members[Int(number)].previous
    }
    lanes[lane].barrier = id.rawValue
  }
}

extension Engine {
  // MARK: Dependencies

  func addDependency(_ dependency: Operation, to operation: Operation) {
    var cycle: [Operation] = []
    lock.lock()
    if operation.bits.isDisjoint(with: [.finished, .executing]) {
      operation.awaited.append(dependency)
      if operation.number >= 0, canWait(operation) {
        link(operation, to: dependency)
        cycle = findCycle(through: OperationID(Int(operation.number)))
      }
    }
    unlockAndWake()
    if !cycle.isEmpty { OperationQueue.report(cycle) }
  }

  private func canWait(_ operation: Operation) -> Bool {
    if operation.has(.cancelled) { return false }
    let id = OperationID(Int(operation.number))
    return scheduler.pointee.isWaiting(id) || scheduler.pointee.isReady(id)
  }

  func removeDependency(_ dependency: Operation, from operation: Operation) {
    lock.lock()
    let count = operation.awaited.count
    operation.awaited.removeAll { $0 === dependency }
    if operation.number >= 0, canWait(operation) {
      let id = OperationID(Int(operation.number))
      for _ in 0..<(count - operation.awaited.count) {
        if dependency.number >= 0 {
          scheduler.pointee.removeEdge(from: OperationID(Int(dependency.number)), to: id)
        } else if let index = dependency.waiting.firstIndex(where: { $0 === operation }) {
          dependency.waiting.remove(at: index)
          scheduler.pointee.release(id)
        }
      }
    }
    unlockAndWake()
    withExtendedLifetime(dependency) {}
  }

  func dependenciesAreFinished(of operation: Operation) -> Bool {
    lock.lock()
    if operation.number >= 0 {
      defer { lock.unlock() }
      return !scheduler.pointee.isWaiting(OperationID(Int(operation.number)))
    }
    let awaited = operation.awaited
    lock.unlock()
    return awaited.allSatisfy { $0.isFinished }
  }

  func priorityChanged(of operation: Operation) {
    lock.lock()
    if operation.number >= 0 {
      let priority = Int16(operation.queuePriority.rawValue)
      scheduler.pointee.setPriority(priority, of: OperationID(Int(operation.number)))
    }
    lock.unlock()
  }

  /// A cancelled operation ignores what it waits for.
  func cancelled(_ operation: Operation) {
    lock.lock()
    if operation.number >= 0 {
      let id = OperationID(Int(operation.number))
      scheduler.pointee.ignoreDependencies(of: id)
      if operation.has(.parked) { unpark(operation) }
    }
    unlockAndWake()
  }
}
