// Ageing. Whatever can start is started, so small claims may prevent a large one from ever fitting.
// If the best lane of a waiting room is overtaken `patience` times, it gets a reservation.

extension Scheduler {
  /// Records that an operation has taken from the pool. In each waiting room the best lane for
  /// which too little is left is counted: in the same queue if it ranks before the operation; in
  /// other queues, whose ranks do not compare, if its queue could have started it.
  mutating func countOvertaken(in pool: Int, by rank: Rank, in queue: Int) {
    for room in pools[pool].rooms {
      guard let first = firstLacking(in: room) else { continue }
      let isOvertaken =
        rooms[room].queue == queue ? first.isBefore(rank) : hasRoom(rooms[room].queue)
      guard isOvertaken else { continue }
      let lane = Int(first.item)
      lanes[lane].overtakenCount += 1
      if lanes[lane].overtakenCount >= patience { reserve(lane) }
    }
  }

  private mutating func firstLacking(in room: Int) -> Rank? {
    let parked = best(in: room, isFitting: false)
    guard let called = rooms[room].called, obstacle(of: called) != nil,
      let rank = rank(ofLane: called)
    else { return parked }
    if let parked, parked.isBefore(rank) { return parked }
    return rank
  }

  /// The lane that has a reservation for the pool. It counts only while the lane's queue has a slot
  /// for it: one that cannot start keeps nothing from others.
  func holder(of pool: Int) -> Int? {
    guard let lane = pools[pool].reservedFor, hasRoom(lanes[lane].queue) else { return nil }
    return lane
  }

  /// Gives the lane a reservation: only this lane takes from its pools and from the last slot of
  /// its queue, in which it goes first. Nothing happens while another lane holds one of them,
  /// because the two could wait for each other.
  private mutating func reserve(_ lane: Int) {
    let claims = lanes[lane].claims
    guard !lanes[lane].hasReservation, claims.allSatisfy({ holder(of: $0.pool.index) == nil })
    else { return }
    for claim in claims {
      if let other = pools[claim.pool.index].reservedFor { dropReservation(of: other) }
    }
    for claim in claims { pools[claim.pool.index].reservedFor = lane }
    lanes[lane].hasReservation = true
    let queue = lanes[lane].queue
    queues[queue].reservedLanes.append(lane)
    queues[queue].hadRoom = hasRoom(queue)
    laneChanged(lane)
    refresh(queue)
  }

  /// Must be called when a queue may have got its first free slot, or lost its last: its
  /// reservations count from now on, or count no longer.
  mutating func roomChanged(_ queue: Int) {
    let reserved = queues[queue].reservedLanes
    if reserved.isEmpty || hasRoom(queue) == queues[queue].hadRoom { return }
    queues[queue].hadRoom.toggle()
    for lane in reserved {
      for claim in lanes[lane].claims { callLanes(to: claim.pool.index) }
    }
  }

  /// Called when the lane has started an operation, or has none any more.
  mutating func dropReservation(of lane: Int) {
    guard lanes[lane].hasReservation else { return }
    lanes[lane].hasReservation = false
    queues[lanes[lane].queue].reservedLanes.removeAll { $0 == lane }
    for claim in lanes[lane].claims { pools[claim.pool.index].reservedFor = nil }
    laneChanged(lane)
    refresh(lanes[lane].queue)
    for claim in lanes[lane].claims { callLanes(to: claim.pool.index) }
  }
}
