// What a run has come to so far: the facts that its summary needs, folded from its events. Fixed
// memory but for nine bytes an operation, and what is running.

import Pipelines
import Scheduling

/// How an operation ended, and all that was learnt of it on the way.
struct SettledOperation {
  let operation: OperationID
  let ending: Ending
  let cause: Cause
  /// Nil if it never started.
  let record: RunLedger.Running?
  /// How the operation that is the cause ended.
  var rootOutcome: Outcome?

  /// The command whose end decided; nil if none ran.
  var decisive: TrialEnd? {
    if case .hook = cause { record?.failedHook } else { record?.last }
  }
}

/// One command's end.
struct TrialEnd {
  let trial: Trial
  let end: CommandEnd
}

/// The first few of something, and how many there are.
struct Sample<Element> {
  static var limit: Int { 20 }

  private(set) var first: [Element] = []
  private(set) var count = 0

  mutating func add(_ element: Element) {
    if first.count < Self.limit { first.append(element) }
    count += 1
  }
}

struct RunLedger {
  /// An operation between its first start and its end.
  struct Running {
    let start: Nanoseconds
    var last: TrialEnd?
    var failedHook: TrialEnd?
  }

  private let graph: Graph
  private var running: [OperationID: Running] = [:]
  private var counts = [Int](repeating: 0, count: Outcome.allCases.count)
  /// For each operation that ended: the longest chain of work that led to its end.
  private var chains: [Nanoseconds]
  private var outcomes: [Outcome?]
  private(set) var allowedFailures = 0
  /// Failures that are not allowed.
  private(set) var failures = Sample<SettledOperation>()
  /// Blocked because of the first failure.
  private(set) var blocked = Sample<OperationID>()
  /// Time that commands took, added up.
  private(set) var work: Nanoseconds = 0
  private var longest: OperationID?

  init(graph: Graph) {
    self.graph = graph
    chains = [Nanoseconds](repeating: 0, count: graph.count)
    outcomes = [Outcome?](repeating: nil, count: graph.count)
  }

  subscript(outcome: Outcome) -> Int { counts[Int(outcome.rawValue)] }

  func running(_ operation: OperationID) -> Running? { running[operation] }

  mutating func start(_ operation: OperationID, at time: Nanoseconds) {
    if running[operation] == nil { running[operation] = Running(start: time) }
  }

  mutating func end(_ operation: OperationID, _ command: TrialEnd) {
    work += command.end.duration
    guard operation.rawValue >= 0 else { return }
    if case .hook = command.trial {
      if !command.end.isSuccess { running[operation]?.failedHook = command }
    } else {
      running[operation]?.last = command
    }
  }

  mutating func settle(
    _ operation: OperationID, _ ending: Ending, _ cause: Cause, at time: Nanoseconds
  ) -> SettledOperation {
    let record = running.removeValue(forKey: operation)
    counts[Int(ending.outcome.rawValue)] += 1
    outcomes[operation.index] = ending.outcome
    extendChain(to: operation, by: record.map { time - $0.start } ?? 0)
    var settled = SettledOperation(
      operation: operation, ending: ending, cause: cause, record: record)
    if case .dependency(let root) = cause { settled.rootOutcome = outcomes[root.index] }
    collect(settled)
    return settled
  }

  private mutating func collect(_ settled: SettledOperation) {
    switch settled.ending.outcome {
    case .failed, .timedOut:
      if settled.ending.isAllowed { allowedFailures += 1 } else { failures.add(settled) }
    case .blocked:
      guard let first = failures.first.first?.operation else { return }
      if settled.cause == .dependency(first) { blocked.add(settled.operation) }
    default: break
    }
  }
}

// The critical path: the chain of operations that took longest.
extension RunLedger {
  private mutating func extendChain(to operation: OperationID, by time: Nanoseconds) {
    var before: Nanoseconds = 0
    for edge in graph.dependencies(of: operation) { before = max(before, chains[edge.from.index]) }
    chains[operation.index] = before + time
    if before + time > (longest.map { chains[$0.index] } ?? 0) { longest = operation }
  }

  /// From its first operation to its last; empty if nothing ran.
  var criticalPath: [OperationID] {
    var path: [OperationID] = []
    var next = longest
    while let operation = next {
      path.append(operation)
      next = graph.dependencies(of: operation).map(\.from)
        .max { chains[$0.index] < chains[$1.index] }
        .flatMap { chains[$0.index] > 0 ? $0 : nil }
    }
    return path.reversed()
  }

  var criticalTime: Nanoseconds { longest.map { chains[$0.index] } ?? 0 }
}

extension CommandEnd {
  var isSuccess: Bool { status == .exited(0) && !timedOut }
}
