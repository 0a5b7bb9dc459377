// The edges of one operation, walked in place: as a sequence for general use, and as a cursor that
// holds no part of the graph for code that changes it.

/// Edges into or out of one operation, in the order they were added. Walking allocates nothing.
package struct EdgeList: Sequence, Sendable {
  private let links: [Graph.Link]
  private let conditions: [EdgeCondition]
  private let start: EdgeCursor

  fileprivate init(_ graph: Graph, _ start: EdgeCursor) {
    links = start.links(of: graph)
    conditions = graph.conditions
    self.start = start
  }

  package var first: Graph.Edge? {
    var iterator = makeIterator()
    return iterator.next()
  }

  package var isEmpty: Bool { first == nil }

  /// The number of edges. Linear.
  package var count: Int { reduce(0) { count, _ in count + 1 } }

  package func makeIterator() -> Iterator { Iterator(self) }

  package struct Iterator: IteratorProtocol {
    private let list: EdgeList
    private var cursor: EdgeCursor

    fileprivate init(_ list: EdgeList) {
      self.list = list
      cursor = list.start
    }

    package mutating func next() -> Graph.Edge? { cursor.next(list.links, list.conditions) }
  }
}

/// Walks the edges of one operation; the graph is passed in for each step.
struct EdgeCursor: Sendable {
  /// The edge before the next one: the lists are circular.
  private var previous: Int32
  private let last: Int32
  private let id: OperationID
  private let isOut: Bool
  private var isAtEnd: Bool

  init(dependentsOf id: OperationID, in graph: Graph) {
    self.init(id, last: graph.nodes[id.index].lastOut, isOut: true)
  }

  init(dependenciesOf id: OperationID, in graph: Graph) {
    self.init(id, last: graph.nodes[id.index].lastIn, isOut: false)
  }

  private init(_ id: OperationID, last: Int32, isOut: Bool) {
    previous = last
    self.last = last
    self.id = id
    self.isOut = isOut
    isAtEnd = last == Graph.none
  }

  /// The links between which `next` goes.
  fileprivate func links(of graph: Graph) -> [Graph.Link] { isOut ? graph.linksOut : graph.linksIn }

  @inline(__always)
  mutating func next(in graph: Graph) -> Graph.Edge? {
    isOut ? next(graph.linksOut, graph.conditions) : next(graph.linksIn, graph.conditions)
  }

  /// The next edge. Skips edges whose other end was removed.
  @inline(__always)
  fileprivate mutating func next(
    _ links: [Graph.Link], _ conditions: [EdgeCondition]
  ) -> Graph.Edge? {
    while !isAtEnd {
      let place = links[Int(previous)].next
      previous = place
      isAtEnd = place == last
      let end = links[Int(place)].end
      if end == Graph.none { continue }
      let other = OperationID(Int(end))
      return Graph.Edge(
        from: isOut ? id : other, to: isOut ? other : id, condition: conditions[Int(place)])
    }
    return nil
  }
}

extension Graph {
  /// Edges into the operation, in the order they were added.
  package func dependencies(of id: OperationID) -> EdgeList {
    EdgeList(self, EdgeCursor(dependenciesOf: id, in: self))
  }

  /// Edges out of the operation, in the order they were added.
  package func dependents(of id: OperationID) -> EdgeList {
    EdgeList(self, EdgeCursor(dependentsOf: id, in: self))
  }

  /// Calls `body` with the edges into the operation, in the order they were added. This is for
  /// loops over a whole graph, where making a list for each operation would cost more than walking
  /// it.
  package func forEachDependency(of id: OperationID, _ body: (Edge) -> Void) {
    var cursor = EdgeCursor(dependenciesOf: id, in: self)
    while let edge = cursor.next(in: self) { body(edge) }
  }

  /// Replaces the contents of the list by the operations that this one waits for. For loops over a
  /// whole graph in other modules: a call for each edge would take longer than the rest.
  package func listDependencies(of id: OperationID, in list: inout [OperationID]) {
    list.removeAll(keepingCapacity: true)
    var cursor = EdgeCursor(dependenciesOf: id, in: self)
    while let edge = cursor.next(in: self) { list.append(edge.from) }
  }

  /// Like `forEachDependency`, for loops that change something outside the graph.
  package func forEachDependency<State>(
    of id: OperationID, changing state: inout State, _ body: (inout State, Edge) -> Void
  ) {
    var cursor = EdgeCursor(dependenciesOf: id, in: self)
    while let edge = cursor.next(in: self) { body(&state, edge) }
  }

  /// Like `forEachDependency`, for edges out of the operation.
  package func forEachDependent(of id: OperationID, _ body: (Edge) -> Void) {
    var cursor = EdgeCursor(dependentsOf: id, in: self)
    while let edge = cursor.next(in: self) { body(edge) }
  }
}
