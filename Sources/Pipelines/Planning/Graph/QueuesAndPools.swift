// Queues, resources and mutexes for the scheduler, and the requests of each step.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// Turns the settings for when steps run into `OperationSpec`s.
struct QueuesAndPools {
  private(set) var queues: [QueueSpec]
  private(set) var pools: [PoolSpec] = []
  private var queueIDs: [String: QueueID] = ["default": .default]
  private var resourceIDs: [String: PoolID] = [:]
  private var mutexIDs: [Mutex: PoolID] = [:]
  /// Resources whose size is not known, because it was wrong.
  private var unsized: Set<String> = []
  /// The amounts that this machine has of resources whose capacity the file does not specify, in millionths.
  private var implied: [SlurmResource: Int64] = [:]
  private var impliedIDs: [SlurmResource: PoolID] = [:]
  /// True if the width of the default queue is the number of processors of this machine.
  private let isWidthAutomatic: Bool
  /// The settings for Slurm; nil if no step is a job.
  private(set) var slurm: SlurmPlan?
  private let slurmModel: SlurmModel
  private let hasUnreadableQueues: Bool

  /// The first model is the pipeline; nested ones may add queues and resources, not change them.
  /// `values` are those of the pipeline.
  init(
    _ models: [PipelineModel], options: PlanningOptions, _ values: KnownValues,
    report: (EvaluationFailure) -> Void
  ) {
    func known<Value>(_ evaluate: () throws(EvaluationFailure) -> Value?) -> Value? {
      do throws(EvaluationFailure) {
        return try evaluate()
      } catch {
        report(error)
        return nil
      }
    }
    let processors = max(1, options.processorCount)
    func width(_ width: QueueWidth?, automatic: Int) -> Int {
      switch width {
      case .count(let count)?: return count
      case .early(let value)?:
        let width = known { () throws(EvaluationFailure) in try value.width(values) }
        if case .count(let count)? = width { return count }
      case .automatic?, nil: break
      }
      return automatic
    }
    let main = width(models[0].width, automatic: options.automaticWidth ?? processors)
    slurmModel = models[0].slurm ?? SlurmModel()
    hasUnreadableQueues = models.contains { $0.unreadable.contains(PipelineKey.queues.row.key) }
    isWidthAutomatic = options.maxParallel == nil && models[0].width ?? .automatic == .automatic
    implied[.cpus] = Int64(processors) * 1_000_000
    implied[.memory] = options.memory.map { Int64($0 >> 20) * 1_000_000 / 1024 }
    queues = [QueueSpec(name: "default", width: options.maxParallel ?? main)]
    for queue in models.flatMap(\.queues) where queueIDs[queue.name] == nil {
      queueIDs[queue.name] = QueueID(queues.count)
      queues.append(
        QueueSpec(
          name: queue.name, width: width(queue.width, automatic: processors),
          isSuspended: queue.startsSuspended))
    }
    for resource in models.flatMap(\.resources) where resourceIDs[resource.name] == nil {
      let early = resource.early.flatMap { value in
        known { () throws(EvaluationFailure) in try value.amount(values) }
      }
      let capacity = early ?? resource.capacity
      resourceIDs[resource.name] = PoolID(pools.count)
      pools.append(PoolSpec(name: resource.name, capacity: capacity ?? 0))
      if capacity == nil { unsized.insert(resource.name) }
    }
  }

  /// The specification of an operation; reports names that do not exist and amounts beyond the pool.
  mutating func spec(
    for placement: PlacementModel, mutex: Mutex?, isInSlurm: Bool = false,
    log: inout DiagnosticLog
  ) -> OperationSpec {
    var spec = OperationSpec()
    spec.priority = placement.priority ?? 0
    spec.expected = placement.expected
    spec.takesSlot = !placement.isService
    if let queue = placement.queue { spec.queue = find(queue, log: &log) }
    if isInSlurm { addSlurm(to: &spec, hasQueue: placement.queue != nil) }
    for claim in placement.claims ?? [] {
      if let resource = SlurmResource(rawValue: claim.resource.name),
        add(claim, of: resource, to: &spec, isInSlurm: isInSlurm)
      {
        continue
      }
      add(claim, to: &spec, log: &log)
    }
    if let mutex {
      spec.claims.append(Claim(pool(ofMutex: mutex), amount: 1_000_000))
    }
    return spec
  }

  /// A mutex; those of the machine have names of their own.
  struct Mutex: Hashable {
    let name: String
    let isOfHost: Bool
  }

  /// Adds the queue of jobs to a step, unless it names one or the width is that of all steps.
  private mutating func addSlurm(to spec: inout OperationSpec, hasQueue: Bool) {
    var plan = slurm ?? slurmModel.plan
    plan.highestPriority = slurm == nil ? spec.priority : max(plan.highestPriority, spec.priority)
    slurm = plan
    guard !hasQueue, isWidthAutomatic else { return }
    if let id = queueIDs[Self.slurmQueue] {
      spec.queue = id
    } else {
      spec.queue = QueueID(queues.count)
      queueIDs[Self.slurmQueue] = spec.queue
      queues.append(QueueSpec(name: Self.slurmQueue, width: plan.maxQueued))
    }
  }

