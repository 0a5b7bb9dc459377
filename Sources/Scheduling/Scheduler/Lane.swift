// The parts that ready operations pass through: lane, queue, waiting room, line, pool.

/// Ready operations of one queue with equal claims: if its first cannot start, none can.
struct Lane: Sendable {
  enum State: Equatable {
    /// Nothing in the lane is ready, or it claims nothing and is tried without being a candidate.
    case idle
    /// The lane is among its queue's candidates.
    case candidate
    /// The lane is in the line for a claim that did not fit.
    case parked(line: Int)
  }

  let queue: Int
  let claims: [Claim]
  /// True if its operations claim nothing.
  let isPlain: Bool
  /// The line in which to park for each of the claims.
  let lines: [Int]
  var ready = ReadyList()
  var state = State.idle
  /// The room that called the lane and that the lane has not answered yet.
  var calledFrom: Int?
  /// The number of starts that took from its pool ahead of this lane since its own last start.
  var overtakenCount = 0
  /// True if no other lane takes from the pools of its claims until this one has started an
  /// operation, while its queue has a slot for that.
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
  /// Its index among the lines of the room, which are sorted by amount, smallest first.
  var place = 0
  var lanes = RankHeap()

  init(room: Int, amount: Int64) {
    self.room = room
    self.amount = amount
  }
}

/// The lines in which lanes of one queue wait for one pool.
struct WaitingRoom: Sendable {
  let queue: Int
  let pool: Int
  /// The lines, smallest amount first once they are sorted.
  var lines: [Int] = []
  /// The first lane of each line; nil while the lines need sorting.
  var order: RankTree?
  /// The lane that was called to try: one at a time, the best that may fit.
  var called: Int?

  init(queue: Int, pool: Int) {
    self.queue = queue
    self.pool = pool
  }
}

/// A queue, with what is derived from its operations' states.
struct Queue: Sendable {
  var spec: QueueSpec
  /// The number of slots that something outside grants; the width counts as well.
  var grant = Int.max
  var counts = StateCounts()
  /// True if the queue may start something, and has something that may start.
  var isStartable = false
  /// Lanes with claims whose first operation may be able to start.
  var candidates = RankHeap()
  /// The lane of operations without claims; if it is not empty, its first can start.
  let plainLane: Int
  /// The number of ready operations that the scheduler only counts.
  var countedReady = 0
  /// The numbers of slots that are promised to operations that are not ready yet, and to ready ones.
  var promisedSlots = 0
  var promisedReady = 0
  /// The lanes with a reservation, and whether the queue had a slot for them at the last change.
  var reservedLanes: [Int] = [] {
    didSet { reservationCount = reservedLanes.count }
  }
  private(set) var reservationCount = 0
  var hadRoom = false

  init(_ spec: QueueSpec, plainLane: Int) {
    self.spec = spec
    self.plainLane = plainLane
  }

  /// The number of operations that may run at the same time.
  var slots: Int { min(spec.width, grant) }

  /// True if the queue has a slot besides those that are promised to operations that are not ready yet.
  var hasUnpromisedRoom: Bool { promisedReady > 0 || counts.running + promisedSlots < slots }
}

/// A pool, with what is derived from its operations' states.
struct Pool: Sendable {
  let spec: PoolSpec
  var free: Int64
  /// True while a running operation has a share of the pool.
  var isInUse = false
  /// The lane with a reservation.
  var reservedFor: Int?
  /// The rooms where lanes wait for the pool, one for each queue.
  var rooms: [Int] = []

  init(_ spec: PoolSpec) {
    self.spec = spec
    free = spec.isGranted ? 0 : spec.capacity
  }
}

/// Identifies a lane.
struct LaneKey: Hashable, Sendable {
  let queue: Int
  let claimSet: Int32
}

/// Identifies a line.
struct LineKey: Hashable, Sendable {
  let queue: Int
  let claim: Claim
}
