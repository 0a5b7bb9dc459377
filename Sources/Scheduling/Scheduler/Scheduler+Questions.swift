// Queries that are made for every operation, by a caller in another module that keeps the scheduler
// in a shared place.
//
// They are mutating although they change nothing: for a non-mutating call from there the compiler
// copies the whole value, some 20 references, in case something else changes it meanwhile. That
// took 60 % of the time.

extension Scheduler {
  /// True if `next` may have something to return; false is certain.
  package mutating func mayStart() -> Bool { startableQueues.first() != nil }

  /// True if an operation is ready: it waits only for a slot or a claim.
  package mutating func hasReady() -> Bool {
    for index in queues.indices where queues[index].counts.ready > 0 { return true }
    return false
  }

  /// The operation of each lane that would start first. Linear in the lanes.
  package mutating func firstReady() -> [OperationID] {
    lanes.compactMap { $0.ready.first.map { OperationID(Int($0.item)) } }
  }

  /// The operation without claims that would start next in a queue, if any is ready.
  package mutating func firstPlain(in queue: QueueID) -> OperationID? {
    lanes[queues[queue.index].plainLane].ready.first.map { OperationID(Int($0.item)) }
  }

  package mutating func isRunning(_ id: OperationID) -> Bool { records[id.index].state == .running }

  package mutating func isWaiting(_ id: OperationID) -> Bool { records[id.index].state == .waiting }

  package mutating func isReady(_ id: OperationID) -> Bool { records[id.index].state == .ready }

  package mutating func isPaused(_ id: OperationID) -> Bool { records[id.index].state == .paused }

  package mutating func hasDependents(_ id: OperationID) -> Bool {
    graph.nodes[id.index].lastOut != Graph.none
  }

  /// True if operations are ready that only the width prevents from starting.
  package mutating func isCrowded(_ queue: QueueID) -> Bool {
    let counts = queues[queue.index].counts
    return counts.ready > 0 && counts.running >= queues[queue.index].spec.width
      && !queues[queue.index].spec.isSuspended
  }

  package mutating func width(of queue: QueueID) -> Int { queues[queue.index].spec.width }

  package mutating func isSuspended(_ queue: QueueID) -> Bool {
    queues[queue.index].spec.isSuspended
  }

  /// Ends an operation, running or not, and forgets it.
  package mutating func retire(_ id: OperationID) {
    if records[id.index].state == .running {
      finish(id, as: Ending(.succeeded))
    } else {
      settle(id, as: Ending(.succeeded), cause: .itself)
      settlements = []
    }
    forget(id)
  }
}