  /// The queue of steps that Slurm runs.
  private static let slurmQueue = "slurm"

  /// Adds a claim of a resource that Slurm knows, too; false if it is to be treated like any other resource.
  private mutating func add(
    _ claim: ClaimModel, of resource: SlurmResource, to spec: inout OperationSpec, isInSlurm: Bool
  ) -> Bool {
    if isInSlurm {
      if claim.amount > 0 { spec.claims.append(Claim(slurmPool(resource), amount: claim.amount)) }
      return true
    }
    // `gpus` in a file with a pool `gpu` is a mistake.
    guard resourceIDs[resource.rawValue] == nil,
      resourceIDs[String(resource.rawValue.dropLast())] == nil
    else { return false }
    // A resource that this machine does not count is not limited here, and a step that asks for
    // more than there is gets all of it.
    guard let capacity = implied[resource], claim.amount > 0, capacity > 0 else { return true }
    let pool = impliedIDs[resource] ?? PoolID(pools.count)
    if impliedIDs.updateValue(pool, forKey: resource) == nil {
      pools.append(PoolSpec(name: resource.rawValue, capacity: capacity))
    }
    spec.claims.append(Claim(pool, amount: min(capacity, claim.amount)))
    return true
  }

  /// The pool that stands for requests to Slurm: its capacity is unlimited.
  private mutating func slurmPool(_ resource: SlurmResource) -> PoolID {
    if let known = slurm?.pools.first(where: { $0.value == resource }) { return known.key }
    let pool = PoolID(pools.count)
    pools.append(PoolSpec(name: resource.rawValue, capacity: .max))
    slurm?.pools[pool] = resource
    return pool
  }

  private func find(_ queue: Reference, log: inout DiagnosticLog) -> QueueID {
    if let id = queueIDs[queue.name] { return id }
    if hasUnreadableQueues { return .default }
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

  private mutating func pool(ofMutex mutex: Mutex) -> PoolID {
    if let id = mutexIDs[mutex] { return id }
    let id = PoolID(pools.count)
    mutexIDs[mutex] = id
    pools.append(PoolSpec(name: mutex.name, capacity: 1_000_000, isGranted: mutex.isOfHost))
    return id
  }
}

extension QueuesAndPools {
  /// Adds the pool for the width of a pipeline.
  mutating func addPool(
    named name: String, _ width: QueueWidth, _ options: PlanningOptions
  ) -> PoolID {
    switch width {
    case .automatic, .early: addPool(named: name, width: max(1, options.processorCount))
    case .count(let count): addPool(named: name, width: max(1, count))
    }
  }

  /// Adds a pool that this many operations can share.
  mutating func addPool(named name: String, width: Int) -> PoolID {
    pools.append(PoolSpec(name: name, capacity: Int64(width) * 1_000_000))
    return PoolID(pools.count - 1)
  }
}

/// The specifications of operations; those of steps with equal values are made once.
struct SharedSpecs {
  private var plain: [OperationSpec?]
  private var placed: [[OperationSpec?]]
  /// The specification of the previous instances, if all instances of that step have the same.
  private var last: (address: StepAddress, spec: OperationSpec)?

  init(_ planner: Planner) {
    plain = Array(repeating: nil, count: planner.pipelines.count)
    placed = planner.pipelines.map { Array(repeating: nil, count: $0.model.placements.count) }
  }

  mutating func spec(of operation: Int, in planner: inout Planner) -> OperationSpec {
    let address = planner.address(of: operation)
    if address.instance != nil, let last, last.address.isOfSameStep(as: address) {
      return last.spec
    }
    let pipeline = planner.pipelines[address.pipeline]
    let group = planner.group(operation)
    if let group, !group.isExpanding || group.pattern != nil {
      var spec = groupSpec
      if !group.members.isEmpty { spec.priority = OperationSpec.noPriority }
      spec.takesSlot = !planner.isService(operation)
      return spec
    }
    let attributes = pipeline.model.steps[address.step].attributes
    // A command of `vars` takes nothing from `defaults`.
    if pipeline.hasVarSteps, pipeline.model.isVarStep(address.step) {
      var commands = PlacementModel()
      commands.executor = .local
      return planner.spec(of: commands, PlacementModel(), at: address)
    }
    let number = attributes < 0 ? -1 : Int(pipeline.model.attributes[Int(attributes)].placement)
    var spec =
      number < 0
      ? plainSpec(address, &planner) : placedSpec(number, address, &planner)
    if address.instance != nil, !planner.queuesAndPools.pools.isEmpty,
      let pool = planner.groups[pipeline.operation(of: address.step)]?.pool
    {
      spec.claims.append(Claim(pool, amount: 1_000_000))
    }
    let isShared =
      number < 0 ? plain[address.pipeline] != nil : placed[address.pipeline][number] != nil
    if address.instance != nil, isShared { last = (address, spec) }
    return spec
  }

