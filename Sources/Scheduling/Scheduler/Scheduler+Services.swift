// Services: operations that take no slot, and whose dependents need not wait for their end.

extension Scheduler {
  /// Announces that a service is ready, or will never be: dependents that wait for that are told as
  /// if it had ended like this, and are not told its end. `root` is where the problem began, if not
  /// in the service. At most once for each service.
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

  /// The ending that the dependents of a service were told; nil if it was not announced.
  package func announcedEnding(of id: OperationID) -> Ending? {
    announced.isEmpty ? nil : announced[id]
  }

  /// Changes the announced ending of a service, for operations that are added from now on.
  package mutating func correct(_ id: OperationID, as ending: Ending) {
    precondition(isAnnounced(id), "only what was announced is corrected")
    announced[id] = ending
  }
}

extension Scheduler {
  /// The extra queue for operations of this one that take no slot; made when it is first asked for.
  /// Its width is unlimited while this one is not suspended and may run anything.
  mutating func slotlessQueue(beside queue: Int) -> Int {
    if let known = slotlessQueues[queue] { return known }
    let number = addQueue(QueueSpec(name: queues[queue].spec.name, width: 0)).index
    slotlessQueues[queue] = number
    refreshSlotless(beside: queue)
    return number
  }

  /// The counts of the operations of the queue that take no slot.
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
