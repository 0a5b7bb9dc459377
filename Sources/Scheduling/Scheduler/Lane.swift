// The parts that ready operations pass through: lane, line, queue, pool.

/// Ready operations of one queue that claim the same: if its first cannot start, none of it can.
struct Lane: Sendable {
  enum Place: Equatable {
    /// Nothing in it is ready.
    case idle
    /// Among its queue's candidates.
    case candidate
    /// In the line for a claim that did not fit.
    case parked(line: Int)
  }

  let queue: Int
  let claims: [Claim]
  /// Where to park for each of the claims.
  let lines: [Int]
  var ready = RankHeap()
  var place = Place.idle
  /// The line that it was called out of and has not answered since.
  var calledFrom: Int?
  /// Starts that took from a pool past this lane since its own last start.
  var overtakenCount = 0
  /// No other lane takes from the pools of its claims until it has started an operation.
  var hasReservation = false

  init(queue: Int, claims: [Claim], lines: [Int]) {
    self.queue = queue
    self.claims = claims
    self.lines = lines
  }
}

/// Lanes of one queue that wait until an amount is free in a pool.
struct Line: Sendable {
  let queue: Int
  let pool: Int
  let amount: Int64
  var lanes = RankHeap()
  /// The lane that was called out to try; one at a time, the best.
  var called: Int?

  init(queue: Int, pool: Int, amount: Int64) {
    self.queue = queue
    self.pool = pool
    self.amount = amount
  }
}

/// A queue, and what follows from its operations' states.
struct Queue: Sendable {
  var spec: QueueSpec
  /// Lanes that may be able to start their first.
  var candidates = RankHeap()
  /// The lane of operations without claims.
  var plainLane: Int?

  init(_ spec: QueueSpec) { self.spec = spec }
}

/// A pool, and what follows from its operations' states.
struct Pool: Sendable {
  let spec: PoolSpec
  var free: Int64
  /// The lane with a reservation.
  var reservedFor: Int?
  /// The lines that wait for it, smallest amount first.
  var lines: [Int] = []

  init(_ spec: PoolSpec) {
    self.spec = spec
    free = spec.capacity
  }

  func has(_ amount: Int64, for lane: Int) -> Bool {
    free >= amount && (reservedFor == nil || reservedFor == lane)
  }
}

/// What tells lanes apart.
struct LaneKey: Hashable, Sendable {
  let queue: Int
  let claimSet: Int32
}
