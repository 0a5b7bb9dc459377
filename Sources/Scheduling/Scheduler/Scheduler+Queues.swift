// Changes queues while the graph runs, and answers queries.

extension Scheduler {
  /// Sets how many operations may run at once; 0 starts nothing, `Int.max` means no limit. Running
  /// operations continue.
  package mutating func setWidth(_ width: Int, of queue: QueueID) {
    queues[queue.index].spec.width = width
    slotsChanged(queue.index)
    refreshSlotless(beside: queue.index)
  }

  /// Sets the number of slots that something outside grants, such as a jobserver: at most this many
  /// operations run at once, within the width. There is no limit until the first call.
  package mutating func grant(_ slots: Int, to queue: QueueID) {
    queues[queue.index].grant = slots
    slotsChanged(queue.index)
  }

  mutating func slotsChanged(_ queue: Int) {
    refresh(queue)
    roomChanged(queue)
  }

  /// True if as many operations of the queue run as may run at once.
  package func hasNoSlot(_ queue: QueueID) -> Bool {
    queues[queue.index].counts.running >= queues[queue.index].slots
  }

  /// True if something would start if one more slot were granted.
  package func lacksGrant(_ queue: QueueID) -> Bool {
    let queue = queues[queue.index]
    let hasAny = !lanes[queue.plainLane].ready.isEmpty || !queue.candidates.isEmpty
    return hasAny && !queue.spec.isSuspended && queue.counts.running >= queue.grant
      && queue.counts.running < queue.spec.width
  }

  /// Starts nothing new in the queue until `resume`. Running operations continue.
  package mutating func suspend(_ queue: QueueID) {
    queues[queue.index].spec.isSuspended = true
    slotsChanged(queue.index)
    refreshSlotless(beside: queue.index)
  }

  package mutating func resume(_ queue: QueueID) {
    queues[queue.index].spec.isSuspended = false
    slotsChanged(queue.index)
    refreshSlotless(beside: queue.index)
  }

  /// Resumes a queue after a stop, and gives it a width of 1 or more: nothing needs to be kept from
  /// starting any more.
  mutating func open(_ queue: Int) {
    queues[queue].spec.isSuspended = false
    queues[queue].spec.width = max(1, queues[queue].spec.width)
    slotsChanged(queue)
  }

  package var queueCount: Int { queues.count }

  package subscript(queue: QueueID) -> QueueSpec { queues[queue.index].spec }

  package subscript(pool: PoolID) -> PoolSpec { pools[pool.index].spec }

  /// The first pool that keeps a ready operation from starting; nil if none does.
  package func obstacle(of id: OperationID) -> PoolID? {
    obstacle(of: Int(records[id.index].lane)).map { PoolID(rooms[lines[$0].room].pool) }
  }

  package func counts(of queue: QueueID) -> StateCounts { queues[queue.index].counts }
}

extension Scheduler {
  package func state(of id: OperationID) -> OperationState { records[id.index].state }

  package func ending(of id: OperationID) -> Ending? { records[id.index].state.ending }

  /// The operation where the problem began, for a blocked operation. Nil for all others.
  package func root(of id: OperationID) -> OperationID? {
    guard ending(of: id)?.outcome == .blocked else { return nil }
    return OperationID(Int(records[id.index].root))
  }

  /// The highest priority among those of the operation and of everything that waits for it.
  package func effectivePriority(of id: OperationID) -> Int {
    Int(Rank.priority(ofKey: records[id.index].key))
  }

  /// The counts of all queues. Linear in the number of queues.
  package var counts: StateCounts {
    queues.reduce(into: StateCounts()) { $0.add($1.counts) }
  }

  package var runningCount: Int { counts.running }

  /// True if every operation has ended.
  package var isFinished: Bool { counts.unfinished == 0 }
}
