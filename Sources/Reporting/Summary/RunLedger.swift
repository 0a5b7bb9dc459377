// The results of a run so far: the facts that its summary needs, folded from its events. It needs
// fixed memory, plus 13 bytes per operation, plus what has not ended. Groups with members are not
// counted: their members are.

import Plans
import RunFiles
import Scheduling

struct RunLedger {
  /// An operation between its first start and its end.
  struct Running {
    let start: Nanoseconds
    var last: CommandResult?
    @Rare var place: CommandPlacement?
    @Rare var failedHook: CommandResult?
  }

  private let operations: RunOperations
  private var running: UnendedOperations
  /// The number of operations with each kind of ending.
  private(set) var counts = EndingCounts()
  /// The number of operations with an ending that is usually that of work.
  private(set) var workCount = 0
  /// The longest chain of work that led to the end of each operation that ended.
  private var chains: [Nanoseconds]
  private var outcomes: [Outcome?]
  /// The longest chain that led to the instances of each step that was expanded.
  private var chainsBefore: [OperationID: Nanoseconds] = [:]
  /// The commands of operations that have not ended.
  private var commands: [OperationID: String] = [:]
  /// The first failures that are not allowed.
  private(set) var failures: [SettledOperation] = []
  private(set) var otherFailures = FoldedNames()
  /// The first operations whose commands were ended because the run, or their group, had to end.
  private(set) var interrupted: [SettledOperation] = []
  private(set) var otherInterrupted = FoldedNames()
  /// The first services that somebody cancelled, perhaps with the run.
  private var cancelledServices: [SettledOperation] = []
  private var end: RunEnd?
  /// The operations that were blocked by each of the first failures, and by operations without an outcome.
  private var blocked: [OperationID: FoldedNames] = [:]
  /// The sum of the times of all commands.
  private(set) var work: Nanoseconds = 0
  private var longest: OperationID?
  /// The failed hooks of the run itself and of used pipelines. Other hooks are part of their steps.
  private(set) var failedHooks: [FailedHook] = []
  /// Groups that failed by themselves.
  private var faultyGroups: Set<OperationID> = []
  /// Services that are or were ready: their time ended then.
  private var ready: Set<OperationID> = []
  /// Operations that somebody has asked to run again after a failed attempt.
  private var askedFor: Set<OperationID> = []
  /// False if work had been done before somebody began to look.
  private(set) var hasSeenAll = true
  /// The last commands of services that have ended.
  private(set) var serviceCommands: [OperationID: CommandResult] = [:]

  /// The number of failures that are shown, most of them in one line.
  private static let failureLimit = 15
  private static let interruptedLimit = 3

  init(_ operations: RunOperations) {
    self.operations = operations
    running = UnendedOperations(count: operations.count)
    chains = [Nanoseconds](repeating: 0, count: operations.count)
    outcomes = [Outcome?](repeating: nil, count: operations.count)
  }

  func running(_ operation: OperationID) -> Running? { running[operation] }

  /// Takes note of an operation that had ended before somebody began to look.
  mutating func settledBefore(_ ending: Ending) {
    if ending.outcome.isOfWork { hasSeenAll = false }
  }

  mutating func count(upToDate number: Int) { counts.add(Ending(.cached), .itself, number) }

  mutating func start(_ operation: OperationID, at time: Nanoseconds) {
    running.add(operation, at: time)
  }

  mutating func resolve(_ operation: OperationID, command: String?) {
    if let command { commands[operation] = command }
  }

  mutating func end(_ operation: OperationID, _ command: CommandResult, at time: Nanoseconds) {
    work += command.end.duration
    if !command.end.isSuccess, operation.rawValue < 0 || operations.standsForOthers(operation) {
      failedHooks.append(FailedHook(operation: operation, command: command))
    }
    if operation.rawValue < 0 { return }
    // A command that cannot be started may end without a start.
    start(operation, at: time)
    if case .hook = command.role {
      if !command.end.isSuccess { running.change(operation) { $0.failedHook = command } }
    } else {
      running.change(operation) { running in
        var last = command
        last.place = running.place
        running.last = last
        running.place = nil
      }
    }
  }

  /// Remembers the place of the command of an operation.
  mutating func place(_ operation: OperationID, _ place: CommandPlacement) {
    running.change(operation) { $0.place = place.following($0.place) }
  }

