// Steps that wait for each other: whether there are any, and the shortest circle of them.

import Diagnostics

/// Looks for a cycle among the edges of a pipeline.
struct CycleSearch {
  /// Edges looked at before the shortest cycle found so far is good enough. Finding the shortest
  /// one for certain takes a search from every step in a circle.
  private static let budget = 20_000_000

  /// For each step, the range of its edges in `targets`.
  private var starts: [Int32] = [0]
  private var targets: [Int32] = []
  /// Index in the model's dependencies; −1 is `sequence`.
  private var origins: [Int32] = []

  init(_ edges: Edges, of model: PipelineModel) {
    for step in model.steps.indices {
      edges.forEach(into: step, of: model) { edge in
        targets.append(Int32(truncatingIfNeeded: edge.target))
        origins.append(edge.dependency.map { Int32(truncatingIfNeeded: $0) } ?? -1)
      }
      starts.append(Int32(truncatingIfNeeded: targets.count))
    }
  }

  /// One edge of a cycle: the step waits for the next one.
  struct Link {
    let step: Int
    /// Index in the model's dependencies; nil is `sequence`.
    let dependency: Int?
  }

  /// The shortest cycle, from its first step in the file on; nil if there is none.
  func shortestCycle() -> [Link]? {
    let suspects = stepsThatNeverStart()
    guard suspects.contains(true) else { return nil }
    var best: [Link]?
    var work = 0
    var search = BreadthFirst(stepCount: suspects.count)
    for start in suspects.indices where suspects[start] {
      let limit = best.map { $0.count - 1 } ?? Int.max
      if limit == 0 || (work > Self.budget && best != nil) { break }
      if let found = cycle(through: start, upTo: limit, among: suspects, &search, &work) {
        best = found
      }
    }
    return best.map(startingFirst)
  }

  /// Kahn's algorithm: what is left is in a cycle or waits for one.
  private func stepsThatNeverStart() -> [Bool] {
    let count = starts.count - 1
    var waiting = (0..<count).map { starts[$0 + 1] - starts[$0] }
    let dependents = Dependents(targets: targets, starts: starts)
    var ready = (0..<count).filter { waiting[$0] == 0 }
    var isLeft = [Bool](repeating: true, count: count)
    while let step = ready.popLast() {
      isLeft[step] = false
      for dependent in dependents[step] {
        waiting[Int(dependent)] -= 1
        if waiting[Int(dependent)] == 0 { ready.append(Int(dependent)) }
      }
    }
    return isLeft
  }

  private func cycle(
    through start: Int, upTo limit: Int, among suspects: [Bool], _ search: inout BreadthFirst,
    _ work: inout Int
  ) -> [Link]? {
    search.begin(at: start)
    while let (step, distance) = search.next(), distance < limit {
      for edge in Int(starts[step])..<Int(starts[step + 1]) {
        work += 1
        let target = Int(targets[edge])
        if target == start { return links(from: search.path(to: step), lastEdge: edge) }
        if suspects[target] { search.visit(target, from: step, edge: edge) }
      }
    }
    return nil
  }

  private func links(from path: [(step: Int, edge: Int)], lastEdge: Int) -> [Link] {
    path.indices.map { index in
      let edge = index + 1 < path.count ? path[index + 1].edge : lastEdge
      return Link(step: path[index].step, dependency: origins[edge] < 0 ? nil : Int(origins[edge]))
    }
  }

  private func startingFirst(_ cycle: [Link]) -> [Link] {
    let first = cycle.indices.min { cycle[$0].step < cycle[$1].step } ?? 0
    return Array(cycle[first...] + cycle[..<first])
  }
}

/// The edges the other way round.
private struct Dependents {
  private var starts: [Int32]
  private var dependents: [Int32]

  init(targets: [Int32], starts edgeStarts: [Int32]) {
    let count = edgeStarts.count - 1
    starts = [Int32](repeating: 0, count: count + 1)
    dependents = [Int32](repeating: 0, count: targets.count)
    for target in targets { starts[Int(target) + 1] += 1 }
    for step in 0..<count { starts[step + 1] += starts[step] }
    var next = starts
    for step in 0..<count {
      for edge in Int(edgeStarts[step])..<Int(edgeStarts[step + 1]) {
        let target = Int(targets[edge])
        dependents[Int(next[target])] = Int32(truncatingIfNeeded: step)
        next[target] += 1
      }
    }
  }

  subscript(step: Int) -> ArraySlice<Int32> {
    dependents[Int(starts[step])..<Int(starts[step + 1])]
  }
}

/// A breadth-first search that can begin again without clearing its memory.
private struct BreadthFirst {
  private struct Visit {
    var round = 0
    var distance: Int32 = 0
    var previous: Int32 = -1
    var edge: Int32 = -1
  }

  private var visits: [Visit]
  private var queue: [Int] = []
  private var head = 0
  private var round = 0

  init(stepCount: Int) { visits = [Visit](repeating: Visit(), count: stepCount) }

  mutating func begin(at start: Int) {
    round += 1
    queue.removeAll(keepingCapacity: true)
    head = 0
    visits[start] = Visit(round: round, distance: 1)
    queue.append(start)
  }

  mutating func next() -> (step: Int, distance: Int)? {
    guard head < queue.count else { return nil }
    head += 1
    return (queue[head - 1], Int(visits[queue[head - 1]].distance))
  }

  mutating func visit(_ step: Int, from previous: Int, edge: Int) {
    guard visits[step].round != round else { return }
    visits[step] = Visit(
      round: round, distance: visits[previous].distance + 1,
      previous: Int32(truncatingIfNeeded: previous), edge: Int32(truncatingIfNeeded: edge))
    queue.append(step)
  }

  /// The steps from the start to this one, each with the edge that led to it.
  func path(to step: Int) -> [(step: Int, edge: Int)] {
    var path: [(step: Int, edge: Int)] = []
    var current = step
    while current >= 0 {
      path.append((current, Int(visits[current].edge)))
      current = Int(visits[current].previous)
    }
    return path.reversed()
  }
}
