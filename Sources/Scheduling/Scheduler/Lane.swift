// The parts that ready operations pass through: lane, queue, waiting room, line, pool.

/// Ready operations of one queue that claim the same: if its first cannot start, none of it can.
struct Lane: Sendable {
  enum State: Equatable {
    /// Nothing in it is ready; or it claims nothing and needs no place.
    case idle
    /// Among its queue's candidates.
    case candidate
    /// In the line for a claim that did not fit.
    case parked(line: Int)
  }

  let queue: Int
  let claims: [Claim]
  /// It claims nothing.
  let isPlain: Bool
  /// Where to park for each of the claims.
  let lines: [Int]
  var ready = ReadyList()
  var state = State.idle
  /// The room that it was called out of and has not answered since.
  var calledFrom: Int?
  /// Starts that took from a pool past this lane since its own last start.
  var overtakenCount = 0
  /// No other lane takes from the pools of its claims until it has started an operation.
  var hasReservation = false

  init(queue: Int, claims: [Claim], lines: [Int]) {
    self.queue = queue
    self.claims = claims
    isPlain = claims.isEmpty
    self.lines = lines
  }
}

/// Lanes that wait in a room until an amount is free.
struct Line: Sendable {
  let room: Int
  let amount: Int64
  /// Its number among the lines of the room, smallest amount first, once they are sorted.
  var place = 0
  var lanes = RankHeap()

  init(room: Int, amount: Int64) {
    self.room = room
    self.amount = amount
  }
}

/// Where lanes of one queue wait for one pool.
struct WaitingRoom: Sendable {
  let queue: Int
  let pool: Int
  /// Smallest amount first, once they are sorted.
  var lines: [Int] = []
  /// The first lane of each line; nil while the lines are to be sorted anew.
  var order: RankTree?
  /// The lane that was called out to try; one at a time, the best that may fit.
  var called: Int?

  init(queue: Int, pool: Int) {
    self.queue = queue
    self.pool = pool
  }
}

/// A queue, and what follows from its operations' states.
struct Queue: Sendable {
  var spec: QueueSpec
  var counts = StateCounts()
  /// It may start something, and has something that may start.
  var isStartable = false
  /// Lanes with claims that may be able to start their first.
  var candidates = RankHeap()
  /// The lane of operations without claims; if it has any it can start its first.
  let plainLane: Int

  init(_ spec: QueueSpec, plainLane: Int) {
    self.spec = spec
    self.plainLane = plainLane
  }
}

/// A pool, and what follows from its operations' states.
struct Pool: Sendable {
  let spec: PoolSpec
  var free: Int64
  /// The lane with a reservation.
  var reservedFor: Int?
  /// Where lanes wait for it, one for each queue.
  var rooms: [Int] = []

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

/// What tells lines apart.
struct LineKey: Hashable, Sendable {
  let queue: Int
  let claim: Claim
}
