// The engine: one scheduler for all operations in all queues, under one lock. Dependencies cross
// queues, so the lock does.
//
// This file holds what is under the lock. How operations come in is in Engine+Entering.swift; the
// scheduler decides who is next; Engine+Workers.swift runs it; Engine+Ending.swift takes it out. User
// code is never called under the lock. Design: docs/operationkit/design.md.

import Dispatch
internal import Scheduling
import Synchronization

final class Engine: @unchecked Sendable {  // all that changes is under `lock`, or atomic
  static let shared = Engine()

  /// An operation in a queue, and its neighbours in the order they were added.
  ///
  /// The engine owns the operation from its coming to its end, by hand: counting references for each
  /// step in between took a fifth of the time.
  struct Member {
    var reference: Unmanaged<Operation>?
    var previous: Int32 = -1
    var next: Int32 = -1

    var operation: Operation? { reference?.takeUnretainedValue() }
  }

  /// What the engine knows of a queue. Its number is used again after its end.
  struct QueueRecord {
    /// While it has members, or some are on their way: they keep their queue alive.
    var queue: OperationQueue?
    var mark = CurrentQueue.Mark()
    /// How many were taken over from the inbox since it keeps the queue.
    var postedCount = 0
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

  /// Taken by `enter`, which sees to what has come in.
  let lock = Lock()
  let inbox = Inbox()
  /// Somebody will look into the inbox before long, whatever comes in.
  let attendance = Atomic<Bool>(false)
  /// Changes when there is work and somebody is looking for it.
  let epoch = Atomic<UInt32>(0)

  /// Behind a pointer: no checks for exclusive access, which the lock is for. The engine is never
  /// released.
  let scheduler = UnsafeMutablePointer<Scheduler>.allocate(capacity: 1)
  // The lock excludes others; checks for it on each access would cost a tenth of the time.
  @exclusivity(unchecked) var members: [Member] = []
  @exclusivity(unchecked) var queues: [QueueRecord] = []
  private var vacantLanes: [QueueID] = []
  private var pools: [String: (pool: PoolID, users: Int)] = [:]
  private var vacantPools: [PoolID] = []
  @exclusivity(unchecked) var crew = Crew()
  /// What was last shown as attendance.
  @exclusivity(unchecked) var showsAttendance = false
  /// How many observed operations have not finished.
  @exclusivity(unchecked) var observedCount = 0
  /// What operations that came in have brought up, to be seen to when the lock is free.
  @exclusivity(unchecked) var affairs: [Affair] = []
  /// How many were ever added.
  @exclusivity(unchecked) var addedCount = 0
  @exclusivity(unchecked) var cycleCredit = CycleCredit()
  @exclusivity(unchecked) var cycleSearch = CycleSearch()
  /// A thread watches queues whose width is for the machine to decide.
  var isWatching = false

  private init() {
    scheduler.initialize(
      to: Scheduler(graph: Graph(), queues: [], pathReach: 0, inheritsRank: false))
  }

  // MARK: The lock

  /// Takes the lock, and takes over what has come in: what was added before is in its queue now.
  /// True if somebody else had the lock.
  @discardableResult
  func enter() -> Bool {
    let isContended = lock.lock()
    if !inbox.isEmpty { takeOver() }
    return isContended
  }

  /// For short work that starts nothing.
  func locked<Value>(_ body: () throws -> Value) rethrows -> Value {
    enter()
    defer { lock.unlock() }
    return try body()
  }

  // MARK: Queues

  func addLane() -> QueueID {
    locked {
      let width = Elasticity.leastWidth
      if let id = vacantLanes.popLast() {
        scheduler.pointee.setWidth(width, of: id)
        scheduler.pointee.resume(id)
        return id
      }
      queues.append(QueueRecord())
      return scheduler.pointee.addQueue(QueueSpec(name: "", width: width))
    }
  }

  func removeLane(_ id: QueueID) {
    locked {
      queues[id.index] = QueueRecord()
      vacantLanes.append(id)
    }
  }

  // MARK: Exclusive conditions

  /// Operations of one name share a pool of one.
  func claims(of operation: Operation) -> [Claim] {
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
    for name in Set(operation.readDetails { $0.exclusions } ?? []) {
      guard var entry = pools[name] else { continue }
      entry.users -= 1
      pools[name] = entry.users == 0 ? nil : entry
      if entry.users == 0 { vacantPools.append(entry.pool) }
    }
  }
}
