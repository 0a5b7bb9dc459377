// The running steps, since when they run, and what they printed last: a fold over events. An event
// takes the same time however many steps run.

import Plans
import Scheduling

/// A step that runs or waits for its next attempt, or all instances of a step.
struct LiveRow {
  /// The step, or the group whose instances the row stands for.
  let operation: OperationID
  let isFold: Bool
  let start: Nanoseconds
  fileprivate(set) var runningCount = 0
  /// The command whose last line is shown, and the readable size of its log.
  fileprivate(set) var stream: Stream?
  fileprivate(set) var byteCount = 0
  /// The next attempt, and when it starts.
  fileprivate(set) var retry: (attempt: Int, time: Nanoseconds)?
  /// The place of the step's command; nil if that is here.
  fileprivate(set) var place: CommandPlacement?
  /// True if the service is ready, and goes on beside the steps that need it.
  fileprivate(set) var isReady = false
  fileprivate let number: Int

  var isVisible: Bool { runningCount > 0 || retry != nil }
}

struct LiveSteps {
  private let operations: RunOperations
  private var rows: [OperationID: LiveRow] = [:]
  /// The steps in the order of their first starts, including those that are gone.
  private var order: [(operation: OperationID, number: Int)] = []
  private var lastNumber = 0
  /// The operations whose commands run, with the starts of their current attempts.
  private(set) var running: [OperationID: Nanoseconds] = [:]
  /// True if nothing new will start.
  private(set) var isStopping = false

  init(_ operations: RunOperations) { self.operations = operations }

  mutating func observe(_ event: RunEvent) {
    switch event.kind {
    case .started(let operation, let role):
      start(Stream(operation: operation, role: role), at: event.time)
    case .outputGrew(let operation, let role, let byteCount):
      let key = row(of: operation)
      rows[key]?.stream = Stream(operation: operation, role: role)
      rows[key]?.byteCount = byteCount
    case .ended(let operation, let role, _): end(Stream(operation: operation, role: role))
    case .retrying(let operation, let attempt, let delay):
      pause(operation, nextAttempt: attempt, at: event.time + delay)
    case .ready(let operation): rows[row(of: operation)]?.isReady = true
    case .settled(let operation, _, _): settle(operation)
    case .stopping: isStopping = true
    case .placed(let operation, let role, let place):
      let key = row(of: operation)
      guard rows[key]?.isFold == false else { break }
      rows[key]?.stream = Stream(operation: operation, role: role)
      rows[key]?.place = place
    case .began, .terminalTaken, .terminalReturned, .appended, .resolved, .waiting, .heldUp,
      .controlled, .reopened, .published, .orphansFound, .outOfReach, .restored, .notice, .finished:
      break
    }
  }

  /// The operation whose row shows this one.
  private func row(of operation: OperationID) -> OperationID {
    guard let group = operations.fold(of: operation), operations.instanceCount(of: group) > 1
    else { return operation }
    return group
  }

  private mutating func start(_ stream: Stream, at time: Nanoseconds) {
    let key = row(of: stream.operation)
    var row = rows[key] ?? newRow(key, isFold: key != stream.operation, at: time)
    if running[stream.operation] == nil {
      running[stream.operation] = time
      row.runningCount += 1
    }
    row.retry = nil
    row.place = nil
    if !row.isFold { row.stream = stream }
    rows[key] = row
  }

  /// Makes a row, with its place in the order.
  private mutating func newRow(_ key: OperationID, isFold: Bool, at time: Nanoseconds) -> LiveRow {
    lastNumber += 1
    if order.count > 2 * rows.count + 64 {
      order.removeAll { rows[$0.operation]?.number != $0.number }
    }
    order.append((key, lastNumber))
    return LiveRow(operation: key, isFold: isFold, start: time, number: lastNumber)
  }

  /// Called when the log of the command is about to be closed.
  private mutating func end(_ stream: Stream) {
    let key = row(of: stream.operation)
    if var row = rows[key], row.stream == stream, row.byteCount > 0 || row.isFold {
      row.byteCount = 0
      if row.isFold { row.stream = nil }
      rows[key] = row
    }
    // The hooks of the run belong to no step that settles.
    if stream.operation.rawValue < 0 { settle(stream.operation) }
  }

  private mutating func pause(
    _ operation: OperationID, nextAttempt: Int, at time: Nanoseconds
  ) {
    let key = row(of: operation)
    if running.removeValue(forKey: operation) != nil { rows[key]?.runningCount -= 1 }
    if rows[key]?.isFold == false { rows[key]?.retry = (nextAttempt, time) }
  }

  private mutating func settle(_ operation: OperationID) {
    let key = row(of: operation)
    let wasRunning = running.removeValue(forKey: operation) != nil
    if key == operation {
      rows[key] = nil
    } else if wasRunning {
      rows[key]?.runningCount -= 1
    }
  }

  /// The rows to show, the oldest first, ready services last. Linear.
  var visibleRows: [LiveRow] {
    let all = order.compactMap { entry in
      rows[entry.operation].flatMap { $0.number == entry.number && $0.isVisible ? $0 : nil }
    }
    return all.contains(where: \.isReady)
      ? all.filter { !$0.isReady } + all.filter(\.isReady) : all
  }
}
