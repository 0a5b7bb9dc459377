// An order in which every operation comes after what it depends on.

extension Graph {
  /// Dependencies first; among those that could come next, file order. Nil if there is a cycle.
  ///
  /// Linear if the file is already in order, otherwise `n log n`.
  package func topologicalOrder() -> [OperationID]? {
    if isInFileOrder { return (0..<count).map { OperationID($0) } }
    var unmet = dependencyCounts()
    var places = [Int32](repeating: 0, count: count)
    var ready = RankHeap()
    for index in 0..<count where unmet[index] == 0 {
      ready.insert(Rank(key: 0, item: Int32(index)), &places)
    }
    var order: [OperationID] = []
    order.reserveCapacity(count)
    while let next = ready.first {
      ready.remove(at: 0, &places)
      order.append(OperationID(Int(next.item)))
      for edge in dependents(of: OperationID(Int(next.item))) {
        unmet[edge.to.index] -= 1
        if unmet[edge.to.index] == 0 {
          ready.insert(Rank(key: 0, item: edge.to.rawValue), &places)
        }
      }
    }
    return order.count == count ? order : nil
  }

  /// Dependencies first, in no particular order; shorter than `count` if there is a cycle. Linear.
  package func dependenciesFirst() -> [Int32] {
    if isInFileOrder { return (0..<Int32(count)).map { $0 } }
    var unmet = dependencyCounts()
    var order = (0..<Int32(count)).filter { unmet[Int($0)] == 0 }
    var cursor = 0
    while cursor < order.count {
      for edge in dependents(of: OperationID(Int(order[cursor]))) {
        unmet[edge.to.index] -= 1
        if unmet[edge.to.index] == 0 { order.append(edge.to.rawValue) }
      }
      cursor += 1
    }
    return order
  }

  /// The number of edges into each operation.
  func dependencyCounts() -> [Int32] {
    var counts = [Int32](repeating: 0, count: count)
    for edge in edgeEnds { counts[edge.to] += 1 }
    return counts
  }

  /// The number of edges out of each operation.
  package func dependentCounts() -> [Int32] {
    var counts = [Int32](repeating: 0, count: count)
    for edge in edgeEnds { counts[edge.from] += 1 }
    return counts
  }
}
