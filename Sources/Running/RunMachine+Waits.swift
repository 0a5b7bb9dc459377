// Reports operations that wait for long for something that steps of the same run hold, and which steps these are.

import Plans
package import Scheduling

/// The watch for long waits.
struct WaitWatch {
  /// The operations that were ready when the watch began, and may have waited since.
  var witnesses: [OperationID] = []
  var isWatching = false
  /// Counts changes that may affect who waits for whom.
  var changeCount = 0
  /// The count as it was when the watch began.
  var watchedCount = -1
  /// The operations that were reported as holding something; the next report comes only when none of them holds it
  /// any more.
  var told: [HeldUp.Shared: Set<OperationID>] = [:]
  /// True if it was reported that only the end of a service is waited for.
  var hasToldOfService = false
}

extension RunMachine {
  /// Waits that last longer than this are reported.
  package static let longWait: Nanoseconds = 10_000_000_000

  /// Starts the watch, if anything waits. Must be called when everything that can start has started.
  mutating func watchWaits(at now: Nanoseconds) {
    guard !waits.isWatching, waits.watchedCount != waits.changeCount, scheduler.hasReady(),
      !active.isEmpty
    else { return }
    waits.watchedCount = waits.changeCount
    waits.witnesses = scheduler.firstReady()
    startWatch(at: now)
  }

  private mutating func startWatch(at now: Nanoseconds) {
    waits.isWatching = true
    timers.set(
      Timer(
        at: now + RunMachine.longWait, operation: .run, purpose: .longWait,
        phase: 0))
  }

  /// Starts the watch if only services go on, until they end by themselves, and something waits for that.
  mutating func watchServices(at now: Nanoseconds) {
    if waits.isWatching || waits.hasToldOfService || awaitedService == nil { return }
    startWatch(at: now)
  }

  private mutating func tellAwaitedService() {
    guard !waits.hasToldOfService, isIdle, let found = awaitedService else { return }
    waits.hasToldOfService = true
    let (step, service) = (steps[found.step].id, steps[found.service].id)
    say(.notice("'\(step)' waits for the service '\(service)' to end by itself"))
  }

  /// A service that goes on, or the step whose instance it is, and the first step that waits for its end.
  private var awaitedService: (step: OperationID, service: OperationID)? {
    for service in active.keys.sorted() {
      let groups = groups.around(service)
      for source in [service] + groups {
        var found: OperationID?
        scheduler.graph.forEachDependent(of: source) { edge in
          if edge.condition.waitsForReadiness || groups.contains(edge.to) { return }
          if scheduler.state(of: edge.to) == .waiting { found = min(found ?? edge.to, edge.to) }
        }
        if let found { return (found, source) }
      }
    }
    return nil
  }

  mutating func tellLongWaits() {
    waits.isWatching = false
    var found: [HeldUp.Shared: [OperationID]] = [:]
    for operation in waits.witnesses where scheduler.state(of: operation) == .ready {
      if let shared = shared(keeping: operation) { found[shared, default: []].append(operation) }
    }
    waits.witnesses = []
    for (shared, waiting) in found.sorted(by: { $0.value[0] < $1.value[0] }) {
      let holders = holders(of: shared)
      guard !holders.isEmpty, waits.told[shared]?.isDisjoint(with: holders) != false else {
        continue
      }
      waits.told[shared] = Set(holders)
      say(.heldUp(waiting[0], HeldUp(shared, holders: holders)))
    }
    if !services.isEmpty { tellAwaitedService() }
  }

  /// The queue or pool that keeps the operation from starting because somebody holds it; nil if there is none.
  private func shared(keeping operation: OperationID) -> HeldUp.Shared? {
    let queue = scheduler.graph.queue(of: operation)
    let spec = scheduler[queue]
    guard spec.width > 0, !spec.isSuspended else { return nil }
    if scheduler.graph.takesSlot(operation), scheduler.hasNoSlot(queue) {
      return .queue(queue)
    }
    return scheduler.obstacle(of: operation).map { .pool($0) }
  }

  private func holders(of shared: HeldUp.Shared) -> [OperationID] {
    let running = active.keys.filter {
      $0 != .run && scheduler.state(of: $0) == .running
    }
    return running.sorted().filter { [graph = scheduler.graph] operation in
      switch shared {
      case .queue(let queue): graph.takesSlot(operation) && graph.queue(of: operation) == queue
      case .pool(let pool): graph[operation].claims.contains { $0.pool == pool }
      }
    }
  }
}
