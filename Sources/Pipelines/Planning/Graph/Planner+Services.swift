// Services in a plan: the meaning of edges from them, and services that could never end.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension Planner {
  /// True for a service, a group of the instances of one, or a group in the background.
  func isService(_ operation: Int) -> Bool {
    let address = address(of: operation)
    let model = pipelines[address.pipeline].model
    let attributes = model.steps[address.step].attributes
    guard hasServices, attributes >= 0 else { return false }
    let placement = model.attributes[Int(attributes)].placement
    return placement >= 0 && model.placements[Int(placement)].isService
  }

  /// The edge from a service: its dependents wait until it is ready, unless something else is written.
  mutating func toService(_ edge: EdgeDraft, _ dependency: DependencyModel?) -> EdgeDraft {
    var edge = edge
    guard isService(edge.from) else {
      if edge.condition == .ready, let dependency {
        let name = id(of: edge.from)
        log.report(at: dependency.step.span) { PlanningMessage.noService(name, at: $0) }
      }
      return edge
    }
    switch edge.condition {
    case .ok: edge.condition = .ready
    case .done where !edge.isWritten: edge.condition = .readyOrDone
    case .done, .succeeded, .failed, .ready, .readyOrDone: break
    }
    return edge
  }

  /// The steps of a nested pipeline that start first wait for the services that the using step depends
  /// on. These go on until all of it has ended.
  mutating func addServices(toGroup operation: Int, _ inherited: [EdgeDraft]) {
    for edge in inherited where edge.condition.waitsForReadiness {
      graph.addEdge(
        from: OperationID(edge.from), to: OperationID(operation), when: .readyOrDone)
      if edge.isOptional { optionalEdges.insert(UInt64(edge.from) << 32 | UInt64(operation)) }
    }
  }

  /// The services that go on in an operation: itself, or those in it that last as long as the group.
  fileprivate func services(in operation: Int) -> [Int] {
    guard isService(operation) else { return [] }
    guard let group = group(operation), !group.members.isEmpty else { return [operation] }
    return group.members.flatMap { services(in: $0) }
  }

  /// Reports services that would never end, and steps that could never start because of one.
  mutating func checkServices() {
    guard hasServices else { return }
    var checked: Set<UInt32> = []
    for pipeline in pipelines.dropFirst() {
      if isService(pipeline.group) {
        checkBackground(pipeline, &checked)
      } else {
        checkEnd(of: pipeline)
      }
    }
    checkClaims()
    checkKeeping()
  }

  private mutating func checkEnd(of pipeline: PipelineUse) {
    guard let parent = pipeline.parent,
      pipeline.model.steps.indices.allSatisfy({ isService(pipeline.operation(of: $0)) })
    else { return }
    let span = pipelines[parent.pipeline].model.steps[parent.step].id.span
    let name = id(of: pipeline.group)
    log.report(at: span) { PlanningMessage.onlyServices(name, at: $0) }
  }

  /// Refuses a group in the background in which nothing goes on, because it is like any other.
  private mutating func checkBackground(_ pipeline: PipelineUse, _ checked: inout Set<UInt32>) {
    guard let parent = pipeline.parent,
      pipeline.operations.allSatisfy({ $0 < 0 || services(in: Int($0)).isEmpty })
    else { return }
    let span = pipelines[parent.pipeline].model.steps[parent.step].id.span
    guard checked.insert(span.start).inserted else { return }
    let name = text.string(span)
    log.report(at: span) { PlanningMessage.noServiceInside(name, at: $0) }
  }
}