  /// Settles an operation; nil for a group whose members stand for it.
  mutating func settle(
    _ operation: OperationID, _ ending: Ending, _ cause: Cause, at time: Nanoseconds
  ) -> SettledOperation? {
    makeRoom(for: operation)
    let record = running.remove(operation)
    let command = commands.isEmpty ? nil : commands.removeValue(forKey: operation)
    outcomes[operation.index] = ending.outcome
    if ready.isEmpty || !ready.contains(operation) {
      extendChain(to: operation, by: record.map { time - $0.start } ?? 0)
    }
    if operations.isService(operation) { serviceCommands[operation] = record?.last }
    if operations.standsForOthers(operation) {
      guard decidesItself(operation, ending, cause, record) else { return nil }
      faultyGroups.insert(operation)
    }
    if cause == .stopped(.died) { counts.add(unended: 1) } else { counts.add(ending, cause) }
    if ending.outcome.isOfWork { workCount += 1 }
    var settled = SettledOperation(
      operation: operation, ending: ending, cause: cause, record: record)
    if case .dependency(let root) = cause {
      // What ended a service is known before its hooks have run.
      let isStopped = running[root]?.last?.end.isStopped == true
      settled.rootOutcome = outcome(of: root) ?? (isStopped ? .cancelled : nil)
    }
    settled.command = command
    settled.isAskedFor = askedFor.contains(operation)
    settled.isService = operations.isService(operation)
    collect(settled)
    return settled
  }

  /// True if a group counts for itself: its condition, its time or its hook failed, or it was cancelled in a hook.
  private mutating func decidesItself(
    _ group: OperationID, _ ending: Ending, _ cause: Cause, _ record: Running?
  ) -> Bool {
    var (isStopped, isOfHook) = (false, false)
    if case .stopped = cause { isStopped = true }
    if case .hook = cause { isOfHook = true }
    let wasCancelled =
      ending.outcome == .cancelled && isStopped && record?.failedHook?.end.isStopped == true
    if isOfHook || wasCancelled {
      failedHooks.removeAll { $0.operation == group }
    }
    for index in failedHooks.indices where failedHooks[index].operation == group {
      failedHooks[index].isAllowed = ending.isAllowed
    }
    return wasCancelled || ending.outcome.isFailure && cause.isOfGroupItself
  }

  /// Takes back the ending of an operation: it runs again, or waits for one that does.
  mutating func reopen(_ operation: OperationID, _ ending: Ending) {
    if ending.outcome != .blocked { askedFor.insert(operation) }
    outcomes[operation.index] = nil
    serviceCommands[operation] = nil
    if operations.standsForOthers(operation), faultyGroups.remove(operation) == nil { return }
    counts.add(ending, .itself, -1)
    if ending.outcome.isOfWork { workCount -= 1 }
    let group = operations.fold(of: operation)
    switch ending.outcome {
    case .failed, .timedOut:
      if ending.isAllowed {
        break
      } else if let index = failures.firstIndex(where: { $0.operation == operation }) {
        failures.remove(at: index)
        blocked[operation] = nil
      } else {
        otherFailures.remove(operation, in: group)
      }
    case .blocked:
      for root in blocked.keys { blocked[root]?.remove(operation, in: group) }
    case .cancelled:
      if let index = interrupted.firstIndex(where: { $0.operation == operation }) {
        interrupted.remove(at: index)
      } else {
        otherInterrupted.remove(operation, in: group)
      }
    case .succeeded, .cached, .skipped: break
    }
  }

  /// Takes note of a change from outside: in a recorded run, only that shows what was reopened.
  mutating func hear(_ note: ControlNote) {
    guard case .retry(let step) = note.action else { return }
    let name = StepName(operations.name(step))
    running.forEach { operation, state in
      if state.last != nil, name.covers(operations.name(operation)) { askedFor.insert(operation) }
    }
  }

  func hasEnded(_ operation: OperationID) -> Bool { outcome(of: operation) != nil }

  private func outcome(of operation: OperationID) -> Outcome? {
    outcomes.indices.contains(operation.index) ? outcomes[operation.index] : nil
  }

  /// Makes room for an operation, because some are appended during the run.
  private mutating func makeRoom(for operation: OperationID) {
    while chains.count <= operation.index {
      chains.append(0)
      outcomes.append(nil)
    }
  }

  private mutating func collect(_ settled: SettledOperation) {
    let early = blocked.isEmpty ? nil : blocked.removeValue(forKey: settled.operation)
    switch settled.ending.outcome {
    case .failed, .timedOut:
      if !settled.ending.isAllowed { add(failure: settled, early ?? FoldedNames()) }
    case .blocked:
      guard case .dependency(let root) = settled.cause else { return }
      note(settled.operation, blockedBy: root)
    case .cancelled:
      if isInterrupted(settled) {
        add(interrupted: settled)
      } else if isCancelledService(settled), cancelledServices.count < Self.interruptedLimit {
        cancelledServices.append(settled)
      }
    case .succeeded, .cached, .skipped: break
    }
  }

  /// True if a step was interrupted, so that its result was not seen. A service never ends by
  /// itself, but somebody may have cancelled it while others needed it; as long as the run goes on
  /// it is not known whether that was meant.
  func isInterrupted(_ settled: SettledOperation) -> Bool {
    guard operations.isService(settled.operation) else { return settled.isInterrupted }
    guard let end, isCancelledService(settled) else { return false }
    return settled.cause != end.stopReason.map { .stopped($0) }
  }

