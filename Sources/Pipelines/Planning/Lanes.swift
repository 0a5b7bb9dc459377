// Queues, resources and mutexes as the scheduler knows them, and what each step asks of them.

import Diagnostics
import Scheduling

/// Turns what steps say about when they run into `OperationSpec`s.
struct Lanes {
  private(set) var queues: [QueueSpec]
  private(set) var pools: [PoolSpec] = []
  private var queueIDs: [String: QueueID] = ["default": .default]
  private var resourceIDs: [String: PoolID] = [:]
  private var mutexIDs: [String: PoolID] = [:]
  /// Resources whose size is not known, because it was wrong.
  private var unsized: Set<String> = []

  init(_ model: PipelineModel, options: PlanningOptions) {
    func width(_ width: QueueWidth?) -> Int {
      if case .count(let count) = width { count } else { max(1, options.processorCount) }
    }
    queues = [QueueSpec(name: "default", width: options.maxParallel ?? width(model.width))]
    for queue in model.queues {
      queueIDs[queue.name] = QueueID(queues.count)
      queues.append(
        QueueSpec(
          name: queue.name, width: width(queue.width), isSuspended: queue.startsSuspended))
    }
    for resource in model.resources {
      resourceIDs[resource.name] = PoolID(pools.count)
      pools.append(PoolSpec(name: resource.name, capacity: resource.capacity ?? 0))
      if resource.capacity == nil { unsized.insert(resource.name) }
    }
  }

  /// What an operation asks for; reports names that are not there and amounts beyond the pool.
  mutating func spec(for placement: PlacementModel, log: inout DiagnosticLog) -> OperationSpec {
    var spec = OperationSpec()
    spec.priority = placement.priority ?? 0
    spec.expected = placement.expected
    if let queue = placement.queue { spec.queue = find(queue, log: &log) }
    for claim in placement.claims ?? [] { add(claim, to: &spec, log: &log) }
    if let mutex = placement.mutex {
      spec.claims.append(Claim(pool(ofMutex: mutex), amount: 1_000_000))
    }
    return spec
  }

  private func find(_ queue: Reference, log: inout DiagnosticLog) -> QueueID {
    if let id = queueIDs[queue.name] { return id }
    log.report(at: queue.span) { _ in
      PlanningMessage.unknownQueue(queue, known: queues.map(\.name))
    }
    return .default
  }

  private func add(_ claim: ClaimModel, to spec: inout OperationSpec, log: inout DiagnosticLog) {
    guard let pool = resourceIDs[claim.resource.name] else {
      return log.report(at: claim.resource.span) { _ in
        PlanningMessage.unknownResource(claim.resource, known: resourceIDs.keys.sorted())
      }
    }
    let capacity = pools[pool.index].capacity
    if claim.amount > capacity {
      guard !unsized.contains(claim.resource.name) else { return }
      return log.report(at: claim.amountSpan) { _ in
        PlanningMessage.overCapacity(claim, capacity: capacity)
      }
    }
    if claim.amount > 0 { spec.claims.append(Claim(pool, amount: claim.amount)) }
  }

  private mutating func pool(ofMutex name: String) -> PoolID {
    if let id = mutexIDs[name] { return id }
    let id = PoolID(pools.count)
    mutexIDs[name] = id
    pools.append(PoolSpec(name: name, capacity: 1_000_000))
    return id
  }
}

extension PlacementModel {
  /// What is not written is taken from the defaults.
  func filled(from defaults: PlacementModel) -> PlacementModel {
    PlacementModel(
      queue: queue ?? defaults.queue, priority: priority ?? defaults.priority,
      mutex: mutex ?? defaults.mutex, claims: claims ?? defaults.claims,
      expected: expected ?? defaults.expected)
  }
}
