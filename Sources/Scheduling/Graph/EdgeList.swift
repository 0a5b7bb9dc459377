// The edges of one operation, walked in place.

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
      return Graph.Edge(
        from: OperationID(Int(link.from)), to: OperationID(Int(link.to)), condition: condition)
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
