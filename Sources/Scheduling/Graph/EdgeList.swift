// The edges of one operation, walked in place: as a sequence for everyone, and as a cursor that holds
// no part of the graph for those who change it or cannot afford to.

/// Edges into or out of one operation, in the order they were added. Walking allocates nothing.
package struct EdgeList: Sequence, Sendable {
  enum Direction: Sendable { case out, into }

  private let links: [Graph.Link]
  private let conditions: [EdgeCondition]
  private let last: Int32
  private let direction: Direction

  init(_ graph: Graph, last: Int32, _ direction: Direction) {
    links = graph.links
    conditions = graph.conditions
    self.last = last
    self.direction = direction
  }

  package var isEmpty: Bool { last == Graph.none }

  package var first: Graph.Edge? {
    var iterator = makeIterator()
    return iterator.next()
  }

  /// Linear.
  package var count: Int { reduce(0) { count, _ in count + 1 } }

  package func makeIterator() -> Iterator { Iterator(self) }

  package struct Iterator: IteratorProtocol {
    private let list: EdgeList
    private var place: Int32

    init(_ list: EdgeList) {
      self.list = list
      place = list.isEmpty ? Graph.none : list.place(after: list.last)
    }

    package mutating func next() -> Graph.Edge? {
      if place == Graph.none { return nil }
      let link = list.links[Int(place)]
      let condition = list.conditions[Int(place)]
      place = place == list.last ? Graph.none : list.place(after: place)
      return Graph.Edge(from: link.dependency, to: link.dependent, condition: condition)
    }
  }

  private func place(after edge: Int32) -> Int32 {
    switch direction {
    case .out: links[Int(edge)].nextOut
    case .into: links[Int(edge)].nextIn
    }
  }
}

extension Graph {
  /// Edges into the operation, in the order they were added.
  package func dependencies(of id: OperationID) -> EdgeList {
    EdgeList(self, last: lastIn[id.index], .into)
  }

  /// Edges out of the operation, in the order they were added.
  package func dependents(of id: OperationID) -> EdgeList {
    EdgeList(self, last: lastOut[id.index], .out)
  }
}

/// Walks the edges of one operation; the graph is given anew for each step.
struct EdgeCursor {
  private var place: Int32
  private let last: Int32
  private let direction: EdgeList.Direction

  init(dependentsOf id: OperationID, in graph: Graph) {
    last = graph.lastOut[id.index]
    place = last == Graph.none ? last : graph.links[Int(last)].nextOut
    direction = .out
  }

  init(dependenciesOf id: OperationID, in graph: Graph) {
    last = graph.lastIn[id.index]
    place = last == Graph.none ? last : graph.links[Int(last)].nextIn
    direction = .into
  }

  mutating func next(in graph: Graph) -> Graph.Edge? {
    if place == Graph.none { return nil }
    let link = graph.links[Int(place)]
    let condition = graph.conditions[Int(place)]
    if place == last {
      place = Graph.none
    } else {
      place = direction == .out ? link.nextOut : link.nextIn
    }
    return Graph.Edge(from: link.dependency, to: link.dependent, condition: condition)
  }
}

extension Graph.Link {
  var dependency: OperationID { OperationID(Int(from)) }
  var dependent: OperationID { OperationID(Int(to)) }
}
