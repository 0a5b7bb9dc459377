// Queues, resources and mutexes as the scheduler knows them, and what each step asks of them.

import Diagnostics
import Expressions
import Plans
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

  /// The first model is the pipeline; nested ones may add queues and resources, not change them.
  init(_ models: [PipelineModel], options: PlanningOptions) {
    func width(_ width: QueueWidth?) -> Int {
      if case .count(let count) = width { count } else { max(1, options.processorCount) }
    }
    queues = [QueueSpec(name: "default", width: options.maxParallel ?? width(models[0].width))]
    for queue in models.flatMap(\.queues) where queueIDs[queue.name] == nil {
      queueIDs[queue.name] = QueueID(queues.count)
      queues.append(
        QueueSpec(
          name: queue.name, width: width(queue.width), isSuspended: queue.startsSuspended))
    }
    for resource in models.flatMap(\.resources) where resourceIDs[resource.name] == nil {
      resourceIDs[resource.name] = PoolID(pools.count)
      pools.append(PoolSpec(name: resource.name, capacity: resource.capacity ?? 0))
      if resource.capacity == nil { unsized.insert(resource.name) }
    }
  }

  /// What an operation asks for; reports names that are not there and amounts beyond the pool.
  mutating func spec(
    for placement: PlacementModel, mutex: String?, log: inout DiagnosticLog
  ) -> OperationSpec {
    var spec = OperationSpec()
    spec.priority = placement.priority ?? 0
    spec.expected = placement.expected
    if let queue = placement.queue { spec.queue = find(queue, log: &log) }
    for claim in placement.claims ?? [] { add(claim, to: &spec, log: &log) }
    if let mutex {
      spec.claims.append(Claim(pool(ofMutex: mutex), amount: 1_000_000))
    }
    return spec
  }

  private func find(_ queue: Reference, log: inout DiagnosticLog) -> QueueID {
    if let id = queueIDs[queue.name] { return id }
    let suggester = log.suggester
    log.report(at: queue.span) { _ in
      let known = queues.lazy.map(\.name)
      return PlanningMessage.unknownQueue(
        queue, suggestion: suggester.closest(to: queue.name, among: known))
    }
    return .default
  }

  private func add(_ claim: ClaimModel, to spec: inout OperationSpec, log: inout DiagnosticLog) {
    guard let pool = resourceIDs[claim.resource.name] else {
      let (name, suggester) = (claim.resource.name, log.suggester)
      return log.report(at: claim.resource.span) { _ in
        let known = pools.lazy.map(\.name).filter { resourceIDs[$0] != nil }
        return PlanningMessage.unknownResource(
          claim.resource, suggestion: suggester.closest(to: name, among: known))
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

extension Lanes {
  /// A pool that as many operations may have a share of.
  mutating func addPool(named name: String, width: Int) -> PoolID {
    pools.append(PoolSpec(name: name, capacity: Int64(width) * 1_000_000))
    return PoolID(pools.count - 1)
  }
}

/// What operations ask of the scheduler; those of steps that say the same are made once.
struct SpecPool {
  private var plain: [OperationSpec?]
  private var placed: [[OperationSpec?]]
  /// Of the instances before, if all of that step have the same.
  private var last: (place: Place, spec: OperationSpec)?

  init(_ planner: Planner) {
    plain = Array(repeating: nil, count: planner.units.count)
    placed = planner.units.map { Array(repeating: nil, count: $0.model.placements.count) }
  }

  mutating func spec(of operation: Int, in planner: inout Planner) -> OperationSpec {
    let place = planner.place(of: operation)
    if place.instance != nil, let last, last.place.isOfSameStep(as: place) { return last.spec }
    let unit = planner.units[place.unit]
    let group = planner.group(operation)
    if let group, !group.isExpanding { return groupSpec }
    let details = unit.model.steps[place.step].details
    let number = details < 0 ? -1 : Int(unit.model.details[Int(details)].placement)
    var spec =
      number < 0
      ? plainSpec(place, &planner) : placedSpec(number, place, &planner)
    if place.instance != nil, !planner.lanes.pools.isEmpty,
      let pool = planner.groups[unit.operation(of: place.step)]?.pool
    {
      spec.claims.append(Claim(pool, amount: 1_000_000))
    }
    let isShared = number < 0 ? plain[place.unit] != nil : placed[place.unit][number] != nil
    if place.instance != nil, isShared { last = (place, spec) }
    return spec
  }

  /// A group runs nothing: it takes no time, and no slot.
  private var groupSpec: OperationSpec {
    var spec = OperationSpec()
    spec.expected = 0
    spec.isGated = true
    return spec
  }

  private mutating func plainSpec(_ place: Place, _ planner: inout Planner) -> OperationSpec {
    if let known = plain[place.unit] { return known }
    let defaults = planner.units[place.unit].model.defaultPlacement
    let spec = planner.spec(of: defaults, at: place)
    if defaults.mutex?.template == nil { plain[place.unit] = spec }
    return spec
  }

  private mutating func placedSpec(
    _ number: Int, _ place: Place, _ planner: inout Planner
  ) -> OperationSpec {
    if let known = placed[place.unit][number] { return known }
    let unit = planner.units[place.unit]
    let placement = unit.model.placements[number].filled(from: unit.model.defaultPlacement)
    let spec = planner.spec(of: placement, at: place)
    if placement.mutex?.template == nil { placed[place.unit][number] = spec }
    return spec
  }
}

extension Planner {
  fileprivate mutating func spec(of placement: PlacementModel, at place: Place) -> OperationSpec {
    var mutex: String?
    do throws(EvaluationFailure) {
      if let text = placement.mutex {
        switch try values(at: place).fold(text) {
        case .plain(let name): mutex = name
        case .template(let template) where isOpen(template, at: place):
          mutex = template.description
        case .template(let template):
          let place = template.expressions.first?.span(in: self.text) ?? template.origin.span
          log.report(at: place) { PlanningMessage.lateMutex(at: $0) }
        }
      }
    } catch {
      report(error)
    }
    return lanes.spec(for: placement, mutex: mutex, log: &log)
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
