// Adds operations, edges and pools while the graph runs.

extension Scheduler {
  /// Reserves capacity for operations that are about to be appended: arrays grow at most once, to
  /// at least twice their size.
  package mutating func expect(_ count: Int) {
    let needed = records.count - graph.vacantIDs.count + count
    if needed <= records.capacity { return }
    let capacity = max(needed, 2 * records.count)
    graph.reserveCapacity(operations: capacity, edges: 0)
    records.reserveCapacity(capacity)
    unmetCounts.reserveCapacity(capacity)
    places.reserveCapacity(capacity)
  }

  /// Adds an operation that waits for others, which may have ended: those edges are settled at once
  /// and not kept. It may also end at once: blocked, skipped, or cancelled after `stop`; `takeSettlements`
  /// reports that. Everything that it waits for inherits its priority; only the nearest ones get a
  /// longer remaining path (`pathReach`).
  @discardableResult
  package mutating func append(
    _ spec: OperationSpec, after dependencies: [(OperationID, EdgeCondition)] = []
  ) -> OperationID {
    let id = graph.append(spec)
    let key = ranking.key(priority: spec.priority, duration: graph.nodes[id.index].duration)
    admit(id, key: key, unmetCount: 0)
    if let stopReason {
      end(id, as: Ending(.cancelled), .stopped(stopReason))
      return id
    }
    for (dependency, condition) in dependencies {
      wait(id, for: dependency, condition)
      if records[id.index].state.hasEnded { return id }
    }
    if unmetCounts[id.index] == 0 { reach(id) } else { raiseDependencies(of: id) }
    return id
  }

  /// Makes an operation that has not started wait for one more. The caller ensures that no cycle
  /// arises.
  package mutating func addEdge(
    from dependency: OperationID, to dependent: OperationID, when condition: EdgeCondition
  ) {
    let state = records[dependent.index].state
    if state.hasEnded { return }
    precondition(state == .waiting || state == .ready, "the dependent has started already")
    if state == .ready, !records[dependency.index].state.hasEnded { move(dependent, to: .waiting) }
    wait(dependent, for: dependency, condition)
    if records[dependent.index].state == .ready, isUnneeded(dependent) { skip(dependent) }
    if let ending = records[dependent.index].state.ending {
      tellDependents(of: dependent, ending)
    } else if records[dependent.index].state == .waiting {
      raiseDependencies(of: dependent)
    }
  }

  @discardableResult
  package mutating func addPool(_ spec: PoolSpec) -> PoolID {
    pools.append(Pool(spec))
    return PoolID(pools.count - 1)
  }

  mutating func wait(
    _ id: OperationID, for dependency: OperationID, _ condition: EdgeCondition
  ) {
    if let ending = records[dependency.index].state.ending {
      return note(ending, of: dependency, by: id, condition)
    }
    graph.addEdge(from: dependency, to: id, when: condition)
    if condition.waitsForReadiness, !announced.isEmpty, let ending = announced[dependency] {
      note(ending, of: dependency, by: id, condition)
    } else {
      unmetCounts[id.index] += 1
    }
  }

  private mutating func note(
    _ ending: Ending, of dependency: OperationID, by id: OperationID, _ condition: EdgeCondition
  ) {
    switch condition.effect(of: ending) {
    case .runs: break
    case .skips: noteUnneeded(id, because: dependency)
    case .blocks: block(id, by: dependency)
    }
  }
}

extension Scheduler {
  /// Passes the operation's rank on to what it waits for, nearest first.
  mutating func raiseDependencies(of id: OperationID) {
    if !inheritsRank { return }
    var raised = [id]
    var cursor = 0
    while cursor < raised.count {
      let key = records[raised[cursor].index].key
      var edges = EdgeCursor(dependenciesOf: raised[cursor], in: graph)
      while let edge = edges.next(in: graph) {
        if records[edge.from.index].state.hasEnded { continue }
        if raise(edge.from, by: key, paths: raised.count <= pathReach) { raised.append(edge.from) }
      }
      cursor += 1
    }
  }

  /// Raises the operation's rank; returns true if it has changed.
  private mutating func raise(_ id: OperationID, by key: Int64, paths: Bool) -> Bool {
    let old = records[id.index].key
    var new = ranking.key(old, duration: graph.nodes[id.index].duration, raisedBy: key)
    if !paths { new = Rank.key(priority: Rank.priority(ofKey: new), path: Rank.path(ofKey: old)) }
    if new == old { return false }
    records[id.index].key = new
    if records[id.index].state == .ready { rerank(id) }
    return true
  }
}
