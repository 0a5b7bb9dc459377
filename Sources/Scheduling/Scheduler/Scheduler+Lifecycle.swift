// The calls that move operations from state to state.

extension Scheduler {
  /// The next operation to start, which is now running. Nil if nothing can start at present.
  ///
  /// Queues are served in order of their numbers: their widths are independent, and ageing keeps
  /// the sharing of pools fair.
  package mutating func next() -> OperationID? {
    while let queue = startableQueues.first() {
      if let id = next(in: queue) { return id }
    }
    return nil
  }

  /// The next operation of one queue; nil if no ready operation in it can start, in which case they
  /// are parked, and the queue is not startable.
  mutating func next(in queue: Int) -> OperationID? {
    if queues[queue].candidates.isEmpty, queues[queue].reservationCount == 0 {
      guard let first = lanes[queues[queue].plainLane].ready.first else { return nil }
      let id = OperationID(Int(first.item))
      move(id, to: .running)
      return id
    }
    while let lane = firstLane(of: queue) {
      if let line = obstacle(of: lane) {
        park(lane, in: line)
      } else if let first = lanes[lane].ready.first {
        let id = OperationID(Int(first.item))
        move(id, to: .running)
        return id
      }
    }
    return nil
  }

  /// Ends a running operation. Its slot and claims are free; its dependents become ready, or end,
  /// which `takeSettlements` reports.
  package mutating func finish(_ id: OperationID, as ending: Ending) {
    precondition(records[id.index].state == .running, "only a running operation finishes")
    move(id, to: .ended(ending))
    tellDependents(of: id, ending)
  }

  /// Ends an operation that is waiting, ready or paused, because it is skipped, cached or
  /// individually cancelled.
  package mutating func settle(_ id: OperationID, as ending: Ending, cause: Cause) {
    endUnstarted(id, as: ending, cause)
    tellDependents(of: id, ending)
  }

  /// Ends several operations in this order; none of them ends because of another.
  package mutating func settle(_ ids: [OperationID], as ending: Ending, cause: Cause) {
    for id in ids { endUnstarted(id, as: ending, cause) }
    for id in ids { tellDependents(of: id, ending) }
  }

  private mutating func endUnstarted(
    _ id: OperationID, as ending: Ending, _ cause: Cause
  ) {
    precondition(!records[id.index].state.hasEnded, "an operation ends once")
    precondition(records[id.index].state != .running, "a running operation finishes")
    records[id.index].root =
      if case .dependency(let root) = cause { root.rawValue } else { id.rawValue }
    end(id, as: ending, cause)
  }

  /// Takes back a running operation's slot and claims until `resume`, so that it can try again; a
  /// ready one does not start until then.
  package mutating func pause(_ id: OperationID) {
    let state = records[id.index].state
    precondition(
      state == .running || state == .ready, "only a running or ready operation can be paused")
    move(id, to: .paused)
  }

  /// Makes a paused operation ready again, with its previous rank.
  package mutating func resume(_ id: OperationID) {
    precondition(records[id.index].state == .paused, "only a paused operation is resumed")
    move(id, to: .ready)
  }

  /// Lets nothing start any more: waiting and ready operations end as cancelled, at once, in file
  /// order. Running ones continue until `finish`; the caller must `settle` paused ones, or `resume`
  /// those that have something left to do. For these all queues are open from now on. So the
  /// dependents of a failed operation must be blocked before, by its `finish`. Linear.
  package mutating func stop(_ reason: StopReason) {
    if stopReason != nil { return }
    stopReason = reason
    let stopped = records.indices.filter {
      records[$0].state == .waiting || records[$0].state == .ready
    }
    for id in inFileOrder(stopped) { end(id, as: Ending(.cancelled), .stopped(reason)) }
    for queue in queues.indices { open(queue) }
  }

  /// Operations in file order. Ids are in file order, unless some were reused.
  private func inFileOrder(_ indices: [Int]) -> [OperationID] {
    let ranks = indices.map { Rank(key: 0, sequence: records[$0].sequence, item: Int32($0)) }
    return ranks.sorted { $0.isBefore($1) }.map { OperationID(Int($0.item)) }
  }

  /// The operations that ended without `finish` since the last call, in the order in which they
  /// ended.
  package mutating func takeSettlements() -> [Settlement] {
    if settlements.isEmpty { return [] }
    defer { settlements = [] }
    return settlements
  }
}

extension Scheduler {
  mutating func end(_ id: OperationID, as ending: Ending, _ cause: Cause) {
    move(id, to: .ended(ending))
    settlements.append(Settlement(id, ending, cause))
  }

  /// Counts down the unmet edges of dependents. An operation that can no longer run is blocked or
  /// skipped, and its dependents are told in turn. Linear in the edges of the operations that end.
  mutating func tellDependents(of id: OperationID, _ ending: Ending) {
    if graph.nodes[id.index].lastOut == Graph.none { return }
    var ended: [OperationID] = []
    tell(id, ending, &ended)
    var cursor = 0
    while cursor < ended.count {
      if let ending = self.ending(of: ended[cursor]) { tell(ended[cursor], ending, &ended) }
      cursor += 1
    }
  }

  private mutating func tell(
    _ id: OperationID, _ ending: Ending, _ ended: inout [OperationID]
  ) {
    var edges = EdgeCursor(dependentsOf: id, in: graph)
    while let edge = edges.next(in: graph) {
      guard unmetCounts[edge.to.index] > 0 else { continue }
      if edge.condition.waitsForReadiness, isAnnounced(id) { continue }
      switch edge.condition.effect(of: ending) {
      case .runs: break
      case .skips: noteUnneeded(edge.to, because: id)
      case .blocks:
        block(edge.to, by: id)
        ended.append(edge.to)
        continue
      }
      if countDown(edge.to) { ended.append(edge.to) }
    }
  }

  /// Counts down the unmet edges of the operation. True if it was skipped, and so has ended.
  private mutating func countDown(_ id: OperationID) -> Bool {
    unmetCounts[id.index] -= 1
    return unmetCounts[id.index] == 0 && reach(id)
  }

  mutating func satisfyOneEdge(of id: OperationID) {
    if countDown(id) { tellDependents(of: id, Ending(.skipped)) }
  }

  /// Notes that an operation will not run, although nothing went wrong. It ends when everything
  /// that it waits for has ended: a failure there blocks it, in whatever order they end.
  mutating func noteUnneeded(_ id: OperationID, because dependency: OperationID) {
    if !isUnneeded(id) || dependency.rawValue < records[id.index].root {
      records[id.index].root = dependency.rawValue
    }
  }

  func isUnneeded(_ id: OperationID) -> Bool { records[id.index].root != id.rawValue }

  mutating func skip(_ id: OperationID) {
    end(id, as: Ending(.skipped), .dependency(OperationID(Int(records[id.index].root))))
  }

  /// Blocks an operation. Its root is where the problem began: that of the dependency, if it was
  /// itself blocked.
  mutating func block(_ id: OperationID, by dependency: OperationID) {
    let root = records[dependency.index].root
    records[id.index].root = root
    end(id, as: Ending(.blocked), .dependency(OperationID(Int(root))))
  }
}