  private func isCancelledService(_ settled: SettledOperation) -> Bool {
    guard case .stopped(.request) = settled.cause else { return false }
    return settled.isInterrupted && operations.isService(settled.operation)
  }

  mutating func finish(_ end: RunEnd) {
    self.end = end
    for service in cancelledServices where isInterrupted(service) { add(interrupted: service) }
  }

  /// True if resuming a run that ended like this has something to run that may come out differently.
  func isWorthResuming(after end: RunEnd) -> Bool {
    if end.stopReason == .request(StopReason.watcher) { return false }
    // After a success nothing is left to do: whatever was cut short was allowed to be.
    if end.exitStatus == 0, !end.wasLeft { return false }
    if !failures.isEmpty || !interrupted.isEmpty { return true }
    return switch end.stopReason {
    case .died, .left: true
    case .signal, .request, .runTimeout, .groupTimeout, .failure:
      [Count.failed, .timedOut, .blocked, .cancelled].contains { counts[$0] > 0 }
    case nil: counts[.cancelled] > 0 && end.exitStatus != 0
    case .noWidth, .suspended, .noOutputs, .stateFailure, .overtaken: false
    }
  }

  private mutating func add(interrupted settled: SettledOperation) {
    if interrupted.count < Self.interruptedLimit {
      interrupted.append(settled)
    } else {
      otherInterrupted.add(settled.operation, in: operations.fold(of: settled.operation))
    }
  }
}

extension RunLedger {
  private mutating func add(failure: SettledOperation, _ blocked: FoldedNames) {
    if failures.count < Self.failureLimit {
      failures.append(failure)
      self.blocked[failure.operation] = blocked
    } else {
      otherFailures.add(failure.operation, in: operations.fold(of: failure.operation))
    }
  }

  /// Notes an operation that was blocked. A service that ends by itself blocks its dependents
  /// before its hooks have run, and so before it has its outcome.
  private mutating func note(_ operation: OperationID, blockedBy root: OperationID) {
    guard blocked[root] != nil || !hasEnded(root) else { return }
    blocked[root, default: FoldedNames()].add(operation, in: operations.fold(of: operation))
  }

  /// The operations that were blocked by one of `failures`.
  func blocked(by failure: SettledOperation) -> FoldedNames {
    blocked[failure.operation] ?? FoldedNames()
  }
}

// Services.
extension RunLedger {
  mutating func becameReady(_ operation: OperationID, at time: Nanoseconds) {
    makeRoom(for: operation)
    extendChain(to: operation, by: self.time(of: operation, at: time))
    ready.insert(operation)
  }

  /// The time for which the operation has been running.
  func time(of operation: OperationID, at time: Nanoseconds) -> Nanoseconds {
    running[operation].map { time - $0.start } ?? 0
  }
}

// The critical path: the chain of operations that took longest.
extension RunLedger {
  private mutating func extendChain(to operation: OperationID, by time: Nanoseconds) {
    let before = longestChain(before: operation)
    chains[operation.index] = before + time
    if before + time > (longest.map { chains[$0.index] } ?? 0) { longest = operation }
  }

  /// The longest chain before an operation. It is cached because thousands of instances of one step
  /// waited for the same operations.
  private mutating func longestChain(before operation: OperationID) -> Nanoseconds {
    let group =
      operations.ownDependencies(of: operation) == nil
      ? operations.expandedGroup(of: operation) : nil
    if let group, let known = chainsBefore[group] { return known }
    var longest: Nanoseconds = 0
    operations.forEachDependency(of: operation) { longest = max(longest, chain(to: $0)) }
    if let group { chainsBefore[group] = longest }
    return longest
  }

  /// The chain to an operation; zero if it has not ended.
  private func chain(to operation: OperationID) -> Nanoseconds {
    operation.index < chains.count ? chains[operation.index] : 0
  }

  /// The critical path from its first operation to its last, without groups; empty if nothing ran.
  var criticalPath: [OperationID] {
    var path: [OperationID] = []
    var next = longest
    while let operation = next {
      if !operations.standsForOthers(operation) { path.append(operation) }
      next = nil
      operations.forEachDependency(of: operation) { dependency in
        if chain(to: dependency) > (next.map(chain) ?? 0) { next = dependency }
      }
    }
    return path.reversed()
  }

  var criticalTime: Nanoseconds { longest.map { chains[$0.index] } ?? 0 }
}

extension Outcome {
  /// True if an operation that ended like this usually did work.
  fileprivate var isOfWork: Bool {
    switch self {
    case .succeeded, .failed, .timedOut, .cancelled: true
    case .cached, .blocked, .skipped: false
    }
  }
}
