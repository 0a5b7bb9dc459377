// A run in virtual time: it uses the real scheduler, and every command succeeds after its expected
// time. Nothing is started.

package import Plans
package import Scheduling

/// What a run would do, in order.
package struct Forecast {
  package struct Entry {
    package enum Verdict: UInt8, Sendable {
      case runs
      /// The step runs once for each instance of its matrix; they are not known yet.
      case runsEach
      /// The operation is a group: its members have their own entries.
      case standsForOthers
      /// The condition is known to be false, or the matrix to be empty.
      case skipped
      /// The step is cached, and nothing has changed.
      case upToDate
      /// Something that the operation needs will not happen.
      case doesNotStart
    }

    package let operation: OperationID
    /// The number of its wave, the operations that start at the same moment, from 1; 0 if it would
    /// not run.
    package let wave: Int32
    package let verdict: Verdict
  }

  package private(set) var entries: [Entry] = []
  package private(set) var runCount = 0
  /// The largest number of operations that run at the same time.
  package private(set) var widest = 0
  package private(set) var makespan: Nanoseconds = 0
  /// The number of operations of which the duration counts: a service takes no time of its own.
  package private(set) var timedCount = 0
  /// The number of operations that would run for an unknown time.
  package private(set) var unknownCount = 0

  private let plan: Plan
  private let groups: Groups
  private let graph: Graph
  private let guess: Nanoseconds
  private var scheduler: Scheduler
  private var running = VirtualClock()
  private var services: Services
  private let hasServices: Bool
  private var instanceLimits: InstanceLimits
  /// The services that run, each with its start number; they end in that order.
  private var runningServices: [OperationID: Int] = [:]
  private var wave: Int32 = 0
  /// The endings of operations that do not run because nothing has changed.
  private let upToDate: [OperationID: Ending]
  /// Steps that are skipped because only a part of a run is resumed, and why.
  private let leftOut: [OperationID: String]

  /// Forecasts a plan, of which some steps are up to date, and some left out. `n log n`.
  package init(
    _ plan: Plan, upToDate: [OperationID: Ending] = [:], leftOut: [OperationID: String] = [:]
  ) {
    self.plan = plan
    self.upToDate = upToDate
    self.leftOut = leftOut
    groups = Groups(plan)
    services = Services(plan, groups, makesCopies: false)
    hasServices = plan.graph.hasServices
    instanceLimits = InstanceLimits(plan, makesCopies: false)
    var graph = plan.graph
    for operation in upToDate.keys { graph.setGated(operation) }
    for operation in leftOut.keys { graph.setGated(operation) }
    self.graph = graph
    guess = Self.meanDuration(of: plan.graph)
    scheduler = Scheduler(
      graph: graph, queues: plan.queues, pools: plan.pools.map(\.alwaysOpen))
    entries.reserveCapacity(graph.count)
    repeat {
      decideAtGates()
      startAll()
    } while endNext()
    addUnstarted()
  }

  /// The assumed duration of an operation if it is unknown: the mean of the others, or one second.
  private static func meanDuration(of graph: Graph) -> Nanoseconds {
    var total: Nanoseconds = 0
    var count: Nanoseconds = 0
    for index in 0..<graph.count {
      let operation = OperationID(index)
      guard let expected = graph.expected(of: operation), graph.takesSlot(operation) else {
        continue
      }
      total = sum(total, expected)
      count += 1
    }
    return count > 0 ? total / count : 1_000_000_000
  }

  private mutating func startAll() {
    var isFirst = true
    while let operation = scheduler.next() {
      if isFirst { wave += 1 }
      isFirst = false
      runCount += 1
      let verdict: Entry.Verdict = isExpanding(operation) ? .runsEach : .runs
      entries.append(Entry(operation: operation, wave: wave, verdict: verdict))
      if hasServices, !graph.takesSlot(operation) {
        startService(operation)
        continue
      }
      timedCount += 1
      let expected = graph.expected(of: operation)
      if expected == nil { unknownCount += 1 }
      running.add(operation, endingAt: sum(makespan, expected ?? guess))
    }
    widest = max(widest, running.count)
  }

  /// Moves on to the next moment at which something ends; false if nothing runs.
  private mutating func endNext() -> Bool {
    guard let time = running.nextEnd else {
      // Everything under way waits for an instance that is held, as in a run.
      return instanceLimits.releaseOneMore() || endServices()
    }
    makespan = time
    while running.nextEnd == time, let operation = running.removeFirst() {
      finish(operation)
    }
    addSettled()
    return true
  }

  private mutating func addSettled() {
    repeat { noteSettled() } while endReleased()
  }

  private mutating func noteSettled() {
    for settlement in scheduler.takeSettlements() {
      let isDecided = if case .condition = settlement.cause { true } else { false }
      let isAsItWas = isAsItWas(settlement.operation, settlement.ending, settlement.cause)
      add(settlement.operation, isAsItWas ? .upToDate : isDecided ? .skipped : .doesNotStart)
      if hasServices { note(settlement.operation, settlement.ending) }
      if !instanceLimits.isEmpty { instanceLimits.ended(settlement.operation, groups) }
    }
  }

  /// True if the ending is the earlier one: nothing has changed, and the dependencies do not skip the operation.
  private func isAsItWas(_ operation: OperationID, _ ending: Ending, _ cause: Cause) -> Bool {
    switch upToDate[operation]?.outcome {
    case nil: false
    case let outcome? where outcome == ending.outcome && cause == .itself: true
    // Because of a failure that is kept, the operation does not reach its gate.
    case .blocked?, .cancelled?: ending.outcome == .blocked
    case .succeeded?, .cached?, .failed?, .timedOut?, .skipped?: false
    }
  }

  private mutating func finish(_ operation: OperationID) {
    scheduler.finish(operation, as: Ending(.succeeded))
    if hasServices { note(operation, Ending(.succeeded)) }
  }

  private mutating func add(_ operation: OperationID, _ verdict: Entry.Verdict) {
    entries.append(
      Entry(
        operation: operation, wave: 0,
        verdict: plan.standsForOthers(operation) ? .standsForOthers : verdict))
  }

  /// Adds the operations that do not start because their queues have no width or are suspended.
  private mutating func addUnstarted() {
    guard entries.count < graph.count else { return }
    for operation in graph.topologicalOrder() ?? [] where !scheduler.state(of: operation).hasEnded {
      add(operation, .doesNotStart)
    }
  }
}

