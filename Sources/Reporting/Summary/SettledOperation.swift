// What is known of an operation that has ended, and lists of such operations. How a run came out follows from them.

import Plans
import RunFiles
import Scheduling

/// How an operation ended, and everything that was learnt about it on the way.
struct SettledOperation {
  let operation: OperationID
  let ending: Ending
  let cause: Cause
  /// The record of the operation; nil if it never started.
  let record: RunLedger.Running?
  /// How the operation that is the cause ended.
  var rootOutcome: Outcome?
  /// The step's command with the values of its expressions; nil if it has none.
  var command: String?
  /// Somebody has asked for its last attempt, or for one before: it may be tried more often than its file says.
  var isAskedFor = false
  var isService = false

  /// The command whose end decided; nil if none ran.
  var decisive: CommandResult? {
    if case .hook = cause { return record?.failedHook }
    if isUnended { return record?.failedHook ?? record?.last }
    // It had succeeded, and was stopped in a hook.
    if ending.outcome == .cancelled, let hook = record?.failedHook, hook.end.isStopped,
      hadSucceeded
    {
      return hook
    }
    return record?.last
  }

  /// Whether its command had done what it was meant for. What ends a service that nothing needs any more is a signal.
  private var hadSucceeded: Bool {
    guard let end = record?.last?.end else { return true }
    if !isService { return end.isSuccess }
    return !end.isStopped && !end.timedOut && end.notReadyAfter == nil
  }
}

extension SettledOperation {
  /// How many attempts may follow the first one; 0 if nothing says so.
  func retryLimit(_ settings: StepSettings) -> Int { isAskedFor ? 0 : settings.retry.limit }

  /// It had no end when oprun died: how it would have come out is not known.
  var isUnended: Bool { cause == .stopped(.died) }

  /// The run was left before its end: it goes on elsewhere, or was to begin after what does.
  var isLeft: Bool { cause == .stopped(.left) }

  /// It did not start, neither in this run nor in one before from which it is kept.
  var hasNotStarted: Bool {
    if case .stoppedEarlier = cause { return false }
    return record == nil
  }

  /// It was not seen to come to its end.
  var hasNoEnd: Bool { isUnended || isLeft }

  /// Whether its command ran until the run or its group was ended from outside, or by a limit: nothing else says
  /// what it did.
  var isInterrupted: Bool {
    guard ending.outcome == .cancelled, (record?.last ?? record?.failedHook) != nil,
      case .stopped(let reason) = cause
    else { return false }
    return switch reason {
    case .signal, .runTimeout, .groupTimeout, .request, .died: true
    case .failure, .noWidth, .suspended, .left, .noOutputs, .stateFailure, .overtaken: false
    }
  }
}

/// One command's end.
struct CommandResult {
  let role: CommandRole
  let end: CommandEnd
  /// The file of its output; nil if there was none.
  var log: FileIdentity?
  /// Where it ran, if that was not here.
  @Rare var place: CommandPlacement?
}

/// A large value that is hardly ever there: only then it takes room, which thousands of records would waste.
@propertyWrapper struct Rare<Value> {
  private final class Box {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  private var box: Box?

  var wrappedValue: Value? {
    get { box?.value }
    set { box = newValue.map(Box.init) }
  }
}

/// A hook of the run itself, or of a used pipeline, that failed and did not decide how that came out.
struct FailedHook {
  let operation: OperationID
  let command: CommandResult
  /// It changes nothing for the run, because its pipeline may fail.
  var isAllowed = false

  var stream: Stream { Stream(operation: operation, role: command.role) }
}

/// The first few operations of something in the order of their ends, and how many there are. Instances of
/// a step are one of them.
struct FoldedNames {
  private(set) var first: [(operation: OperationID, group: OperationID?, count: Int)] = []
  private(set) var count = 0

  private static let limit = 20

  mutating func add(_ operation: OperationID, in group: OperationID?) {
    count += 1
    if let group, let index = first.firstIndex(where: { $0.group == group }) {
      first[index].count += 1
    } else if first.count < Self.limit {
      first.append((operation, group, 1))
    }
  }

  /// It is not among them any more, if its name was here; only then is it known that it was.
  mutating func remove(_ operation: OperationID, in group: OperationID?) {
    let found = first.firstIndex { group == nil ? $0.operation == operation : $0.group == group }
    guard let index = found else {
      count -= otherCount > 0 ? 1 : 0
      return
    }
    count -= 1
    first[index].count -= 1
    if first[index].count == 0 { first.remove(at: index) }
  }

  /// The number of operations that have no name here.
  var otherCount: Int { first.reduce(count) { $0 - $1.count } }
}
