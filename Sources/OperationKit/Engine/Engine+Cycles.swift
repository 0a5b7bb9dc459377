// Operations that wait for each other in a circle: looked for when one is added that others wait
// for already, since only that can close a circle.

internal import Scheduling

extension Engine {
  /// Under the lock. What is found is told when that is free.
  func lookForCircle(through id: OperationID) {
    let circle = findCycle(through: id)
    if !circle.isEmpty { affairs.append(.circle(circle)) }
  }

  /// The shortest way from an operation back to itself, along what it waits for, itself first; empty
  /// if there is none. The search goes over operations that are in queues, in both directions in turn, and ends
  /// when either side has seen all it can reach: so it costs twice the smaller side.
  private func findCycle(through start: OperationID) -> [Operation] {
    guard mayBeOnCycle(start) else { return [] }
    var search = CycleSearch(start, in: scheduler.pointee.graph)
    return search.run().compactMap { members[$0.index].operation }
  }

  private func mayBeOnCycle(_ id: OperationID) -> Bool {
    scheduler.pointee.hasDependents(id) && !scheduler.pointee.graph.dependencies(of: id).isEmpty
  }
}

/// Breadth first over dependencies, and over dependents to know when there is no use.
private struct CycleSearch {
  private let graph: Graph
  private let start: OperationID
  private var cameFrom: [OperationID: OperationID] = [:]
  private var upward: [OperationID]
  private var downward: [OperationID]
  private var seenDownward: Set<OperationID>
  private var circleIsCertain = false

  init(_ start: OperationID, in graph: Graph) {
    self.graph = graph
    self.start = start
    upward = [start]
    downward = [start]
    seenDownward = [start]
  }

  mutating func run() -> [OperationID] {
    var step = 0
    while step < upward.count {
      if let end = lookUp(from: upward[step]) { return path(to: end) }
      if !circleIsCertain {
        guard step < downward.count else { return [] }
        lookDown(from: downward[step])
      }
      step += 1
    }
    return []
  }

  /// The operation itself, if it waits for the start.
  private mutating func lookUp(from id: OperationID) -> OperationID? {
    for edge in graph.dependencies(of: id) {
      if edge.from == start { return id }
      if cameFrom[edge.from] == nil {
        cameFrom[edge.from] = id
        upward.append(edge.from)
      }
    }
    return nil
  }

  private mutating func lookDown(from id: OperationID) {
    for edge in graph.dependents(of: id) {
      if edge.to == start { circleIsCertain = true }
      if seenDownward.insert(edge.to).inserted { downward.append(edge.to) }
    }
  }

  private func path(to end: OperationID) -> [OperationID] {
    var path = [end]
    while let id = path.last, id != start, let before = cameFrom[id] { path.append(before) }
    return path.reversed()
  }
}
