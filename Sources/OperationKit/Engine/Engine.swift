// The engine: one scheduler for all operations in all queues, under one lock, because dependencies
// cross queues.
//
// This file holds what is under the lock. Engine+Entering.swift adds operations; the scheduler
// decides which is next, and Engine+Backlog.swift knows those that it only counts;
// Engine+Workers.swift runs it; Engine+Ending.swift removes it. User code is never called under the
// lock. The design is described in docs/operationkit/design.md.

import Dispatch
internal import Scheduling
import Synchronization

final class Engine: @unchecked Sendable {  // all mutable state is under `lock`, or atomic
  static let shared = Engine()

  /// An operation that the scheduler knows, and its neighbours in the order they were added.
  ///
  /// The engine owns the operation from when it is added to its end, with manual reference
  /// counting: counting references for each step in between took a fifth of the time.
  struct Member {
    var reference: Unmanaged<Operation>?
    var previous: Int32 = -1
    var next: Int32 = -1

    var operation: Operation? { reference?.takeUnretainedValue() }
  }

  /// What the engine knows about a queue. Its number is reused after its end.
  struct QueueRecord {
    /// The queue, while it has members or some are on their way: they keep it alive.
    var queue: OperationQueue?
    var mark = CurrentQueue.Mark()
    /// The number of operations taken over from the inbox since the record keeps the queue alive.
    var postedCount = 0
    var first: Int32 = -1
    var last: Int32 = -1
    /// Operations that have not started, as long as all of them are plain: the scheduler only
    /// counts them.
    var backlog = Chain()
    /// True if an operation that is not plain was added since the queue was last empty: then there is no backlog.
    var isMixed = false
    /// The number of operations that have not ended, including the backlog.
    var count = 0
    /// The latest barrier; everything added after it waits for it.
    var barrier: Int32 = -1
    var waiters: [Signal] = []
    var dispatchQueue: DispatchQueue?
    var progress: Progress?
    /// The number of operations that run at the same time; negative if the machine decides.
    var width = OperationQueue.defaultMaxConcurrentOperationCount
    var isElastic: Bool { width < 0 }
    /// The number of operations that have ended since the width was last checked.
    var endedCount = 0

    /// Records a member that the scheduler knows now, and returns the one before it.
    mutating func append(_ id: OperationID) -> Int32 {
      let previous = last
      last = id.rawValue
      if previous < 0 { first = id.rawValue }
      return previous
    }

    /// Forgets a member.
    mutating func remove(_ id: OperationID, _ member: Member) {
      if member.previous < 0 { first = member.next }
      if member.next < 0 { last = member.previous }
      if barrier == id.rawValue { barrier = -1 }
    }
  }

  /// The lock; `enter` takes it, and also takes over what has been added.
  let lock = Lock()
  let inbox = Inbox()
  /// True if a thread will check the inbox soon, whatever is added.
  let attendance = Atomic<Bool>(false)
  let nap = Nap()
  /// Changes when there is work and a thread is looking for it.
  let epoch = Atomic<UInt32>(0)
  /// The number of operations that have ended. Written under the lock.
  let endedCount = Atomic<Int>(0)

  /// The scheduler is behind a pointer to avoid checks for exclusive access, which the lock
  /// ensures. The engine is never released.
  let scheduler = UnsafeMutablePointer<Scheduler>.allocate(capacity: 1)
  // The lock ensures exclusive access; checking that on each access would cost a tenth of the time.
  @exclusivity(unchecked) var members: [Member] = []
  @exclusivity(unchecked) var started = StartedOperations()
  @exclusivity(unchecked) var queues: [QueueRecord] = []
  private var vacantLanes: [QueueID] = []
  private var pools: [String: (pool: PoolID, users: Int)] = [:]
  private var vacantPools: [PoolID] = []
  @exclusivity(unchecked) var crew = Crew()
  /// The last announced value of `attendance`.
  @exclusivity(unchecked) var showsAttendance = false
  /// The number of observed operations that have not finished.
  let observedCount = Atomic<Int>(0)
  /// Consequences of added operations, to be handled when the lock is released.
  @exclusivity(unchecked) var affairs: [Affair] = []
  /// The number of operations that the scheduler was ever given.
  @exclusivity(unchecked) var addedCount = 0
  @exclusivity(unchecked) var cycleCredit = CycleCredit()
  @exclusivity(unchecked) var cycleSearch = CycleSearch()
  /// True if a thread watches queues whose width the machine decides.
  var isWatching = false

  private init() {
    scheduler.initialize(
      to: Scheduler(graph: Graph(), queues: [], pathReach: 0, inheritsRank: false))
  }

  // MARK: The lock

  /// Takes the lock, and takes over what has been added: what was added before is now in its queue.
  /// True if another thread had the lock.
  @discardableResult
  func enter() -> Bool {
    let isContended = lock.lock()
    if !inbox.isEmpty { takeOver() }
    return isContended
  }

  /// Takes the lock for short work that starts nothing.
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
    let record = locked {
      defer { queues[id.index] = QueueRecord() }
      vacantLanes.append(id)
      return queues[id.index]
    }
    withExtendedLifetime(record) {}
  }

  // MARK: Exclusive conditions

  /// The claims of an operation: exclusive conditions with the same name share a pool of one.
  func claims(of operation: Operation) -> [Claim] {
    let names = operation.readAttachments { $0.exclusions } ?? []
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
    for name in Set(operation.readAttachments { $0.exclusions } ?? []) {
      guard var entry = pools[name] else { continue }
      entry.users -= 1
      pools[name] = entry.users == 0 ? nil : entry
      if entry.users == 0 { vacantPools.append(entry.pool) }
    }
  }
}
