// Reports operations that wait for long for something that steps of the same run hold, and which steps these are.

import Plans
package import Scheduling

/// What is watched for long waits.
struct WaitWatch {
  /// The operations that were ready when the watch began, and may have waited since.
  var witnesses: [OperationID] = []
  var isWatching = false
  /// Counts what may have changed who waits for whom.
  var changeCount = 0
  /// The count as it was when the watch began.
  var watchedCount = -1
  /// The operations that were reported as holding something; the next report comes only when none of them holds it
  /// any more.
  var told: [HeldUp.Shared: Set<OperationID>] = [:]
}

extension RunMachine {
  /// Waits that last longer than this are reported.
  package static let longWait: Nanoseconds = 10_000_000_000

  /// Starts the watch, if anything waits. Must be called when everything that can start has started.
  mutating func watchWaits(at now: Nanoseconds) {
    guard !waits.isWatching, waits.watchedCount != waits.changeCount, scheduler.hasReady(),
      !active.isEmpty
    else { return }
    waits.isWatching = true
    waits.watchedCount = waits.changeCount
    waits.witnesses = scheduler.firstReady()
    timers.set(
      Timer(
        at: now + RunMachine.longWait, operation: .run, purpose: .longWait,
        phase: 0))
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
  }

  /// Nil if nothing that somebody holds keeps the operation from starting.
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