// The claims of steps together with those of the services that they need.
extension Planner {
  private mutating func checkClaims() {
    // The claims of single steps have been checked.
    let areClaiming = (0..<operationCount).contains {
      isService($0) && !graph[OperationID($0)].claims.isEmpty
    }
    guard areClaiming else { return }
    for operation in 0..<operationCount where group(operation)?.isExpanding != false {
      let services = neededServices(of: operation)
      if services.isEmpty { continue }
      var amounts: [PoolID: Int64] = [:]
      for holder in [operation] + services {
        for claim in graph[OperationID(holder)].claims {
          amounts[claim.pool, default: 0] += claim.amount
        }
      }
      let over = amounts.filter { $0.value > queuesAndPools.pools[$0.key.index].capacity }
      guard let pool = over.keys.min(by: { $0.rawValue < $1.rawValue }) else { continue }
      let address = address(of: operation)
      let (name, spec) = (id(of: operation), queuesAndPools.pools[pool.index])
      let amount = amounts[pool] ?? 0
      log.report(at: pipelines[address.pipeline].model.steps[address.step].id.span) {
        PlanningMessage.heldByServices(name, amount: amount, of: spec, at: $0)
      }
    }
  }

  /// All services that go on while an operation runs.
  private func neededServices(of operation: Int) -> [Int] {
    var found: Set<Int> = []
    var seen: Set<Int> = [operation]
    var open = [operation]
    while let next = open.popLast() {
      for edge in graph.dependencies(of: OperationID(next)) {
        let isOptional = optionalEdges.contains(UInt64(edge.from.index) << 32 | UInt64(next))
        guard edge.condition.waitsForReadiness, !isOptional, seen.insert(edge.from.index).inserted
        else { continue }
        let services = services(in: edge.from.index)
        found.formUnion(services)
        open += services
      }
    }
    return found.sorted()
  }
}

// Cycles through the end of a service: it goes on for a step that waits, indirectly, for its end.
extension Planner {
  private mutating func checkKeeping() {
    let ends = EndGraph(self)
    guard let cycle = ends.graph.shortestCycle() else { return }
    let names = cycle.map { node in
      ends.service(at: node.index).map { "the end of \(printable(id(of: $0)))" }
        ?? printable(id(of: node.index))
    }
    let first = cycle.first { $0.index < operationCount } ?? cycle[0]
    let address = address(of: ends.service(at: first.index) ?? first.index)
    let kept = cycle.lazy.compactMap { ends.service(at: $0.index) }.first.map { id(of: $0) } ?? ""
    let label = Diagnostic.Label(
      pipelines[address.pipeline].model.steps[address.step].id.span,
      "service \(quoted(kept)) keeps running for it")
    log.report(PlanningMessage.cycle(names + names.prefix(1), labels: [label]))
  }
}

/// The graph with an additional node for the end of each service.
private struct EndGraph {
  private(set) var graph = Graph()
  private var services: [Int] = []
  private var ends: [Int: Int] = [:]
  private let count: Int

  init(_ planner: Planner) {
    count = planner.operationCount
    for _ in 0..<count { graph.append(OperationSpec()) }
    for operation in 0..<count where planner.isService(operation) {
      services.append(operation)
      ends[operation] = graph.append(OperationSpec()).index
      connect(operation, end(of: operation))
    }
    for operation in 0..<count {
      for edge in planner.graph.dependencies(of: OperationID(operation)) {
        add(edge, planner)
      }
    }
  }

  /// The service whose end a node is; nil for any other node.
  func service(at node: Int) -> Int? { node < count ? nil : services[node - count] }

  private func end(of operation: Int) -> Int { ends[operation] ?? operation }

  private mutating func connect(_ from: Int, _ to: Int) {
    graph.addEdge(from: OperationID(from), to: OperationID(to), when: .done)
  }

  private mutating func add(_ edge: Graph.Edge, _ planner: Planner) {
    let (from, to) = (edge.from.index, edge.to.index)
    if planner.group(to)?.members.contains(from) == true, ends[to] != nil {
      connect(from, to)
      connect(end(of: from), end(of: to))
    } else if edge.condition.waitsForReadiness {
      connect(from, to)
      for service in planner.services(in: from) { connect(end(of: to), end(of: service)) }
    } else {
      connect(end(of: from), to)
    }
  }
}
