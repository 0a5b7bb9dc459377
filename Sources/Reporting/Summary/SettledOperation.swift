// The facts about an operation that has ended, and lists of such operations. The result of a run
// follows from them.

import Plans
import RunFiles
import Scheduling

/// The ending of an operation, and everything that was learnt about it on the way.
struct SettledOperation {
  let operation: OperationID
  let ending: Ending
  let cause: Cause
  /// The record of the operation; nil if it never started.
  let record: RunLedger.Running?
  /// The outcome of the operation that is the cause.
  var rootOutcome: Outcome?
  /// The step's command with the values of its expressions; nil if it has none.
  var command: String?
  /// True if somebody has asked for one of its attempts: it may be tried more often than its file says.
  var isAskedFor = false
  var isService = false

  /// The command whose end decided; nil if none ran.
  var decisive: CommandResult? {
    if case .hook = cause { return record?.failedHook }
    if isUnended { return record?.failedHook ?? record?.last }
    // The step had succeeded, and was stopped in a hook.
    if ending.outcome == .cancelled, let hook = record?.failedHook, hook.end.isStopped,
      hadSucceeded
    {
      return hook
    }
    return record?.last
  }

  /// True if the operation's command had done its work. A service that nothing needs any more is ended by a signal.
  private var hadSucceeded: Bool {
    guard let end = record?.last?.end else { return true }
    if !isService { return end.isSuccess }
    return !end.isStopped && !end.timedOut && end.notReadyAfter == nil
  }
}

extension SettledOperation {
  /// The number of attempts that may follow the first one; 0 if somebody has asked for another one.
  func retryLimit(_ settings: StepSettings) -> Int { isAskedFor ? 0 : settings.retry.limit }

  /// True if the operation had not ended when oprun died: its result is not known.
  var isUnended: Bool { cause == .stopped(.died) }

  /// True if the run was left before the operation ended: it goes on elsewhere, or was to begin after one that does.
  var isLeft: Bool { cause == .stopped(.left) }

  /// True if the operation did not start, neither in this run nor in an earlier one from which it is kept.
  var hasNotStarted: Bool {
    if case .stoppedEarlier = cause { return false }
    return record == nil
  }

  /// True if the end of the operation was not seen.
  var hasNoEnd: Bool { isUnended || isLeft }

  /// True if the command ran until the run or its group was ended from outside, or by a limit:
  /// nothing else reports what it did.
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

/// The end of one command.
struct CommandResult {
  let role: CommandRole
  let end: CommandEnd
  /// The file of the command's output; nil if there was none.
  var log: FileIdentity?
  /// The place where the command ran; nil if that was here.
  @Rare var place: CommandPlacement?
}

/// A large value that is hardly ever there: it takes room only then, which thousands of records would waste.
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

/// A failed hook of the run itself, or of a used pipeline, that did not decide the result of these.
struct FailedHook {
  let operation: OperationID
  let command: CommandResult
  /// True if the failure does not count for the run, because its pipeline may fail.
  var isAllowed = false

  var stream: Stream { Stream(operation: operation, role: command.role) }
}

/// The first few operations of a list in the order of their ends, and the number of all. Instances
/// of a step are one of them.
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

  /// Removes an operation, if its name is here; otherwise it is not known whether it was counted.
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

  /// The number of operations that are not named here.
  var otherCount: Int { first.reduce(count) { $0 - $1.count } }
}
