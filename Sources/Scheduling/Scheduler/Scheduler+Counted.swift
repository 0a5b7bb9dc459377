// Operations that the scheduler only counts: they wait for nothing, claim nothing, and start in the
// order in which they were added, which their owner knows.

extension Scheduler {
  /// The operation to start next.
  package enum Start {
    case operation(OperationID)
    /// The first of the counted operations of a queue.
    case counted(QueueID)
  }

  /// Adds ready operations, only by their number. They start before all others of their queue.
  package mutating func addCounted(_ count: Int, to queue: QueueID) {
    precondition(stopReason == nil, "after a stop nothing is added to be counted")
    queues[queue.index].countedReady += count
    queues[queue.index].counts.add(count, to: .ready)
    refresh(queue.index)
  }

  /// Forgets the counted operations that have not started.
  package mutating func removeCounted(from queue: QueueID) {
    queues[queue.index].counts.add(-queues[queue.index].countedReady, to: .ready)
    queues[queue.index].countedReady = 0
    refresh(queue.index)
  }

  /// Frees the slot of a counted operation that has ended or is counted no longer.
  package mutating func finishCounted(in queue: QueueID) {
    queues[queue.index].counts.add(-1, to: .running)
    refresh(queue.index)
  }

  /// Like `next()`, but the queues are served in turn, starting with the one after `queue`. This is
  /// for callers whose running operations share something that the scheduler does not count, such
  /// as threads.
  package mutating func next(after queue: QueueID) -> Start? {
    while let queue = startableQueues.first(after: queue.index) ?? startableQueues.first() {
      if queues[queue].countedReady > 0 { return startCounted(in: queue) }
      if let id = next(in: queue) { return .operation(id) }
    }
    return nil
  }

  private mutating func startCounted(in queue: Int) -> Start {
    queues[queue].countedReady -= 1
    queues[queue].counts.move(from: .ready, to: .running)
    refresh(queue)
    return .counted(QueueID(queue))
  }
}
