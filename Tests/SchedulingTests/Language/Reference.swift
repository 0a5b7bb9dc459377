// A scheduler so simple that it is obviously correct: lists, searched from the start each time. It
// knows no ageing.

import Scheduling

struct Reference {
  struct Operation {
    var spec: OperationSpec
    var state = OperationState.waiting
    var priority: Int
    var path: Int64
    var dependencies: [(OperationID, EdgeCondition)] = []
    /// Dependencies of which it was told that they have ended.
    var toldCount = 0
    var root: OperationID?
    var endCount = 0
  }

  var operations: [Operation] = []
  var queues: [QueueSpec]
  let pools: [PoolSpec]
  /// The edges in the order in which they were added.
  private var edges: [Graph.Edge] = []
  var settlements: [Settlement] = []
  var stopReason: StopReason?
  private let unknownWeight: Int64
  private let usesDurations: Bool

  init(specs: [OperationSpec], edges: [Graph.Edge], queues: [QueueSpec], pools: [PoolSpec]) {
    self.queues = queues
    self.pools = pools
    let known = specs.compactMap(\.expected)
    usesDurations = !known.isEmpty
    unknownWeight = known.isEmpty ? 1 : max(1, known.reduce(0, +) / Int64(known.count))
    for spec in specs { add(spec) }
    for edge in edges { add(edge) }
    raiseAll()
    for index in operations.indices { readyIfSatisfied(index) }
  }

  mutating func next() -> OperationID? {
    for queue in queues.indices where !queues[queue].isSuspended {
      guard running(in: queue).count < queues[queue].width else { continue }
      let first = operations.indices
        .filter { operations[$0].state == .ready && operations[$0].spec.queue.index == queue }
        .filter { fits(operations[$0].spec.claims) }
        .min { isBefore($0, $1) }
      if let first {
        operations[first].state = .running
        return OperationID(first)
      }
    }
    return nil
  }

  mutating func end(_ id: OperationID, _ ending: Ending, _ cause: Cause?) {
    operations[id.index].state = .ended(ending)
    operations[id.index].endCount += 1
    if case .dependency(let root) = cause { operations[id.index].root = root }
    if let cause { settlements.append(Settlement(id, ending, cause)) }
  }

  /// Blocks and skips, level by level, what can no longer run; then finds what has become ready.
  mutating func settleDependents(of id: OperationID) {
    var told = [id]
    while !told.isEmpty {
      let next = told.flatMap { id in edges.filter { $0.from == id } }
      told = []
      for edge in next {
        operations[edge.to.index].toldCount += 1
        if block(edge) || skip(edge.to) { told.append(edge.to) }
      }
    }
    for index in operations.indices { readyIfSatisfied(index) }
  }

  /// True if the operation had to be skipped now: all that it waited for has ended, and nothing of it
  /// went wrong, and still it cannot run.
  private mutating func skip(_ id: OperationID) -> Bool {
    let operation = operations[id.index]
    guard !operation.state.hasEnded, operation.toldCount == operation.dependencies.count else {
      return false
    }
    let unneeding = operation.dependencies.filter { dependency, condition in
      operations[dependency.index].state.ending.map { condition.effect(of: $0) } == .skips
    }
    guard let first = unneeding.map(\.0).min() else { return false }
    end(id, Ending(.skipped), .dependency(first))
    operations[id.index].root = nil
    return true
  }

  /// True if the dependent had to be blocked now.
  private mutating func block(_ edge: Graph.Edge) -> Bool {
    let dependency = operations[edge.from.index]
    guard let ending = dependency.state.ending, !operations[edge.to.index].state.hasEnded,
      edge.condition.effect(of: ending) == .blocks
    else { return false }
    end(edge.to, Ending(.blocked), .dependency(dependency.root ?? edge.from))
    return true
  }

  mutating func stop(_ reason: StopReason) {
    stopReason = reason
    for index in operations.indices
    where operations[index].state == .waiting || operations[index].state == .ready {
      end(OperationID(index), Ending(.cancelled), .stopped(reason))
    }
  }

  mutating func append(_ spec: OperationSpec, _ dependencies: [(OperationID, EdgeCondition)]) {
    add(spec)
    let id = OperationID(operations.count - 1)
    if let stopReason { return end(id, Ending(.cancelled), .stopped(stopReason)) }
    for (dependency, condition) in dependencies {
      let edge = Graph.Edge(from: dependency, to: id, condition: condition)
      if block(edge) { return }
      add(edge)
    }
    raiseAll()
    if !skip(id) { readyIfSatisfied(id.index) }
  }

  mutating func addEdge(_ edge: Graph.Edge) {
    if block(edge) { return settleDependents(of: edge.to) }
    add(edge)
    if skip(edge.to) { return settleDependents(of: edge.to) }
    if !operations[edge.from.index].state.hasEnded { operations[edge.to.index].state = .waiting }
    raiseAll()
  }

  private mutating func add(_ edge: Graph.Edge) {
    edges.append(edge)
    operations[edge.to.index].dependencies.append((edge.from, edge.condition))
    if operations[edge.from.index].state.hasEnded { operations[edge.to.index].toldCount += 1 }
  }
}

extension Reference {
  private mutating func add(_ spec: OperationSpec) {
    let path = weight(of: spec)
    operations.append(Operation(spec: spec, priority: Int(spec.priority), path: path))
  }

  private func weight(of spec: OperationSpec) -> Int64 {
    usesDurations ? spec.expected ?? unknownWeight : unknownWeight
  }

  private mutating func readyIfSatisfied(_ index: Int) {
    guard operations[index].state == .waiting else { return }
    let isSatisfied = operations[index].dependencies.allSatisfy { dependency, condition in
      operations[dependency.index].state.ending.map { condition.isSatisfied(by: $0) } ?? false
    }
    if isSatisfied { operations[index].state = .ready }
  }

  /// Raises ranks until nothing changes any more.
  private mutating func raiseAll() {
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for operation in operations where !operation.state.hasEnded {
        for (dependency, _) in operation.dependencies {
          let old = operations[dependency.index]
          if old.state.hasEnded { continue }
          let priority = max(old.priority, operation.priority)
          let path = max(old.path, operation.path + weight(of: old.spec))
          if priority == old.priority, path == old.path { continue }
          operations[dependency.index].priority = priority
          operations[dependency.index].path = path
          hasChanged = true
        }
      }
    }
  }

  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    let (first, second) = (operations[left], operations[right])
    if first.priority != second.priority { return first.priority > second.priority }
    if first.path != second.path { return first.path > second.path }
    return left < right
  }

  func running(in queue: Int) -> [Operation] {
    operations.filter { $0.state == .running && $0.spec.queue.index == queue }
  }

  func taken(from pool: Int) -> Int64 {
    operations.filter { $0.state == .running }.flatMap(\.spec.claims)
      .filter { $0.pool.index == pool }.map(\.amount).reduce(0, +)
  }

  func fits(_ claims: [Claim]) -> Bool {
    claims.allSatisfy {
      taken(from: $0.pool.index) + $0.amount <= pools[$0.pool.index].capacity
    }
  }
}
