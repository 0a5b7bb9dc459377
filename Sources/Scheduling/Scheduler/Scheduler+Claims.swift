// Who gets shares of pools: all that it claims, or nothing. Parking, calling, ageing.

extension Scheduler {
  /// The line of those that wait for a claim in a queue; made when it is the first of its kind.
  mutating func line(of queue: Int, for claim: Claim) -> Int {
    let pool = claim.pool.index
    precondition(claim.amount <= pools[pool].spec.capacity, "a claim is larger than its pool")
    var place = pools[pool].lines.firstPlace { lines[$0].amount >= claim.amount }
    while place < pools[pool].lines.count {
      let line = pools[pool].lines[place]
      if lines[line].amount != claim.amount { break }
      if lines[line].queue == queue { return line }
      place += 1
    }
    lines.append(Line(queue: queue, pool: pool, amount: claim.amount))
    pools[pool].lines.insert(lines.count - 1, at: place)
    return lines.count - 1
  }

  /// Where to wait for the first claim that does not fit; nil if all fit.
  func obstacle(of lane: Int) -> Int? {
    for (claim, line) in zip(lanes[lane].claims, lanes[lane].lines)
    where !pools[claim.pool.index].has(claim.amount, for: lane) {
      return line
    }
    return nil
  }

  /// An operation of the lane starts.
  mutating func take(_ lane: Int, for id: OperationID) {
    if lanes[lane].claims.isEmpty { return }
    for claim in lanes[lane].claims { pools[claim.pool.index].free -= claim.amount }
    dropReservation(of: lane)
    lanes[lane].overtakenCount = 0
    for claim in lanes[lane].claims {
      countOvertaken(in: claim.pool.index, by: rank(of: id), in: lanes[lane].queue)
    }
  }

  /// An operation of the lane runs no more.
  mutating func giveBack(_ lane: Int) {
    if lanes[lane].claims.isEmpty { return }
    for claim in lanes[lane].claims { pools[claim.pool.index].free += claim.amount }
    for claim in lanes[lane].claims { callLanes(to: claim.pool.index) }
  }

  /// There is more to take in the pool, or one lane less that stands for its line.
  private mutating func callLanes(to pool: Int) {
    if let lane = pools[pool].reservedFor {
      if obstacle(of: lane) == nil, lanes[lane].place != .candidate { makeCandidate(lane) }
      return
    }
    for line in pools[pool].lines {
      if lines[line].amount > pools[pool].free { break }
      call(from: line)
    }
  }

  /// Makes the best lane of the line a candidate if the pool has what it waits for, and none that
  /// is better has been called and not answered.
  private mutating func call(from line: Int) {
    guard let first = lines[line].lanes.first else { return }
    let lane = Int(first.item)
    guard pools[lines[line].pool].has(lines[line].amount, for: lane) else { return }
    if let called = lines[line].called {
      if let rank = rank(ofLane: called), rank.isBefore(first) { return }
      lanes[called].calledFrom = nil
    }
    makeCandidate(lane)
    lanes[lane].calledFrom = line
    lines[line].called = lane
  }

  /// The lane that was called has started, parked or changed: the next of its line may try.
  mutating func answerCall(_ lane: Int) {
    guard let line = lanes[lane].calledFrom else { return }
    lanes[lane].calledFrom = nil
    lines[line].called = nil
    call(from: line)
  }
}

// Ageing. What can start does start, so small claims may keep a large one from ever fitting. The
// first lane of a line that is overtaken `patience` times gets a reservation.
extension Scheduler {
  /// An operation has taken from the pool, and left too little for those counted here. Within a
  /// queue only lanes before it are overtaken; across queues ranks do not compare, so all are whose
  /// queue has room.
  private mutating func countOvertaken(in pool: Int, by rank: Rank, in queue: Int) {
    for line in pools[pool].lines.reversed() {
      if lines[line].amount <= pools[pool].free { break }
      guard let lane = lines[line].called ?? lines[line].lanes.first.map({ Int($0.item) }),
        isOvertaken(lane, by: rank, in: queue)
      else { continue }
      lanes[lane].overtakenCount += 1
      if lanes[lane].overtakenCount >= patience { reserve(lane) }
    }
  }

  private func isOvertaken(_ lane: Int, by rank: Rank, in queue: Int) -> Bool {
    if lanes[lane].queue != queue { return hasRoom(lanes[lane].queue) }
    return lanes[lane].ready.first?.isBefore(rank) ?? false
  }

  /// From now on only this lane takes from its pools, and it goes first in its queue. Not while
  /// another lane has a reservation for one of them: two could wait for each other.
  private mutating func reserve(_ lane: Int) {
    let claims = lanes[lane].claims
    guard claims.allSatisfy({ pools[$0.pool.index].reservedFor == nil }) else { return }
    for claim in claims { pools[claim.pool.index].reservedFor = lane }
    lanes[lane].hasReservation = true
    laneChanged(lane)
  }

  /// It has started an operation, or cannot for a reason other than its claims.
  mutating func dropReservation(of lane: Int) {
    guard lanes[lane].hasReservation else { return }
    lanes[lane].hasReservation = false
    for claim in lanes[lane].claims { pools[claim.pool.index].reservedFor = nil }
    laneChanged(lane)
    for claim in lanes[lane].claims { callLanes(to: claim.pool.index) }
  }

  /// A queue that cannot start anything keeps nothing from others.
  mutating func dropReservations(of queue: Int) {
    for lane in lanes.indices where lanes[lane].queue == queue { dropReservation(of: lane) }
  }
}

extension [Int] {
  /// The first place whose element is wanted, if all after it are; binary search.
  func firstPlace(where isWanted: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isWanted(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
