// Who runs next, and what an outcome does to those that wait. Pure: it is told what happened and
// answers what to do; it knows no process, clock, thread or name.
//
// This file holds the truth (`states`) and its one door (`move`). Design: docs/design.md,
// "Scheduling".

/// Runs a graph in the mind: the caller starts what `next()` returns and tells how it went.
///
/// Every operation is in one state and ends exactly once. All calls are deterministic.
package struct Scheduler: Sendable {
  /// What the scheduler knows of an operation besides its state.
  struct Record {
    /// Effective priority and remaining path, as in `Rank`.
    var key: Int64
    var sequence: UInt32
    /// Edges that are not satisfied yet.
    var unmetCount: Int32
    var lane: Int32
    /// Once it ended: the operation where the trouble began, itself unless it was blocked.
    var root: Int32
  }

  package internal(set) var graph: Graph
  private(set) var states: [OperationState] = []
  package private(set) var counts = StateCounts()
  private(set) var queueCounts: [StateCounts] = []

  var queues: [Queue] = []
  var records: [Record] = []
  /// Of operations in their lane.
  var places: [Int32] = []
  var lanes: [Lane] = []
  /// Of lanes among the candidates of their queue or in a line.
  var lanePlaces: [Int32] = []
  var laneNumbers: [LaneKey: Int] = [:]
  var rooms: [WaitingRoom] = []
  var lines: [Line] = []
  var lineNumbers: [LineKey: Int] = [:]
  var pools: [Pool]
  /// Queues that may start something, and have something that may start.
  var startableQueues = QueueSet()

  var settlements: [Settlement] = []
  /// Gated operations whose edges are met, since the last `takeReached`.
  private var reached: [OperationID] = []
  private var admittedCount: UInt32 = 0
  let ranking: Ranking
  /// How often a lane is overtaken before it gets a reservation.
  let patience: Int
  /// How many operations above an appended one get a longer remaining path: a chain that is appended
  /// link by link would otherwise cost its length each time.
  let pathReach: Int
  /// False: what an operation waits for keeps the rank of its own.
  let inheritsRank: Bool
  /// Why nothing starts any more; the first reason stays.
  package internal(set) var stopReason: StopReason?

  /// The graph has no cycle, and no claim is larger than its pool. Linear.
  package init(
    graph: Graph, queues: [QueueSpec], pools: [PoolSpec] = [], patience: Int = 16,
    pathReach: Int = 8, inheritsRank: Bool = true
  ) {
    self.graph = graph
    self.patience = patience
    self.pathReach = pathReach
    self.inheritsRank = inheritsRank
    ranking = Ranking(graph)
    self.pools = pools.map { Pool($0) }
    for queue in queues { addQueue(queue) }
    admitAll()
  }

  private mutating func admitAll() {
    let order = graph.dependenciesFirst()
    precondition(order.count == graph.count, "the graph has a cycle")
    let keys = ranking.keys(of: graph, order: order)
    let unmetCounts = graph.dependencyCounts()
    states.reserveCapacity(graph.count)
    records.reserveCapacity(graph.count)
    places.reserveCapacity(graph.count)
    for index in 0..<graph.count {
      admit(OperationID(index), key: keys[index], unmetCount: unmetCounts[index])
    }
    for index in 0..<graph.count where unmetCounts[index] == 0 {
      reach(OperationID(index))
    }
  }

  /// Gives an operation that was just appended to the graph its state: waiting.
  mutating func admit(_ id: OperationID, key: Int64, unmetCount: Int32) {
    let lane = lane(of: id)
    let record = Record(
      key: key, sequence: admittedCount, unmetCount: unmetCount, lane: Int32(lane),
      root: id.rawValue)
    admittedCount &+= 1
    if id.index < states.count {
      records[id.index] = record
      states[id.index] = .waiting
    } else {
      records.append(record)
      places.append(0)
      states.append(.waiting)
    }
    counts.add(1, to: .waiting)
    queueCounts[lanes[lane].queue].add(1, to: .waiting)
  }

  /// Forgets an operation that has ended: memory is bounded by those that are not forgotten. Its id
  /// means nothing from now on, until `append` returns it for another; that holds for the roots of
  /// blocked operations too.
  package mutating func forget(_ id: OperationID) {
    precondition(states[id.index].hasEnded, "only what has ended can be forgotten")
    precondition(records[id.index].lane != Graph.none, "an operation is forgotten once")
    let queue = lanes[Int(records[id.index].lane)].queue
    counts.add(-1, to: states[id.index])
    queueCounts[queue].add(-1, to: states[id.index])
    records[id.index].lane = Graph.none
    graph.remove(id)
  }

  /// The one door: every change of a state, and all that follows from it.
  mutating func move(_ id: OperationID, to state: OperationState) {
    let old = states[id.index]
    let lane = Int(records[id.index].lane)
    let queue = lanes[lane].queue
    states[id.index] = state
    counts.add(-1, to: old)
    counts.add(1, to: state)
    queueCounts[queue].add(-1, to: old)
    queueCounts[queue].add(1, to: state)
    if state == .running { take(lane, for: id) }
    if old == .ready { leave(lane, id) }
    if state == .ready { enter(lane, id) }
    if old == .running { giveBack(lane) }
    refresh(queue)
  }

  /// All that an operation waited for has come: it is ready, or at its gate.
  mutating func reach(_ id: OperationID) {
    guard graph.gates[id.index] else { return move(id, to: .ready) }
    move(id, to: .paused)
    reached.append(id)
  }

  /// Gated operations that wait for a decision, in the order they came: each is paused, and the
  /// caller's to `resume` or to `settle`.
  package mutating func takeReached() -> [OperationID] {
    if reached.isEmpty { return [] }
    defer { reached = [] }
    return reached
  }

  @discardableResult
  package mutating func addQueue(_ spec: QueueSpec) -> QueueID {
    queues.append(Queue(spec, plainLane: appendLane(of: queues.count, claiming: [])))
    queueCounts.append(StateCounts())
    return QueueID(queues.count - 1)
  }
}