// Late steps: skipped if that is already known, otherwise assumed to run.
extension Forecast {
  private mutating func decideAtGates() {
    var reached = takeReached()
    while !reached.isEmpty {
      for operation in reached where scheduler.state(of: operation) == .paused {
        if !instanceLimits.isEmpty, isHeld(operation) { continue }
        decide(operation)
      }
      addSettled()
      reached = takeReached()
    }
  }

  private mutating func takeReached() -> [OperationID] {
    let reached = scheduler.takeReached()
    return instanceLimits.isEmpty ? reached : reached + instanceLimits.takeReleased()
  }

  /// True if the operation is in an instance that begins when another one has ended.
  private mutating func isHeld(_ operation: OperationID) -> Bool {
    !plan.standsForOthers(operation) && !instanceLimits.admits(operation, groups)
  }

  private mutating func decide(_ operation: OperationID) {
    if plan.standsForOthers(operation) { return join(operation) }
    if let reason = leftOut[operation] { return skip(operation, reason) }
    if let reason = plan.steps[operation.index].late?.skipReason {
      return skip(operation, reason)
    }
    if let (group, reason) = skippedGroup(around: operation) {
      return skipMembers(of: group, reason)
    }
    if let group = plan.groups[operation], !group.isExpanding {
      return skip(operation, GroupPlan.emptyMatrix)
    }
    if let ending = upToDate[operation] {
      return scheduler.settle(operation, as: ending, cause: .itself)
    }
    scheduler.resume(operation)
  }

  private func isExpanding(_ operation: OperationID) -> Bool {
    if plan.groups.isEmpty { return false }
    if plan.groups[operation]?.isExpanding == true { return true }
    var next = groups.group(of: operation)
    while let group = next {
      if plan.groups[group]?.isExpanding == true { return true }
      next = groups.group(of: group)
    }
    return false
  }

