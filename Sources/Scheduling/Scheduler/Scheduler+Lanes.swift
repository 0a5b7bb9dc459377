// Keeps ready operations in order: in lanes, and the lanes among the candidates of their queue.

extension Scheduler {
  func rank(of id: OperationID) -> Rank {
    let record = records[id.index]
    return Rank(key: record.key, sequence: record.sequence, item: id.rawValue)
  }

  /// The lane of an operation; created when it is the first of its kind.
  mutating func lane(of id: OperationID) -> Int {
    let node = graph.nodes[id.index]
    let queue = node.takesSlot ? node.queue.index : slotlessQueue(beside: node.queue.index)
    let claimSet = node.claimSet
    if claimSet == 0 { return queues[queue].plainLane }
    let key = LaneKey(queue: queue, claimSet: claimSet)
    if let lane = laneNumbers[key] { return lane }
    let lane = appendLane(of: queue, claiming: graph.claimSets[Int(claimSet)])
    laneNumbers[key] = lane
    return lane
  }

  mutating func appendLane(of queue: Int, claiming claims: [Claim]) -> Int {
    let lines = claims.map { line(of: queue, for: $0) }
    lanes.append(Lane(queue: queue, claims: claims, lines: lines))
    lanePlaces.append(0)
    return lanes.count - 1
  }

  /// Called when the operation has become ready.
  mutating func enter(_ lane: Int, _ id: OperationID) {
    lanes[lane].ready.insert(rank(of: id), &places)
    laneChanged(lane)
  }

  /// Called when the operation is no longer ready.
  mutating func leave(_ lane: Int, _ id: OperationID) {
    lanes[lane].ready.remove(id.index, &places)
    laneChanged(lane)
  }

  /// Gives a ready operation its new rank.
  mutating func rerank(_ id: OperationID) {
    let lane = Int(records[id.index].lane)
    lanes[lane].ready.update(rank(of: id), &places)
    laneChanged(lane)
  }

  /// Moves the lane to where its first operation belongs.
  mutating func laneChanged(_ lane: Int) {
    if lanes[lane].isPlain { return }
    guard let rank = rank(ofLane: lane) else {
      setAside(lane)
      dropReservation(of: lane)
      answerCall(lane)
      return
    }
    switch lanes[lane].state {
    case .idle:
      makeCandidate(lane)
    case .candidate:
      queues[lanes[lane].queue].candidates.update(at: Int(lanePlaces[lane]), to: rank, &lanePlaces)
    case .parked(let line):
      lines[line].lanes.update(at: Int(lanePlaces[lane]), to: rank, &lanePlaces)
      lineChanged(line)
      if hasEnough(for: lane, in: line) || isPromised(lane) { makeCandidate(lane) }
    }
    answerCall(lane)
  }

  /// The rank of the lane's first operation; a lane with a reservation goes before all others.
  func rank(ofLane lane: Int) -> Rank? {
    guard var rank = lanes[lane].ready.first else { return nil }
    rank.item = Int32(lane)
    if lanes[lane].hasReservation { rank.key = Rank.firstKey }
    return rank
  }

  mutating func makeCandidate(_ lane: Int) {
    setAside(lane)
    guard let rank = rank(ofLane: lane) else { return }
    let queue = lanes[lane].queue
    lanes[lane].state = .candidate
    queues[queue].candidates.insert(rank, &lanePlaces)
    refresh(queue)
  }

  mutating func park(_ lane: Int, in line: Int) {
    setAside(lane)
    guard let rank = rank(ofLane: lane) else { return }
    lanes[lane].state = .parked(line: line)
    lines[line].lanes.insert(rank, &lanePlaces)
    lineChanged(line)
    answerCall(lane)
  }

  private mutating func setAside(_ lane: Int) {
    switch lanes[lane].state {
    case .idle: return
    case .candidate:
      let queue = lanes[lane].queue
      queues[queue].candidates.remove(at: Int(lanePlaces[lane]), &lanePlaces)
      refresh(queue)
    case .parked(let line):
      lines[line].lanes.remove(at: Int(lanePlaces[lane]), &lanePlaces)
      lineChanged(line)
    }
    lanes[lane].state = .idle
  }

  /// True if one more operation of the queue may run. Inlined, because a call would copy the scheduler.
  @inline(__always)
  func hasRoom(_ queue: Int) -> Bool {
    !queues[queue].spec.isSuspended && queues[queue].counts.running < queues[queue].slots
      && (promised.isEmpty || queues[queue].hasUnpromisedRoom)
  }

  /// Must be called when a queue's width or counts have changed, or what it could start.
  mutating func refresh(_ queue: Int) {
    let hasAny =
      queues[queue].countedReady > 0 || !lanes[queues[queue].plainLane].ready.isEmpty
      || !queues[queue].candidates.isEmpty
    let isStartable =
      hasAny && hasRoom(queue)
      && (queues[queue].reservationCount == 0 || mayStartUnderReservation(queue))
    if isStartable == queues[queue].isStartable { return }
    queues[queue].isStartable = isStartable
    startableQueues.set(queue, to: isStartable)
  }

  /// True if a queue has more free slots than reservations, or its first candidate has a
  /// reservation. It is not inlined, because the compiler would then copy the queue for every
  /// operation.
  @inline(never)
  private func mayStartUnderReservation(_ queue: Int) -> Bool {
    // The pools may be held by services, which go on for what would start here.
    if graph.hasServices, queues[queue].counts.running == 0 { return true }
    if queues[queue].slots - queues[queue].counts.running > queues[queue].reservationCount {
      return true
    }
    return queues[queue].candidates.first.map { lanes[Int($0.item)].hasReservation } ?? false
  }

  /// The lane to try next: of those that may be able to start, the one with the best operation.
  func firstLane(of queue: Int) -> Int? {
    if queues[queue].reservationCount > 0, !mayStartUnderReservation(queue) { return nil }
    let plain = queues[queue].plainLane
    guard let candidate = queues[queue].candidates.first else {
      return lanes[plain].ready.isEmpty ? nil : plain
    }
    if let rank = lanes[plain].ready.first, rank.isBefore(candidate) { return plain }
    return Int(candidate.item)
  }
}
