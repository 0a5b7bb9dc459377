// The states of operations, and how many operations are in each.

/// `waiting → ready → running → ended`; `running → paused → ready` for a retry, `waiting → paused →
/// ready` for a gated operation. An operation can end from any state.
package enum OperationState: Hashable, Sendable {
  /// Some edges of the operation are not satisfied yet.
  case waiting
  /// The operation waits only for a slot of its queue, or for its claims.
  case ready
  /// The operation holds a slot and its claims.
  case running
  /// The operation holds nothing until it is resumed, as between two attempts or at its gate.
  case paused
  case ended(Ending)
}

extension OperationState {
  package var hasEnded: Bool {
    if case .ended = self { true } else { false }
  }

  package var ending: Ending? {
    if case .ended(let ending) = self { ending } else { nil }
  }
}

/// The number of operations in each state.
package struct StateCounts: Hashable, Sendable {
  package private(set) var waiting = 0
  package private(set) var ready = 0
  package private(set) var running = 0
  package private(set) var paused = 0
  package private(set) var ended = 0

  package init() {}

  /// The number of operations that have not ended.
  package var unfinished: Int { waiting + ready + running + paused }

  mutating func add(_ other: StateCounts) {
    waiting += other.waiting
    ready += other.ready
    running += other.running
    paused += other.paused
    ended += other.ended
  }

  @inline(__always)
  mutating func move(from old: OperationState, to new: OperationState) {
    add(-1, to: old)
    add(1, to: new)
  }

  @inline(__always)
  mutating func add(_ count: Int, to state: OperationState) {
    switch state {
    case .waiting: waiting += count
    case .ready: ready += count
    case .running: running += count
    case .paused: paused += count
    case .ended: ended += count
    }
  }
}

/// An operation that ended without `Scheduler.finish`: it did not run, or not again.
package struct Settlement: Hashable, Sendable {
  package let operation: OperationID
  package let ending: Ending
  package let cause: Cause

  package init(_ operation: OperationID, _ ending: Ending, _ cause: Cause) {
    self.operation = operation
    self.ending = ending
    self.cause = cause
  }
}
