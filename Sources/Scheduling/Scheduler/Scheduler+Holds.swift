// Holds keep an operation from being ready, in addition to its edges; other calls make it ready in spite of its
// edges.

extension Scheduler {
  /// Adds an operation that is not ready until it has been released `holds` times.
  @discardableResult
  package mutating func append(_ spec: OperationSpec, holds: Int32) -> OperationID {
    precondition(stopReason == nil, "after a stop nothing is held")
    let id = graph.append(spec)
    let key = ranking.key(priority: spec.priority, duration: graph.nodes[id.index].duration)
    if holds == 0, spec.claims.isEmpty, !spec.isGated, spec.takesSlot {
      admitReady(id, key: key)
      return id
    }
    admit(id, key: key, unmetCount: holds)
    if holds == 0 { reach(id) }
    return id
  }

  /// Makes an operation that has not started wait until it is released, as for one more edge.
  package mutating func hold(_ id: OperationID) {
    let state = records[id.index].state
    precondition(state == .waiting || state == .ready, "the operation has started already")
    if state == .ready { move(id, to: .waiting) }
    unmetCounts[id.index] += 1
  }

  /// Removes one hold, unless a call of `ignoreDependencies` already has.
  package mutating func release(_ id: OperationID) {
    if records[id.index].state == .waiting { satisfyOneEdge(of: id) }
  }

  /// Makes a waiting operation ready at once: its edges are removed, and it is no longer held.
  /// Linear in its edges.
  package mutating func ignoreDependencies(of id: OperationID) {
    guard records[id.index].state == .waiting else { return }
    graph.removeDependencies(of: id)
    unmetCounts[id.index] = 0
    records[id.index].root = id.rawValue
    reach(id)
  }

  /// Removes an edge into an operation that waits; returns false if there is none. Linear in its
  /// edges.
  @discardableResult
  package mutating func removeEdge(
    from dependency: OperationID, to dependent: OperationID
  ) -> Bool {
    guard records[dependent.index].state == .waiting, !records[dependency.index].state.hasEnded,
      graph.removeEdge(from: dependency, to: dependent)
    else { return false }
    satisfyOneEdge(of: dependent)
    return true
  }

  /// Gives an operation another priority. The one it inherited is forgotten.
  package mutating func setPriority(_ priority: Int16, of id: OperationID) {
    graph.setPriority(priority, of: id)
    let path = Rank.path(ofKey: records[id.index].key)
    records[id.index].key = Rank.key(priority: priority, path: path)
    if records[id.index].state == .ready { rerank(id) }
  }
}