  /// The specification of a group, which runs nothing: it takes no time, and no slot.
  private var groupSpec: OperationSpec {
    var spec = OperationSpec()
    spec.expected = 0
    spec.isGated = true
    return spec
  }

  private mutating func plainSpec(_ address: StepAddress, _ planner: inout Planner) -> OperationSpec
  {
    if let known = plain[address.pipeline] { return known }
    let defaults = planner.pipelines[address.pipeline].model.defaultPlacement
    let spec = planner.spec(of: PlacementModel(), defaults, at: address)
    if !defaults.hasExpression { plain[address.pipeline] = spec }
    return spec
  }

  private mutating func placedSpec(
    _ number: Int, _ address: StepAddress, _ planner: inout Planner
  ) -> OperationSpec {
    if let known = placed[address.pipeline][number] { return known }
    let pipeline = planner.pipelines[address.pipeline]
    let own = pipeline.model.placements[number]
    let defaults = pipeline.model.defaultPlacement
    let spec = planner.spec(of: own, defaults, at: address)
    if !own.hasExpression, !defaults.hasExpression { placed[address.pipeline][number] = spec }
    return spec
  }
}

extension Planner {
  fileprivate mutating func spec(
    of own: PlacementModel, _ defaults: PlacementModel, at address: StepAddress
  ) -> OperationSpec {
    let surroundings = pipelines[address.pipeline].surroundings
    var placement = known(own.filled(from: defaults), at: address)
    if !own.sets(.queue) { placement.queue = surroundings.groupQueue ?? placement.queue }
    let hasQueue = placement.queue != nil
    if !own.sets(.queue), !hasQueue { placement.queue = surroundings.fileQueue }
    var mutex: String?
    do throws(EvaluationFailure) {
      if let text = placement.mutex {
        switch try values(at: address).fold(text) {
        case .plain(let name): mutex = name
        case .template(let template) where isOpen(template, at: address):
          mutex = template.description
        case .template(let template):
          let span = template.expressions.first?.span(in: self.text) ?? template.origin.span
          log.report(at: span) { PlanningMessage.lateMutex(at: $0) }
        }
      }
    } catch {
      report(error)
    }
    let isOfHost = placement.isMutexOfHost
    var spec = queuesAndPools.spec(
      for: placement, mutex: mutex.map { .init(name: $0, isOfHost: isOfHost) },
      isInSlurm: isInSlurm(own, defaults, pipelines[address.pipeline]), log: &log)
    // Like the width of a run, that of a pipeline applies to steps that name no queue, and services
    // are not counted.
    if !hasQueue, spec.takesSlot {
      spec.claims += surroundings.pools.map { Claim($0, amount: 1_000_000) }
    }
    return spec
  }

  private func isInSlurm(
    _ own: PlacementModel, _ defaults: PlacementModel, _ pipeline: PipelineUse
  ) -> Bool {
    if options.executor == .local { return false }
    let chosen = own.executor ?? options.executor ?? defaults.executor ?? pipeline.executor
    return chosen == .slurm
  }

  var slurmPlan: SlurmPlan? { queuesAndPools.slurm }

  /// The placement with the values of its expressions, as far as they are known.
  mutating func known(_ placement: PlacementModel, at address: StepAddress) -> PlacementModel {
    if placement.early.isEmpty { return placement }
    var result = placement
    result.early = []
    let values = values(at: address)
    for early in placement.early {
      do throws(EvaluationFailure) {
        let span = early.expression?.span(in: text) ?? early.span
        switch early.key {
        case .queue:
          result.queue = try early.text(values).map { Reference(name: $0, span: span) }
        case .priority: result.priority = try early.priority(values)
        case .expected: result.expected = try early.duration(values)
        case .amount(let name):
          guard let amount = try early.amount(values) else { continue }
          let claim = ClaimModel(
            resource: Reference(name: name, span: early.span), amount: amount, amountSpan: span)
          result.claims = (result.claims ?? []) + [claim]
        case .timeout, .retry, .width, .instances: break
        }
      } catch {
        report(error)
      }
    }
    return result
  }
}

extension PlacementModel {
  var hasExpression: Bool { mutex?.template != nil || !early.isEmpty }

  /// True if the key is written, with a value or an expression.
  fileprivate func sets(_ key: EarlyValue.Key) -> Bool {
    switch key {
    case .queue: queue != nil || early.contains { $0.key == key }
    case .priority: priority != nil || early.contains { $0.key == key }
    case .expected: expected != nil || early.contains { $0.key == key }
    case .amount: claims != nil
    case .timeout, .retry, .width, .instances: false
    }
  }

  /// The placement, with everything that is not written taken from the defaults.
  func filled(from defaults: PlacementModel) -> PlacementModel {
    var result = self
    if !sets(.queue) { result.queue = defaults.queue }
    if !sets(.priority) { result.priority = defaults.priority }
    if !sets(.expected) { result.expected = defaults.expected }
    if mutex == nil {
      result.mutex = defaults.mutex
      result.isMutexOfHost = defaults.isMutexOfHost
    }
    if claims == nil { result.claims = defaults.claims }
    for value in defaults.early where !sets(value.key) { result.early.append(value) }
    return result
  }
}
