// What the scheduler must know about an operation, a queue and a pool. No commands, no names.

/// An operation's demands and rank.
package struct OperationSpec: Sendable {
  package var queue: QueueID = .default
  /// A number from −1000 to 1000; higher values go first. The named priorities of pipeline files
  /// are −8, −4, 0, 4, 8.
  package var priority: Int16 = 0
  /// How long it usually takes; nil if unknown.
  package var expected: Nanoseconds?
  /// The shares of pools that it needs, taken all at once or not at all.
  package var claims: [Claim] = []
  /// If true, met edges make it paused instead of ready, and `takeReached` returns it.
  package var isGated = false
  /// False for a service: it runs beside what its queue runs, as long as the queue may run anything.
  package var takesSlot = true

  /// The priority of an operation that runs nothing itself: only those of its dependents count.
  package static let noPriority: Int16 = -1024

  package init() {}
}

/// A share of a pool. Amounts are in millionths, so that fractions add up exactly.
package struct Claim: Hashable, Sendable {
  package let pool: PoolID
  package let amount: Int64

  package init(_ pool: PoolID, amount: Int64) {
    self.pool = pool
    self.amount = amount
  }
}

/// A queue: a width that its running operations share.
package struct QueueSpec: Hashable, Sendable {
  package var name: String
  /// The largest number of operations that run at once; 0 starts nothing.
  package var width: Int
  package var isSuspended: Bool

  package init(name: String, width: Int, isSuspended: Bool = false) {
    self.name = name
    self.width = width
    self.isSuspended = isSuspended
  }
}

/// A resource that operations take shares of, in millionths. A mutex is a pool of one million.
package struct PoolSpec: Hashable, Sendable {
  package var name: String
  package var capacity: Int64
  /// True if it has nothing to take until something outside opens it: once for each share.
  package var isGranted: Bool

  package init(name: String, capacity: Int64, isGranted: Bool = false) {
    self.name = name
    self.capacity = capacity
    self.isGranted = isGranted
  }

  /// The same pool, but open without anything outside having to open it.
  package var alwaysOpen: PoolSpec { PoolSpec(name: name, capacity: capacity) }
}
