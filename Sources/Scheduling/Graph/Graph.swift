// The graph of operations: flat columns and one array of edges, appended to. Places of what was
// removed are used again.
//
// Each edge is in two circular lists, that of its dependency and that of its dependent; an operation
// knows the last edge of each, so that appending is one step and the first is one step away.

/// Operations and the edges between them.
///
/// About 27 bytes per operation and 17 per edge.
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

  /// The ends of an edge, and the edges after it in the lists of both.
  struct Link {
    var from: Int32
    var to: Int32
    var nextOut: Int32
    var nextIn: Int32
  }

  static let none: Int32 = -1

  private(set) var queues: [QueueID] = []
  private(set) var priorities: [Int16] = []
  /// Negative where nothing is known.
  private(set) var durations: [Nanoseconds] = []
  /// Indices into `claimSets`.
  private(set) var claimSetIndices: [Int32] = []
  private(set) var gates: [Bool] = []
  /// The distinct sets of claims, sorted by pool; the first is empty.
  private(set) var claimSets: [[Claim]] = [[]]
  private var claimSetNumbers: [[Claim]: Int32] = [:]

  var lastOut: [Int32] = []
  var lastIn: [Int32] = []
  var links: [Link] = []
  var conditions: [EdgeCondition] = []
  /// Every edge goes from a smaller id to a larger one: file order is a topological order.
  private(set) var isInFileOrder = true
  /// Ids and edges to be used again.
  var vacantIDs: [OperationID] = []
  var vacantLinks: [Int32] = []

  package init() {}

  /// Avoids the slack of growing; both counts may be estimates.
  package mutating func reserveCapacity(operations: Int, edges: Int) {
    queues.reserveCapacity(operations)
    priorities.reserveCapacity(operations)
    durations.reserveCapacity(operations)
    claimSetIndices.reserveCapacity(operations)
    gates.reserveCapacity(operations)
    lastOut.reserveCapacity(operations)
    lastIn.reserveCapacity(operations)
    links.reserveCapacity(edges)
    conditions.reserveCapacity(edges)
  }

  /// One more than the largest id.
  package var count: Int { queues.count }

  package var edgeCount: Int { links.count - vacantLinks.count }

  /// Claims come back sorted by pool, one for each.
  package subscript(id: OperationID) -> OperationSpec {
    var spec = OperationSpec()
    spec.queue = queues[id.index]
    spec.priority = priorities[id.index]
    spec.expected = durations[id.index] < 0 ? nil : durations[id.index]
    spec.claims = claimSets[Int(claimSetIndices[id.index])]
    spec.isGated = gates[id.index]
    return spec
  }

  package func queue(of id: OperationID) -> QueueID { queues[id.index] }

  package func priority(of id: OperationID) -> Int16 { priorities[id.index] }

  package func expected(of id: OperationID) -> Nanoseconds? {
    durations[id.index] < 0 ? nil : durations[id.index]
  }

  @discardableResult
  package mutating func append(_ spec: OperationSpec) -> OperationID {
    let duration = spec.expected.map { max($0, 0) } ?? -1
    let claimSet = claimSetNumber(of: spec.claims)
    if let id = vacantIDs.popLast() {
      queues[id.index] = spec.queue
      priorities[id.index] = spec.priority
      durations[id.index] = duration
      claimSetIndices[id.index] = claimSet
      gates[id.index] = spec.isGated
      return id
    }
    precondition(count < Int(Int32.max), "more operations than an id can count")
    queues.append(spec.queue)
    priorities.append(spec.priority)
    durations.append(duration)
    claimSetIndices.append(claimSet)
    gates.append(spec.isGated)
    lastOut.append(Graph.none)
    lastIn.append(Graph.none)
    return OperationID(count - 1)
  }

  package mutating func addEdge(
    from dependency: OperationID, to dependent: OperationID, when condition: EdgeCondition
  ) {
    let edge = vacantLinks.popLast() ?? Int32(links.count)
    var link = Link(from: dependency.rawValue, to: dependent.rawValue, nextOut: edge, nextIn: edge)
    let previousOut = lastOut[dependency.index]
    if previousOut != Graph.none {
      link.nextOut = links[Int(previousOut)].nextOut
      links[Int(previousOut)].nextOut = edge
    }
    let previousIn = lastIn[dependent.index]
    if previousIn != Graph.none {
      link.nextIn = links[Int(previousIn)].nextIn
      links[Int(previousIn)].nextIn = edge
    }
    store(link, condition, at: Int(edge))
    lastOut[dependency.index] = edge
    lastIn[dependent.index] = edge
    if dependency >= dependent { isInFileOrder = false }
  }

  private mutating func store(_ link: Link, _ condition: EdgeCondition, at place: Int) {
    if place < links.count {
      links[place] = link
      conditions[place] = condition
    } else {
      links.append(link)
      conditions.append(condition)
    }
  }

  /// Before the graph runs.
  package mutating func setGated(_ id: OperationID) { gates[id.index] = true }

  mutating func setPriority(_ priority: Int16, of id: OperationID) {
    priorities[id.index] = priority
  }

  /// Equal sets of claims share one number: what is in one pool for many is stored once.
  private mutating func claimSetNumber(of claims: [Claim]) -> Int32 {
    if claims.isEmpty { return 0 }
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
  /// Sorted by pool, one claim for each, none of nothing.
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
