// Decides which operation runs next, and how an outcome affects those that wait. Pure: it is told
// what happened and answers what to do; it knows no process, clock, thread or name.
//
// This file holds the one truth (`Record.state`) and its one door (`move`). The design is described
// in docs/design-scheduling.md.

/// Simulates the run of a graph: the caller starts what `next()` returns and reports what came of
/// it.
///
/// Every operation is in one state and ends exactly once. All calls are deterministic.
package struct Scheduler: Sendable {
  /// What the scheduler knows about an operation.
  struct Record {
    /// Effective priority and remaining path, as in `Rank`.
    var key: Int64
    var sequence: UInt32
    var lane: Int32
    /// The operation where the problem began, once this one has ended; itself unless it was
    /// blocked. While this one waits, another operation means that this one will be skipped because
    /// of how that one ended; the first in the file, if there are several.
    var root: Int32
    /// A copy of the graph's flag.
    let isGated: Bool
    fileprivate(set) var state = OperationState.waiting

    fileprivate mutating func enter(_ new: OperationState) -> (old: OperationState, lane: Int) {
      defer { state = new }
      return (state, Int(lane))
    }
  }

  package internal(set) var graph: Graph

  var queues: [Queue] = []
  var records: [Record] = []
  /// The number of unsatisfied edges of operations that wait; 0 for all others. It is kept outside
  /// the records because every edge is counted down, and the records of a large graph do not fit
  /// into the caches of a processor.
  var unmetCounts: [Int32] = []
  /// The positions of operations in their lanes.
  var places: [Int32] = []
  var lanes: [Lane] = []
  /// The positions of lanes among the candidates of their queue or in a line.
  var lanePlaces: [Int32] = []
  var laneNumbers: [LaneKey: Int] = [:]
  var rooms: [WaitingRoom] = []
  var lines: [Line] = []
  var lineNumbers: [LineKey: Int] = [:]
  var pools: [Pool]
  /// The extra queue of each queue that has operations which take no slot.
  var slotlessQueues: [Int: Int] = [:]
  /// The endings that dependents of services were told before the services ended.
  var announced: [OperationID: Ending] = [:]
  /// Operations that have their claims already, although they have not started.
  var promised: Set<OperationID> = []
  /// Queues that may start something, and have something that may start.
  var startableQueues = QueueSet()

  var settlements: [Settlement] = []
  /// Gated operations whose edges have been met since the last `takeReached`.
  private var reached: [OperationID] = []
  private var admittedCount: UInt32 = 0
  let ranking: Ranking
  /// How often a lane is overtaken before it gets a reservation.
  let patience: Int
  /// How many of the nearest operations that an appended one waits for get a longer remaining path:
  /// otherwise appending a chain link by link would cost its length each time.
  let pathReach: Int
  /// If false, the operations that another one waits for keep their own rank.
  let inheritsRank: Bool
  /// Why nothing starts any more; the first reason is kept.
  package internal(set) var stopReason: StopReason?

  /// The graph must have no cycle, and no claim may be larger than its pool. Linear.
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
    records.reserveCapacity(graph.count)
    self.unmetCounts.reserveCapacity(graph.count)
    places.reserveCapacity(graph.count)
    for index in 0..<graph.count {
      admit(OperationID(index), key: keys[index], unmetCount: unmetCounts[index])
    }
    for index in 0..<graph.count where unmetCounts[index] == 0 {
      reach(OperationID(index))
    }
  }

  /// Gives an operation that was just appended to the graph its first state, waiting.
  mutating func admit(_ id: OperationID, key: Int64, unmetCount: Int32) {
    let record = Record(
      key: key, sequence: admittedCount, lane: Int32(lane(of: id)), root: id.rawValue,
      isGated: graph.nodes[id.index].isGated)
    enroll(record, unmetCount)
  }

  /// Like `admit` and `reach` for an operation that waits for nothing, claims nothing and has no gate:
  /// its first state is ready.
  mutating func admitReady(_ id: OperationID, key: Int64) {
    let queue = graph.nodes[id.index].queue.index
    let lane = queues[queue].plainLane
    var record = Record(
      key: key, sequence: admittedCount, lane: Int32(lane), root: id.rawValue,
      isGated: graph.nodes[id.index].isGated)
    record.state = .ready
    enroll(record, 0)
    lanes[lane].ready.insert(rank(of: id), &places)
    refresh(queue)
  }

  private mutating func enroll(_ record: Record, _ unmetCount: Int32) {
    let index = Int(record.root)
    admittedCount &+= 1
    if index < records.count {
      records[index] = record
      unmetCounts[index] = unmetCount
    } else {
      records.append(record)
      unmetCounts.append(unmetCount)
      places.append(0)
    }
    queues[lanes[Int(record.lane)].queue].counts.add(1, to: record.state)
  }

  /// Forgets an operation that has ended: memory is bounded by those that are not forgotten. Its id
  /// is invalid from now on, until `append` returns it for another operation; that includes the
  /// roots of blocked operations.
  package mutating func forget(_ id: OperationID) {
    let state = records[id.index].state
    precondition(state.hasEnded, "only what has ended can be forgotten")
    precondition(records[id.index].lane != Graph.none, "an operation is forgotten once")
    queues[lanes[Int(records[id.index].lane)].queue].counts.add(-1, to: state)
    records[id.index].lane = Graph.none
    graph.remove(id)
  }

  /// The one door: makes every change of a state, and everything that follows from it.
  mutating func move(_ id: OperationID, to state: OperationState) {
    let (old, lane) = records[id.index].enter(state)
    if old == .waiting { unmetCounts[id.index] = 0 }
    let queue = lanes[lane].queue
    queues[queue].counts.move(from: old, to: state)
    if !promised.isEmpty, promised.contains(id) {
      promisedMoved(id, from: old, to: state, in: queue)
    }
    if lanes[lane].isPlain {
      if old == .ready { lanes[lane].ready.remove(id.index, &places) }
      if state == .ready { lanes[lane].ready.insert(rank(of: id), &places) }
    } else {
      moveClaiming(id, in: lane, from: old, to: state)
    }
    refresh(queue)
    if queues[queue].reservationCount > 0 { roomChanged(queue) }
  }

  /// Handles a change of state of an operation with claims.
  private mutating func moveClaiming(
    _ id: OperationID, in lane: Int, from old: OperationState, to state: OperationState
  ) {
    if state == .running { take(lane, for: id) }
    if old == .ready { leave(lane, id) }
    if state == .ready { enter(lane, id) }
    if old == .running { giveBack(lane) }
  }

  /// Called when everything that an operation waited for has come: it becomes ready, is at its gate,
  /// or is skipped. True if it was skipped: its dependents must be told.
  @discardableResult
  mutating func reach(_ id: OperationID) -> Bool {
    if isUnneeded(id) {
      skip(id)
      return true
    }
    guard records[id.index].isGated else {
      move(id, to: .ready)
      return false
    }
    move(id, to: .paused)
    reached.append(id)
    return false
  }

  /// Gated operations that wait for a decision, in the order they came: each is paused, and the
  /// caller must `resume` or `settle` it.
  package mutating func takeReached() -> [OperationID] {
    if reached.isEmpty { return [] }
    defer { reached = [] }
    return reached
  }

  @discardableResult
  package mutating func addQueue(_ spec: QueueSpec) -> QueueID {
    queues.append(Queue(spec, plainLane: appendLane(of: queues.count, claiming: [])))
    return QueueID(queues.count - 1)
  }
}
