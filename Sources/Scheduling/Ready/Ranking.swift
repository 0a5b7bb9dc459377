// Computes the ranks of a whole graph, by one pass from the last operations to the first.

/// How much each operation adds to the remaining path, and the keys that result from it.
struct Ranking: Sendable {
  /// False if no operation of the graph has an expected duration; each then counts as one step.
  private let usesDurations: Bool
  /// The weight of an operation without an expected duration: the mean of the known ones, or 1.
  private let unknownWeight: Nanoseconds

  init(_ graph: Graph) {
    var knownCount = 0
    var sum: Int128 = 0
    for duration in graph.nodes.lazy.map(\.duration) where duration >= 0 {
      knownCount += 1
      sum += Int128(min(duration, Rank.longestPath))
    }
    usesDurations = knownCount > 0
    unknownWeight = knownCount > 0 ? max(1, Int64(sum / Int128(knownCount))) : 1
  }

  func weight(of duration: Nanoseconds) -> Nanoseconds {
    usesDurations && duration >= 0 ? min(duration, Rank.longestPath) : unknownWeight
  }

  /// The key of an operation that nothing waits for yet.
  func key(priority: Int16, duration: Nanoseconds) -> Int64 {
    Rank.key(priority: priority, path: weight(of: duration))
  }

  /// The key of an operation once another that waits for it has the key `dependent`.
  func key(_ key: Int64, duration: Nanoseconds, raisedBy dependent: Int64) -> Int64 {
    let path = min(Rank.path(ofKey: dependent) + weight(of: duration), Rank.longestPath)
    return Rank.key(
      priority: max(Rank.priority(ofKey: key), Rank.priority(ofKey: dependent)),
      path: max(Rank.path(ofKey: key), path))
  }

  /// The key of every operation. `order` has dependencies first.
  func keys(of graph: Graph, order: [Int32]) -> [Int64] {
    var keys = graph.nodes.map { key(priority: $0.priority, duration: $0.duration) }
    for index in order.reversed() {
      var edges = EdgeCursor(dependenciesOf: OperationID(Int(index)), in: graph)
      while let edge = edges.next(in: graph) {
        let dependency = edge.from.index
        keys[dependency] = key(
          keys[dependency], duration: graph.nodes[dependency].duration, raisedBy: keys[Int(index)])
      }
    }
    return keys
  }
}