  private mutating func skip(_ operation: OperationID, _ reason: String) {
    scheduler.settle(operation, as: Ending(.skipped), cause: .condition(reason))
  }

  /// The nearest enclosing group that is known not to run.
  private func skippedGroup(around operation: OperationID) -> (OperationID, String)? {
    groups.around(operation).lazy.compactMap { [plan] group in
      plan.steps[group.index].late?.skipReason.map { (group, $0) }
    }.first
  }

  private mutating func skipMembers(of group: OperationID, _ reason: String) {
    for step in groups.unendedSteps(of: group, in: scheduler)
    where !scheduler.state(of: step).hasEnded {
      skip(step, reason)
    }
  }

  private mutating func join(_ group: OperationID) {
    if let ending = upToDate[group] {
      return scheduler.settle(group, as: ending, cause: .itself)
    }
    let end = groups.ending(of: group, in: scheduler)
    scheduler.settle(group, as: end.ending, cause: groups.cause(of: end, in: scheduler))
  }
}

// Services are ready at once, take no time of their own, and end when nobody needs them.
extension Forecast {
  private mutating func startService(_ operation: OperationID) {
    runningServices[operation] = runCount
    if !services.isNeeded(operation) { services.release(operation) }
    services.becameReady(operation)
    scheduler.announce(operation)
    settleMember(operation, as: Ending(.succeeded))
    // Instances of a matrix that is not known are one operation here.
    if isExpanding(operation), plan.groups[operation] != nil { services.release(operation) }
    addSettled()
  }

  /// Called when an operation has ended.
  private mutating func note(_ operation: OperationID, _ ending: Ending) {
    services.ended(operation, in: graph)
    if services.contains(operation), !services.giveUp(operation) { return }
    settleMember(operation, as: ending)
  }

  /// Called when a member of groups in the background is ready, or has ended.
  private mutating func settleMember(_ member: OperationID, as ending: Ending) {
    for news in services.settle(member, as: ending, groups) {
      switch news {
      case .hasFailed(let group): announce(group, as: ending)
      case .isComplete(let group):
        let lasts = groups.members(of: group).contains { !scheduler.state(of: $0).hasEnded }
        guard lasts else { continue }
        services.becameReady(group)
        instanceLimits.ended(group, groups)
        announce(group, as: Ending(.succeeded))
      }
    }
  }

  private mutating func announce(_ group: OperationID, as ending: Ending) {
    if !scheduler.state(of: group).hasEnded { scheduler.announce(group, as: ending) }
    settleMember(group, as: ending)
  }

  /// Ends released services that nobody needs, and skips those that have not started; false if there are none.
  private mutating func endReleased() -> Bool {
    guard hasServices else { return false }
    let released = services.takeReleased()
    var unneeded: [OperationID] = []
    for operation in released { findUnneeded(in: operation, &unneeded) }
    endRunning(unneeded)
    for operation in unneeded where scheduler.state(of: operation) == .waiting {
      skip(operation, "no step needs it")
    }
    return !released.isEmpty
  }

  /// Collects the unneeded services in an operation. A group runs nothing: its members do.
  private func findUnneeded(in service: OperationID, _ unneeded: inout [OperationID]) {
    guard services.contains(service), !services.isNeeded(service) else { return }
    let members = groups.members(of: service)
    if members.isEmpty || runningServices[service] != nil { unneeded.append(service) }
    for member in members { findUnneeded(in: member, &unneeded) }
  }

  private mutating func endRunning(_ operations: [OperationID]) {
    var ended: [(operation: OperationID, start: Int)] = []
    for operation in operations {
      guard let start = runningServices.removeValue(forKey: operation) else { continue }
      ended.append((operation, start))
    }
    for (operation, _) in ended.sorted(by: { $0.start < $1.start }) { finish(operation) }
  }

  /// Ends all services, because nothing else goes on; false if there are none.
  private mutating func endServices() -> Bool {
    if runningServices.isEmpty { return false }
    endRunning(Array(runningServices.keys))
    addSettled()
    return true
  }
}
