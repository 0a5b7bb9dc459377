// The state that one client is still to be told: of steps, never events. So it is bounded by the
// number of steps, however slow the client is, and a client that follows the run may miss states
// that did not last.

import Plans
import Scheduling

/// A command that has ended, for those who follow the run.
struct EndedCommand {
  let role: CommandRole
  let end: CommandEnd

  /// The end that is reported of two new ends of a step: the one that says more about its result.
  func orEarlier(_ earlier: EndedCommand?) -> EndedCommand {
    guard let earlier, earlier.role.isAttempt, !role.isAttempt,
      !earlier.end.isSuccess || end.isSuccess
    else { return self }
    return earlier
  }
}

struct ControlFeed {
  /// The next item for a client.
  enum Item {
    /// A step in its present state, with the last command that ended.
    case step(OperationID, EndedCommand?)
    /// A step that is not planned, because nothing of it has changed; by its place among these.
    case unplanned(Int)
    /// Every step has been told.
    case complete
  }

  /// True if every step is told, not only those that run or have failed.
  let isWhole: Bool
  /// True if changes are told until the end.
  let follows: Bool
  /// The first operation that has not been told.
  private(set) var cursor = 0
  /// The first step that is not planned and has not been told.
  private var unplannedCursor = 0
  /// The operations that have changed since they were reported, with the last command that ended.
  private var changed: [OperationID: EndedCommand?] = [:]
  /// The changed operations in the order in which they changed, including some that were told since.
  private var order: [OperationID] = []
  private var orderStart = 0
  /// True if the run itself has changed: its pauses, or why it stops.
  var isRunChanged = false
  private(set) var hasToldAll = false

  init(isWhole: Bool, follows: Bool) {
    self.isWhole = isWhole
    self.follows = follows
  }

  var isUpToDate: Bool { hasToldAll && changed.isEmpty && !isRunChanged }

  mutating func note(_ operation: OperationID, _ end: EndedCommand? = nil) {
    // A step that has not been told yet will be told with its state at that time.
    guard operation.index >= 0, operation.index < cursor || end != nil else { return }
    let known: EndedCommand? = changed[operation] ?? nil
    let told = end?.orEarlier(known) ?? known
    if changed.updateValue(told, forKey: operation) == nil { order.append(operation) }
  }

  /// Leaves out the untold operations before this one. They are told only when they change.
  mutating func skip(to index: Int) { cursor = max(cursor, index) }

  /// The next item; nil if there is none at present. Changes are told when all steps have been told once.
  mutating func next(of count: Int, unplanned unplannedCount: Int) -> Item? {
    if cursor < count {
      let operation = OperationID(cursor)
      cursor += 1
      return .step(operation, changed.removeValue(forKey: operation) ?? nil)
    }
    if isWhole, !hasToldAll, unplannedCursor < unplannedCount {
      defer { unplannedCursor += 1 }
      return .unplanned(unplannedCursor)
    }
    if !hasToldAll {
      hasToldAll = true
      return .complete
    }
    while orderStart < order.count {
      let operation = order[orderStart]
      orderStart += 1
      if orderStart > 1024, orderStart > order.count / 2 {
        order.removeFirst(orderStart)
        orderStart = 0
      }
      if let end = changed.removeValue(forKey: operation) { return .step(operation, end) }
    }
    order = []
    orderStart = 0
    return nil
  }
}
