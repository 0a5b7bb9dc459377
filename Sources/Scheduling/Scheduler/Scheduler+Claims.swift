// Gives out shares of pools: everything that an operation claims, or nothing.
//
// A lane whose claims do not fit is parked in the line for the first claim that does not. When its
// pool has more to take, the best lane that may fit now is called from each waiting room; once it
// has answered, by starting or by parking elsewhere, the next one is. So a pool that many wait for
// costs no more than a few steps each time.

extension Scheduler {
  /// The line in which to wait for the first claim that does not fit; nil if all fit.
  func obstacle(of lane: Int) -> Int? {
    if lanes[lane].isPlain { return nil }
    let isPromised = isPromised(lane)
    for index in lanes[lane].claims.indices {
      let claim = lanes[lane].claims[index]
      if isPromised, !pools[claim.pool.index].spec.isGranted { continue }
      if !has(claim.amount, in: claim.pool.index, for: lane) { return lanes[lane].lines[index] }
    }
    return nil
  }

  func hasEnough(for lane: Int, in line: Int) -> Bool {
    has(lines[line].amount, in: rooms[lines[line].room].pool, for: lane)
  }

  private func has(_ amount: Int64, in pool: Int, for lane: Int) -> Bool {
    pools[pool].free >= amount && (holder(of: pool) ?? lane) == lane
  }

  /// Called when an operation of the lane starts.
  mutating func take(_ lane: Int, for id: OperationID) {
    let claims = lanes[lane].claims
    let isPromised = !promised.isEmpty && promised.remove(id) != nil
    for claim in claims {
      if !isPromised || pools[claim.pool.index].spec.isGranted {
        pools[claim.pool.index].free -= claim.amount
      }
      pools[claim.pool.index].isInUse = true
    }
    dropReservation(of: lane)
    lanes[lane].overtakenCount = 0
    for claim in claims {
      countOvertaken(in: claim.pool.index, by: rank(of: id), in: lanes[lane].queue)
    }
  }

  /// Called when an operation of the lane no longer runs.
  mutating func giveBack(_ lane: Int) {
    let claims = lanes[lane].claims
    for claim in claims { giveBack(claim) }
    for claim in claims { callLanes(to: claim.pool.index) }
  }

  private mutating func giveBack(_ claim: Claim) {
    let pool = claim.pool.index
    // A granted share is granted anew, to whoever is next.
    if pools[pool].spec.isGranted {
      pools[pool].isInUse = false
    } else {
      pools[pool].free += claim.amount
    }
  }

  /// Called when there is more to take from the pool.
  mutating func callLanes(to pool: Int) {
    if let lane = holder(of: pool) {
      if obstacle(of: lane) == nil, lanes[lane].state != .candidate { makeCandidate(lane) }
    } else {
      for room in pools[pool].rooms { call(from: room) }
    }
  }

  /// Makes the best lane for which the pool has enough a candidate, unless a better one has been
  /// called and has not answered.
  private mutating func call(from room: Int) {
    let pool = rooms[room].pool
    guard holder(of: pool) == nil, let first = best(in: room, isFitting: true) else {
      return
    }
    if let called = rooms[room].called {
      if let rank = rank(ofLane: called), rank.isBefore(first) { return }
      lanes[called].calledFrom = nil
    }
    makeCandidate(Int(first.item))
    lanes[Int(first.item)].calledFrom = room
    rooms[room].called = Int(first.item)
  }

  /// Called when a lane that was called has started, parked or changed: the next may try.
  mutating func answerCall(_ lane: Int) {
    guard let room = lanes[lane].calledFrom else { return }
    lanes[lane].calledFrom = nil
    rooms[room].called = nil
    call(from: room)
  }
}

extension Scheduler {
  /// The line of the lanes of a queue that wait for a claim; created when it is the first of its
  /// kind.
  mutating func line(of queue: Int, for claim: Claim) -> Int {
    let key = LineKey(queue: queue, claim: claim)
    if let line = lineNumbers[key] { return line }
    let pool = claim.pool.index
    precondition(claim.amount <= pools[pool].spec.capacity, "a claim is larger than its pool")
    let room = room(of: queue, for: pool)
    lines.append(Line(room: room, amount: claim.amount))
    rooms[room].lines.append(lines.count - 1)
    rooms[room].order = nil
    lineNumbers[key] = lines.count - 1
    return lines.count - 1
  }

  private mutating func room(of queue: Int, for pool: Int) -> Int {
    if let room = pools[pool].rooms.first(where: { rooms[$0].queue == queue }) { return room }
    rooms.append(WaitingRoom(queue: queue, pool: pool))
    pools[pool].rooms.append(rooms.count - 1)
    return rooms.count - 1
  }

  /// Called when another lane has become the first of the line.
  mutating func lineChanged(_ line: Int) {
    let first = lines[line].lanes.first ?? .none
    rooms[lines[line].room].order?.set(lines[line].place, to: first)
  }

  /// The best lane parked in the room, among those for which the pool has enough, or too little.
  mutating func best(in room: Int, isFitting: Bool) -> Rank? {
    let order = order(of: room)
    let free = pools[rooms[room].pool].free
    let count = rooms[room].lines.count
    let fitting = rooms[room].lines.firstPlace { lines[$0].amount > free }
    return order.best(in: isFitting ? 0..<fitting : fitting..<count)
  }

  private mutating func order(of room: Int) -> RankTree {
    if let order = rooms[room].order { return order }
    let sorted = rooms[room].lines.sorted { lines[$0].amount < lines[$1].amount }
    for (place, line) in sorted.enumerated() { lines[line].place = place }
    let order = RankTree(sorted.map { lines[$0].lanes.first ?? .none })
    rooms[room].lines = sorted
    rooms[room].order = order
    return order
  }
}

extension [Int] {
  /// The first index whose element is wanted, provided that all after it are, too. Binary search.
  fileprivate func firstPlace(where isWanted: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isWanted(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
