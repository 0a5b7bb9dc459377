// Services: operations that take no slot, and whose dependents need not wait for their end.

extension Scheduler {
  /// A service is ready, or will never be: dependents that wait for that are told as if it had ended
  /// like this, and hear nothing of its end. `root` is where the trouble began, if it is not the
  /// service. Once at most.
  package mutating func announce(
    _ id: OperationID, as ending: Ending = Ending(.succeeded), root: OperationID? = nil
  ) {
    precondition(!records[id.index].state.hasEnded, "a service is ready before it ends")
    precondition(
      announced.updateValue(ending, forKey: id) == nil, "a service is ready once")
    var blocked: [OperationID] = []
    var edges = EdgeCursor(dependentsOf: id, in: graph)
    while let edge = edges.next(in: graph) {
      guard edge.condition.waitsForReadiness, records[edge.to.index].state == .waiting else {
        continue
      }
      if edge.condition.isSatisfied(by: ending) {
        satisfyOneEdge(of: edge.to)
      } else {
        block(edge.to, by: root ?? id)
        blocked.append(edge.to)
      }
    }
    for operation in blocked { tellDependents(of: operation, Ending(.blocked)) }
  }

  package func isAnnounced(_ id: OperationID) -> Bool {
    announcedEnding(of: id) != nil
  }

  /// What the dependents of a service were told; nil if it was not announced.
  package func announcedEnding(of id: OperationID) -> Ending? {
    announced.isEmpty ? nil : announced[id]
  }

  /// A service that was announced will end like this: operations that are added from now on hear of that.
  package mutating func correct(_ id: OperationID, as ending: Ending) {
    precondition(isAnnounced(id), "only what was announced is corrected")
    announced[id] = ending
  }
}

extension Scheduler {
  /// The queue of what takes no slot of this one; made when it is first asked for. It runs what it can
  /// while the other is not suspended and may run anything.
  mutating func slotlessQueue(beside queue: Int) -> Int {
    if let known = slotlessQueues[queue] { return known }
    let number = addQueue(QueueSpec(name: queues[queue].spec.name, width: 0)).index
    slotlessQueues[queue] = number
    refreshSlotless(beside: queue)
    return number
  }

  /// The counts of what takes no slot of the queue.
  package func slotlessCounts(of queue: QueueID) -> StateCounts {
    slotlessQueues[queue.index].map { queues[$0].counts } ?? StateCounts()
  }

  mutating func refreshSlotless(beside queue: Int) {
    guard let slotless = slotlessQueues[queue] else { return }
    queues[slotless].spec.width = queues[queue].spec.width > 0 ? .max : 0
    queues[slotless].spec.isSuspended = queues[queue].spec.isSuspended
    slotsChanged(slotless)
  }
}
