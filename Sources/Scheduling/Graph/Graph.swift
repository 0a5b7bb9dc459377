// The graph of operations: flat arrays, appended to and never changed.

/// Operations and the edges between them.
package struct Graph: Sendable {
  package struct Edge: Hashable, Sendable {
    package let from: OperationID
    package let to: OperationID
    package let condition: EdgeCondition
  }

  private var specs: [OperationSpec] = []
  private var edges: [Edge] = []

  package init() {}

  package var count: Int { specs.count }

  package subscript(id: OperationID) -> OperationSpec { specs[id.index] }

  package mutating func append(_ spec: OperationSpec) -> OperationID {
    specs.append(spec)
    return OperationID(specs.count - 1)
  }

  package mutating func addEdge(
    from dependency: OperationID, to dependent: OperationID, when condition: EdgeCondition
  ) {
    edges.append(Edge(from: dependency, to: dependent, condition: condition))
  }

  /// Edges into the operation, in the order they were added.
  package func dependencies(of id: OperationID) -> [Edge] { edges.filter { $0.to == id } }

  /// Edges out of the operation, in the order they were added.
  package func dependents(of id: OperationID) -> [Edge] { edges.filter { $0.from == id } }
}
