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

  /// From now on only this lane takes from its pools, and it goes first in its queue. Nothing
  /// happens while another lane has a reservation for one of them, because the two could wait for
  /// each other.
  private mutating func reserve(_ lane: Int) {
    let claims = lanes[lane].claims
    guard claims.allSatisfy({ pools[$0.pool.index].reservedFor == nil }) else { return }
    for claim in claims { pools[claim.pool.index].reservedFor = lane }
    lanes[lane].hasReservation = true
    laneChanged(lane)
  }

  /// Called when the lane has started an operation, or cannot for a reason other than its claims.
  mutating func dropReservation(of lane: Int) {
    guard lanes[lane].hasReservation else { return }
    lanes[lane].hasReservation = false
    for claim in lanes[lane].claims { pools[claim.pool.index].reservedFor = nil }
    laneChanged(lane)
    for claim in lanes[lane].claims { callLanes(to: claim.pool.index) }
  }

  /// Called when a queue cannot start anything, so that it keeps nothing from others. Linear in the
  /// lanes.
  mutating func dropReservations(of queue: Int) {
    for lane in lanes.indices where lanes[lane].queue == queue { dropReservation(of: lane) }
  }
}
