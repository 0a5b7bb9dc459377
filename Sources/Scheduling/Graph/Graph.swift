// The graph of operations: one array of operations, and for edges one array for each direction in which they
// are followed, appended to. Slots of removed elements are reused.
//
// Each edge is in two circular lists, that of its dependency and that of its dependent; an
// operation knows the last edge of each, so both appending an edge and finding the first one take
// one step.

/// Operations and the edges between them.
///
/// About 32 bytes per operation and 17 per edge.
package struct Graph: Sendable {
  package struct Edge: Hashable, Sendable {
    package let from: OperationID
    package let to: OperationID
    package let condition: EdgeCondition

    package init(from: OperationID, to: OperationID, condition: EdgeCondition) {
      self.from = from
      self.to = to
      self.condition = condition
    }
  }

  /// An operation; fields that are used together are adjacent in memory.
  struct Node {
    /// The expected duration; negative if it is unknown.
    var duration: Nanoseconds
    var queue: QueueID
    /// An index into `claimSets`.
    var claimSet: Int32
    var lastOut = Graph.none
    var lastIn = Graph.none
    var priority: Int16
    var isGated: Bool
    var takesSlot: Bool
  }

  /// An edge as one of its ends sees it.
  struct Link {
    /// The operation at the other end; `none` once the edge is cut off there.
    var end: Int32
    /// The edge after this one in the list of this end.
    var next: Int32
  }

  static let none: Int32 = -1

  var nodes: [Node] = []
  /// The distinct sets of claims, sorted by pool; the first is empty.
  private(set) var claimSets: [[Claim]] = [[]]
  private var claimSetNumbers: [[Claim]: Int32] = [:]

  /// Edges from their dependencies. Nearly all code follows edges in one direction only: it does not read what
  /// the other one needs, which would fill the caches of a processor.
  var linksOut: [Link] = []
  /// The same edges from their dependents.
  var linksIn: [Link] = []
  var conditions: [EdgeCondition] = []
  /// True if every edge goes from a smaller id to a larger one: file order is a topological order.
  private(set) var isInFileOrder = true
  /// True if some operations take no slot.
  package private(set) var hasServices = false
  /// Ids and edges that can be reused.
  var vacantIDs: [OperationID] = []
  var vacantLinks: [Int32] = []

  package init() {}

  /// Avoids the unused capacity that growing arrays leave; both counts may be estimates.
  package mutating func reserveCapacity(operations: Int, edges: Int) {
    nodes.reserveCapacity(operations)
    linksOut.reserveCapacity(edges)
    linksIn.reserveCapacity(edges)
    conditions.reserveCapacity(edges)
  }

  /// One more than the largest id.
  package var count: Int { nodes.count }

  package var edgeCount: Int { conditions.count - vacantLinks.count }

  /// The specification of an operation. Claims are returned sorted by pool, one for each.
  package subscript(id: OperationID) -> OperationSpec {
    let node = nodes[id.index]
    var spec = OperationSpec()
    spec.queue = node.queue
    spec.priority = node.priority
    spec.expected = node.duration < 0 ? nil : node.duration
    spec.claims = claimSets[Int(node.claimSet)]
    spec.isGated = node.isGated
    spec.takesSlot = node.takesSlot
    return spec
  }

  package func queue(of id: OperationID) -> QueueID { nodes[id.index].queue }

  package func takesSlot(_ id: OperationID) -> Bool { nodes[id.index].takesSlot }

  package func priority(of id: OperationID) -> Int16 { nodes[id.index].priority }

  package func expected(of id: OperationID) -> Nanoseconds? {
    nodes[id.index].duration < 0 ? nil : nodes[id.index].duration
  }

  @discardableResult
  package mutating func append(_ spec: OperationSpec) -> OperationID {
    let node = Node(
      duration: spec.expected.map { max($0, 0) } ?? -1, queue: spec.queue,
      claimSet: spec.claims.isEmpty ? 0 : claimSetNumber(of: spec.claims),
      priority: spec.priority, isGated: spec.isGated, takesSlot: spec.takesSlot)
    if !spec.takesSlot { hasServices = true }
    if let id = vacantIDs.popLast() {
      nodes[id.index] = node
      return id
    }
    precondition(count < Int(Int32.max), "more operations than an id can count")
    nodes.append(node)
    return OperationID(count - 1)
  }

  package mutating func addEdge(
    from dependency: OperationID, to dependent: OperationID, when condition: EdgeCondition
  ) {
    let edge = vacantLinks.popLast() ?? Int32(conditions.count)
    var out = Link(end: dependent.rawValue, next: edge)
    let previousOut = nodes[dependency.index].lastOut
    if previousOut != Graph.none {
      out.next = linksOut[Int(previousOut)].next
      linksOut[Int(previousOut)].next = edge
    }
    var into = Link(end: dependency.rawValue, next: edge)
    let previousIn = nodes[dependent.index].lastIn
    if previousIn != Graph.none {
      into.next = linksIn[Int(previousIn)].next
      linksIn[Int(previousIn)].next = edge
    }
    if Int(edge) < conditions.count {
      linksOut[Int(edge)] = out
      linksIn[Int(edge)] = into
      conditions[Int(edge)] = condition
    } else {
      linksOut.append(out)
      linksIn.append(into)
      conditions.append(condition)
    }
    nodes[dependency.index].lastOut = edge
    nodes[dependent.index].lastIn = edge
    if dependency >= dependent { isInFileOrder = false }
  }

  /// The ends of all edges that are not cut off at either end.
  var edgeEnds: some Sequence<(from: Int, to: Int)> {
    zip(linksIn, linksOut).lazy
      .filter { $0.end != Graph.none && $1.end != Graph.none }
      .map { (from: Int($0.end), to: Int($1.end)) }
  }

  /// Makes an operation gated. Call it only before the graph runs.
  package mutating func setGated(_ id: OperationID) {
    // To write what is there already would copy a graph that is shared.
    if !nodes[id.index].isGated { nodes[id.index].isGated = true }
  }

  /// Makes a service an ordinary operation, which takes a slot. Call it only before the graph runs.
  package mutating func setTakesSlot(_ id: OperationID) { nodes[id.index].takesSlot = true }

  /// Sets how long an operation usually takes. Call it only before the graph runs.
  package mutating func setExpected(_ duration: Nanoseconds, of id: OperationID) {
    nodes[id.index].duration = max(duration, 0)
  }

  mutating func setPriority(_ priority: Int16, of id: OperationID) {
    nodes[id.index].priority = priority
  }

  /// The number of a set of claims. Equal sets share one number, so a set that many operations have
  /// is stored once.
  private mutating func claimSetNumber(of claims: [Claim]) -> Int32 {
    let canonical = Claim.canonical(claims)
    if canonical.isEmpty { return 0 }
    if let number = claimSetNumbers[canonical] { return number }
    let number = Int32(claimSets.count)
    claimSets.append(canonical)
    claimSetNumbers[canonical] = number
    return number
  }
}

extension Claim {
  /// The claims sorted by pool, one for each pool, without those of amount 0.
  static func canonical(_ claims: [Claim]) -> [Claim] {
    if claims.count == 1 { return claims[0].amount > 0 ? claims : [] }
    var result: [Claim] = []
    for claim in claims.sorted(by: { $0.pool.rawValue < $1.pool.rawValue }) where claim.amount > 0 {
      if let last = result.last, last.pool == claim.pool {
        result[result.count - 1] = Claim(claim.pool, amount: last.amount + claim.amount)
      } else {
        result.append(claim)
      }
    }
    return result
  }
}
