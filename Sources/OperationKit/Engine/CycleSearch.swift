// Searches for a cycle through one operation. It does not know what is done about it.

internal import Scheduling

/// A breadth-first search over dependencies, and over dependents to know when it is pointless: in
/// turn, until either side has seen everything it can reach. So it costs twice the smaller side.
struct CycleSearch {
  private struct Mark {
    /// The number of the search that has seen the operation from above, or from below.
    var seenUpward: UInt32 = 0
    var seenDownward: UInt32 = 0
    var cameFrom: Int32 = -1
  }

  /// One mark for each operation; as many as there were operations at the same time since the first
  /// search.
  private var marks: [Mark] = []
  private var number: UInt32 = 0
  private var upward: [OperationID] = []
  private var downward: [OperationID] = []
  private var start = OperationID(0)
  private var end: OperationID?
  private var cycleIsCertain = false
  /// The number of edges that may be visited.
  var limit = 0
  private(set) var stepCount = 0

  /// The shortest way from the operation back to itself, along what it waits for, itself first;
  /// empty if there is none, nil if the search would take too long.
  mutating func run(from start: OperationID, in graph: Graph) -> [OperationID]? {
    begin(at: start, graph.count)
    var step = 0
    while step < upward.count {
      if stepCount > limit { return nil }
      lookUp(from: upward[step], graph)
      if let end { return path(to: end) }
      if !cycleIsCertain {
        guard step < downward.count else { return [] }
        lookDown(from: downward[step], graph)
      }
      step += 1
    }
    return []
  }

  private mutating func begin(at start: OperationID, _ count: Int) {
    if marks.count < count {
      marks.append(contentsOf: repeatElement(Mark(), count: count - marks.count))
    }
    if number == .max {
      for index in marks.indices { marks[index] = Mark() }
      number = 0
    }
    number += 1
    stepCount = 0
    cycleIsCertain = false
    self.start = start
    end = nil
    upward.removeAll(keepingCapacity: upward.count < 1024)
    downward.removeAll(keepingCapacity: downward.count < 1024)
    upward.append(start)
    downward.append(start)
    marks[start.index].seenDownward = number
  }

  private mutating func lookUp(from id: OperationID, _ graph: Graph) {
    graph.forEachDependency(of: id) { edge in
      stepCount += 1
      if edge.from == start {
        if end == nil { end = id }
      } else if marks[edge.from.index].seenUpward != number {
        marks[edge.from.index].seenUpward = number
        marks[edge.from.index].cameFrom = id.rawValue
        upward.append(edge.from)
      }
    }
  }

  private mutating func lookDown(from id: OperationID, _ graph: Graph) {
    graph.forEachDependent(of: id) { edge in
      stepCount += 1
      if edge.to == start { cycleIsCertain = true }
      if marks[edge.to.index].seenDownward != number {
        marks[edge.to.index].seenDownward = number
        downward.append(edge.to)
      }
    }
  }

  private func path(to end: OperationID) -> [OperationID] {
    var path = [end]
    while let id = path.last, id != start {
      path.append(OperationID(Int(marks[id.index].cameFrom)))
    }
    return path.reversed()
  }
}
