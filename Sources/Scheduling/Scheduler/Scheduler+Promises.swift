// Promises: slots and claims that an operation has already, although it has not started here. A job
// of an earlier run goes on with the slot, the mutexes and the shares of its step, and the step
// takes it over when its turn comes. If the step ends without a start, they stay promised until
// somebody says that the job has ended.

extension Scheduler {
  /// Promises an operation that has not started its slot and claims, and lets it go first. The free
  /// amount of a pool may be negative afterwards.
  package mutating func promise(_ id: OperationID) {
    let state = records[id.index].state
    guard !state.hasEnded, state != .running, promised.insert(id).inserted else { return }
    let lane = Int(records[id.index].lane)
    for claim in lanes[lane].claims where !pools[claim.pool.index].spec.isGranted {
      pools[claim.pool.index].free -= claim.amount
    }
    records[id.index].key = Rank.key(priority: .max, path: Rank.longestPath)
    count(1, in: state, lanes[lane].queue)
    if state == .ready { rerank(id) }
    slotsChanged(lanes[lane].queue)
  }

  /// Ends the promises to operations that have not ended, because others may wait for just what was
  /// promised; false if there are none.
  package mutating func breakPromises() -> Bool {
    let waiting = promised.filter { !records[$0.index].state.hasEnded }
    for id in waiting.sorted() { endPromise(to: id) }
    return !waiting.isEmpty
  }

  /// Gives back what was promised to the operation, if anything.
  package mutating func endPromise(to id: OperationID) {
    guard promised.remove(id) != nil else { return }
    let queue = lanes[Int(records[id.index].lane)].queue
    count(-1, in: records[id.index].state, queue)
    giveBackPromised(id)
    slotsChanged(queue)
  }

  /// Called when an operation with a promise has changed its state. One that starts takes its claims itself.
  mutating func promisedMoved(
    _ id: OperationID, from old: OperationState, to state: OperationState, in queue: Int
  ) {
    count(-1, in: old, queue)
    if state != .running {
      count(1, in: state, queue)
    } else if lanes[Int(records[id.index].lane)].isPlain {
      promised.remove(id)
    }
  }

  /// True if the first operation of the lane has its claims already.
  func isPromised(_ lane: Int) -> Bool {
    !promised.isEmpty
      && lanes[lane].ready.first.map { promised.contains(OperationID(Int($0.item))) } == true
  }

  private mutating func giveBackPromised(_ id: OperationID) {
    let lane = Int(records[id.index].lane)
    for claim in lanes[lane].claims where !pools[claim.pool.index].spec.isGranted {
      pools[claim.pool.index].free += claim.amount
    }
    for claim in lanes[lane].claims { callLanes(to: claim.pool.index) }
  }

  private mutating func count(_ change: Int, in state: OperationState, _ queue: Int) {
    if state == .ready {
      queues[queue].promisedReady += change
    } else {
      queues[queue].promisedSlots += change
    }
  }
}
