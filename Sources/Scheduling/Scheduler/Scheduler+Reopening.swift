// Takes back how operations ended, and gives them other priorities, because a person asks for it.

extension Scheduler {
  /// Makes an operation that has ended run again, and the ended groups around it wait for it.
  /// Operations that nothing else blocks wait again; those that started because of its end go on.
  /// Returns all reopened operations with the endings that they had, this one first. Linear in
  /// their edges.
  package mutating func reopen(
    _ id: OperationID, in groups: [OperationID] = []
  ) -> [(operation: OperationID, ending: Ending)] {
    let all = reopenable(from: id, in: groups)
    let reopened = all.compactMap { operation in ending(of: operation).map { (operation, $0) } }
    for operation in all {
      records[operation.index].root = operation.rawValue
      move(operation, to: .waiting)
    }
    let known = Set(all)
    for operation in all {
      unmetCounts[operation.index] = unmetCount(of: operation, isFirst: operation == id)
      waitAgain(for: operation, besides: known)
    }
    if unmetCounts[id.index] == 0 { reach(id) }
    return reopened
  }

  /// The operations that `reopen` would reopen.
  package func reopenable(
    from id: OperationID, in groups: [OperationID] = []
  ) -> [OperationID] {
    precondition(stopReason == nil, "after a stop nothing runs again")
    precondition(records[id.index].state.hasEnded, "only what has ended can run again")
    var reopened = [id] + groups
    var known = Set(reopened)
    var cursor = 0
    while cursor < reopened.count {
      var edges = EdgeCursor(dependentsOf: reopened[cursor], in: graph)
      while let edge = edges.next(in: graph) {
        guard ending(of: edge.to)?.outcome == .blocked, !known.contains(edge.to),
          !isBlocked(edge.to, besides: known)
        else { continue }
        known.insert(edge.to)
        reopened.append(edge.to)
      }
      cursor += 1
    }
    return reopened
  }

  /// The first dependency whose ending kept this operation from starting; nil if there is none.
  package func obstacle(toStarting id: OperationID) -> OperationID? {
    var edges = EdgeCursor(dependenciesOf: id, in: graph)
    while let edge = edges.next(in: graph) {
      if let ending = ending(of: edge.from), !edge.condition.isSatisfied(by: ending) {
        return edge.from
      }
    }
    return nil
  }

  private func isBlocked(_ id: OperationID, besides reopened: Set<OperationID>) -> Bool {
    var edges = EdgeCursor(dependenciesOf: id, in: graph)
    while let edge = edges.next(in: graph) {
      guard let ending = ending(of: edge.from), !reopened.contains(edge.from) else { continue }
      if edge.condition.effect(of: ending) == .blocks { return true }
    }
    return false
  }

  /// The number of dependencies that an operation still waits for. The first one reopened has run
  /// before, whatever its dependencies ended as.
  private mutating func unmetCount(of id: OperationID, isFirst: Bool) -> Int32 {
    var count: Int32 = 0
    var edges = EdgeCursor(dependenciesOf: id, in: graph)
    while let edge = edges.next(in: graph) {
      guard let ending = ending(of: edge.from) else {
        if !(edge.condition.waitsForReadiness && isAnnounced(edge.from)) { count += 1 }
        continue
      }
      if !isFirst, edge.condition.effect(of: ending) == .skips {
        noteUnneeded(id, because: edge.from)
      }
    }
    return count
  }

  /// Lets an operation that still waits for others wait for this one again, too.
  private mutating func waitAgain(for id: OperationID, besides reopened: Set<OperationID>) {
    var edges = EdgeCursor(dependentsOf: id, in: graph)
    while let edge = edges.next(in: graph) {
      if records[edge.to.index].state == .waiting, !reopened.contains(edge.to) {
        unmetCounts[edge.to.index] += 1
      }
    }
  }

  /// Gives operations another priority, which everything that they wait for inherits. Linear in the graph.
  package mutating func changePriority(_ priority: Int16, of ids: [OperationID]) {
    for id in ids { graph.setPriority(priority, of: id) }
    let keys = ranking.keys(of: graph, order: graph.dependenciesFirst())
    for index in records.indices
    where records[index].key != keys[index] && !records[index].state.hasEnded
      && !promised.contains(OperationID(index))
    {
      records[index].key = keys[index]
      if records[index].state == .ready { rerank(OperationID(index)) }
    }
  }
}
