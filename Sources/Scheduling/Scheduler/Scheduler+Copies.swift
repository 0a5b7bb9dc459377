// Adds several operations that wait for each other while the graph runs, and detaches operations
// from their dependencies if something else decides about their end.

extension Scheduler {
  /// An operation that is about to be added, and what it waits for.
  package struct Addition: Sendable {
    package let spec: OperationSpec
    package let dependencies: [(OperationID, EdgeCondition)]

    package init(_ spec: OperationSpec, after dependencies: [(OperationID, EdgeCondition)]) {
      self.spec = spec
      self.dependencies = dependencies
    }
  }

  /// Adds operations that may wait for each other, in any order and without a cycle: the ids follow
  /// those of all others, so they are known before. Some may end at once, as with `append`.
  package mutating func append(_ additions: [Addition]) {
    expect(additions.count)
    var ids: [OperationID] = []
    ids.reserveCapacity(additions.count)
    for addition in additions {
      let id = graph.append(addition.spec)
      let duration = graph.nodes[id.index].duration
      admit(
        id, key: ranking.key(priority: addition.spec.priority, duration: duration), unmetCount: 0)
      ids.append(id)
    }
    if let stopReason {
      for id in ids { end(id, as: Ending(.cancelled), .stopped(stopReason)) }
      return
    }
    for (id, addition) in zip(ids, additions) {
      for (dependency, condition) in addition.dependencies {
        wait(id, for: dependency, condition)
        if records[id.index].state.hasEnded { break }
      }
    }
    settleBlocked(ids)
    for id in ids where records[id.index].state == .waiting {
      if unmetCounts[id.index] > 0 {
        raiseDependencies(of: id)
      } else if reach(id) {
        tellDependents(of: id, Ending(.skipped))
      }
    }
  }

  /// Tells the dependents of operations that were blocked while edges were being added.
  private mutating func settleBlocked(_ ids: [OperationID]) {
    let blocked = ids.filter { records[$0.index].state.hasEnded }
    for id in blocked { tellDependents(of: id, Ending(.blocked)) }
  }

  /// Makes a waiting operation independent of its dependencies: it is paused until the caller settles
  /// it, however they end.
  package mutating func detach(_ id: OperationID) {
    precondition(records[id.index].state == .waiting, "only what waits is detached")
    records[id.index].root = id.rawValue
    move(id, to: .paused)
  }
}
