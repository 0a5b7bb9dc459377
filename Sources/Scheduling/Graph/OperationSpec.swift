// The facts that the scheduler must know about an operation, a queue and a pool; no commands.

/// An operation's demands and rank.
package struct OperationSpec: Sendable {
  package var queue: QueueID = .default
  /// A number from −1000 to 1000; higher values go first. The named priorities of pipeline files
  /// are −8, −4, 0, 4, 8.
  package var priority: Int16 = 0
  /// The usual duration; nil if unknown.
  package var expected: Nanoseconds?
  /// The shares of pools that the operation needs, taken all at once or not at all.
  package var claims: [Claim] = []
  /// True if met edges make the operation paused instead of ready; `takeReached` then returns it.
  package var isGated = false
  /// False for a service: it runs beside the operations of its queue, as long as the queue may run any.
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
  /// True if the pool is empty until something outside opens it: once for each share.
  package var isGranted: Bool

  package init(name: String, capacity: Int64, isGranted: Bool = false) {
    self.name = name
    self.capacity = capacity
    self.isGranted = isGranted
  }

  /// The same pool, which nothing outside has to open.
  package var alwaysOpen: PoolSpec { PoolSpec(name: name, capacity: capacity) }
}
