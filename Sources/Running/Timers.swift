// Deadlines in virtual time: a binary heap. Timers that are no longer wanted stay in it until there are
// many of them, or their time has come first.

import Scheduling

/// Something that is due at a moment of the run.
struct Timer: Hashable {
  enum Purpose: Hashable {
    /// The command has reached its time limit.
    case timeLimit
    /// The command was asked to end, and its grace period is over.
    case killDue
    /// The hook has run as long as it may while the run is being stopped.
    case hookLimit
    case retryDue
    /// A condition of `wait_for` is checked again.
    case probeDue
    /// A condition of `wait_for` has reached its time limit.
    case probeLimit
    /// The steps of the group have taken as long as they may.
    case groupTimeLimit
    /// Long waits are looked for and reported.
    case longWait
    /// A service without conditions is ready.
    case readyDue
    /// The whole run has reached its time limit.
    case runTimeLimit
  }

  let at: Nanoseconds
  let operation: OperationID
  let purpose: Purpose
  /// Valid only while the operation is in the phase with this number.
  let phase: Int

  /// Limits the time to the last moment of virtual time.
  init(at time: Nanoseconds, operation: OperationID, purpose: Purpose, phase: Int) {
    at = min(time, lastMoment)
    self.operation = operation
    self.purpose = purpose
    self.phase = phase
  }
}

/// The timers of a run, earliest first; equal ones in the order in which they were set.
struct Timers {
  private var heap: [(timer: Timer, order: Int)] = []
  private var setCount = 0
  /// The number of timers when the unwanted ones were last removed.
  private var wantedCount = 0

  var count: Int { heap.count }

  var earliest: Timer? { heap.first?.timer }

  /// True if so many timers were set since then that removing the unwanted ones costs little.
  var mayHoldMany: Bool { heap.count > 2 * wantedCount + 64 }

  mutating func set(_ timer: Timer) {
    heap.append((timer, setCount))
    setCount += 1
    var index = heap.count - 1
    while index > 0, isBefore(index, (index - 1) / 2) {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func removeEarliest() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
    heap[0] = last
    var index = 0
    while 2 * index + 1 < heap.count {
      var child = 2 * index + 1
      if child + 1 < heap.count, isBefore(child + 1, child) { child += 1 }
      guard isBefore(child, index) else { return }
      heap.swapAt(child, index)
      index = child
    }
  }

  /// Keeps the wanted timers and forgets all others. `n log n`.
  mutating func keep(where isWanted: (Timer) -> Bool) {
    // A sorted array is a heap.
    heap = heap.filter { isWanted($0.timer) }.sorted { one, other in
      (one.timer.at, one.order) < (other.timer.at, other.order)
    }
    wantedCount = heap.count
  }

  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    (heap[left].timer.at, heap[left].order) < (heap[right].timer.at, heap[right].order)
  }
}
