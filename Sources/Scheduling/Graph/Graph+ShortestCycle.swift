// Finds the shortest cycle of a graph, for the message that refuses it.
//
// Operations that cannot be on a cycle are removed first: repeatedly, those without remaining
// dependencies or without remaining dependents. A breadth-first search finds the shortest way from
// the smallest remaining one back to itself, no deeper than the best so far; then that one is
// removed too, with everything that can no longer be on a cycle. So one large cycle costs one
// search.

extension Graph {
  /// The shortest cycle in "waits for" order: in `[a, b, c]` a depends on b, b on c and c on a. It
  /// starts at its smallest id; of equally short ones, the one with the smallest start is returned.
  ///
  /// Nil, after a linear pass, if there is no cycle. In graphs made of very many long cycles the
  /// search ends after some 50 million edges, and the shortest one found by then is returned.
  package func shortestCycle() -> [OperationID]? {
    if isInFileOrder { return nil }
    var search = CycleSearch(self)
    return search.run()
  }

  /// The shortest cycle, then the shortest without its operations, and so on: no two have an operation in
  /// common.
  package func separateCycles(atMost limit: Int) -> [[OperationID]] {
    var cycles: [[OperationID]] = []
    while !isInFileOrder, cycles.count < limit {
      var search = CycleSearch(self, without: cycles.joined())
      guard let cycle = search.run() else { break }
      cycles.append(cycle)
      if search.isExhausted { break }
    }
    return cycles
  }
}

extension Graph {
  /// A shortest cycle through one of the operations, in "waits for" order; nil if there is none.
  /// Other operations may have been removed.
  ///
  /// Linear if there is none. In graphs made of very many long cycles the search ends after some 50
  /// million edges, with any cycle.
  package func cycle(through candidates: [OperationID]) -> [OperationID]? {
    if isInFileOrder { return nil }
    var search = CycleSearch(self)
    return search.run(through: candidates)
  }
}

private struct CycleSearch {
  private static let budget = 50_000_000

  private let graph: Graph
  private var isLeft: [Bool]
  private var dependencies: [Int32]
  private var dependents: [Int32]
  /// The search that last reached each operation, and the previous operation.
  private var reachedIn: [Int32]
  private var reachedFrom: [Int32]
  private var work = 0

  /// True if the budget is used up.
  var isExhausted: Bool { work > CycleSearch.budget }

  init(_ graph: Graph, without removed: some Sequence<OperationID>) {
    self.init(graph)
    for id in removed { takeAway(id.index) }
  }

  init(_ graph: Graph) {
    self.graph = graph
    isLeft = [Bool](repeating: true, count: graph.count)
    dependencies = graph.dependencyCounts()
    dependents = graph.dependentCounts()
    reachedIn = [Int32](repeating: Graph.none, count: graph.count)
    reachedFrom = reachedIn
  }

  mutating func run(through candidates: [OperationID]) -> [OperationID]? {
    takeAwayLooseEnds()
    for id in candidates where isLeft[id.index] {
      if let found = cycle(through: id.index, notLongerThan: graph.count) {
        return found.map { OperationID(Int($0)) }
      }
      if work > CycleSearch.budget {
        return anyCycle(from: id.index).map { OperationID(Int($0)) }
      }
    }
    return nil
  }

  private mutating func takeAwayLooseEnds() {
    for index in 0..<graph.count where dependencies[index] == 0 || dependents[index] == 0 {
      takeAway(index)
    }
  }

  mutating func run() -> [OperationID]? {
    takeAwayLooseEnds()
    guard let start = isLeft.firstIndex(of: true) else { return nil }
    var best = anyCycle(from: start)
    var limit = best.count
    for index in start..<graph.count where isLeft[index] {
      if let found = cycle(through: index, notLongerThan: limit) {
        best = found
        limit = found.count - 1
      }
      if limit == 0 || work > CycleSearch.budget { break }
      takeAway(index)
    }
    return best.map { OperationID(Int($0)) }
  }

  /// Removes an operation, and then all that have no remaining dependency or dependent.
  private mutating func takeAway(_ index: Int) {
    guard isLeft[index] else { return }
    isLeft[index] = false
    var gone = [OperationID(index)]
    while let id = gone.popLast() {
      for edge in graph.dependents(of: id) where isLeft[edge.to.index] {
        dependencies[edge.to.index] -= 1
        if dependencies[edge.to.index] == 0 {
          isLeft[edge.to.index] = false
          gone.append(edge.to)
        }
      }
      for edge in graph.dependencies(of: id) where isLeft[edge.from.index] {
        dependents[edge.from.index] -= 1
        if dependents[edge.from.index] == 0 {
          isLeft[edge.from.index] = false
          gone.append(edge.from)
        }
      }
    }
  }

  /// Walks from dependency to dependency until it reaches an operation for the second time: each
  /// that is left has a dependency that is left.
  private func anyCycle(from start: Int) -> [Int32] {
    var path: [Int32] = []
    var placeInPath = [Int32](repeating: Graph.none, count: graph.count)
    var index = start
    while placeInPath[index] == Graph.none {
      placeInPath[index] = Int32(path.count)
      path.append(Int32(index))
      for edge in graph.dependencies(of: OperationID(index)) where isLeft[edge.from.index] {
        index = edge.from.index
        break
      }
    }
    return Array(path[Int(placeInPath[index])...])
  }

  private mutating func cycle(through start: Int, notLongerThan limit: Int) -> [Int32]? {
    let mark = Int32(start)
    var level = [mark]
    var length = 1
    while length <= limit, !level.isEmpty {
      var nextLevel: [Int32] = []
      for index in level {
        for edge in graph.dependencies(of: OperationID(Int(index))) {
          work += 1
          let dependency = edge.from.index
          if dependency == start { return path(from: start, to: index) }
          guard isLeft[dependency], reachedIn[dependency] != mark else { continue }
          reachedIn[dependency] = mark
          reachedFrom[dependency] = index
          nextLevel.append(edge.from.rawValue)
        }
      }
      if work > CycleSearch.budget { return nil }
      level = nextLevel
      length += 1
    }
    return nil
  }

  private func path(from start: Int, to end: Int32) -> [Int32] {
    var path: [Int32] = []
    var index = end
    while index != Int32(start) {
      path.append(index)
      index = reachedFrom[Int(index)]
    }
    path.append(Int32(start))
    return path.reversed()
  }
}
