// Pools that something outside opens, once for each operation that takes all of it: a mutex that other runs
// have, too.

extension Scheduler {
  /// The pools that are opened from outside.
  package var grantedPools: [PoolID] {
    pools.indices.filter { pools[$0].spec.isGranted }.map { PoolID($0) }
  }

  /// True if an operation would start if the pool were open, as far as slots are concerned.
  package func lacksGrant(_ pool: PoolID) -> Bool {
    isClosed(pool)
      && pools[pool.index].rooms.contains { isAwaited(in: $0) && hasRoom(rooms[$0].queue) }
  }

  /// True if a ready operation waits for the pool, which no operation of this run has.
  package func awaitsGrant(_ pool: PoolID) -> Bool {
    isClosed(pool) && pools[pool.index].rooms.contains { isAwaited(in: $0) }
  }

  private func isClosed(_ pool: PoolID) -> Bool {
    !pools[pool.index].isInUse && pools[pool.index].free == 0
  }

  private func isAwaited(in room: Int) -> Bool {
    rooms[room].lines.contains { lines[$0].lanes.first != nil }
  }

  /// True if an operation has its share of the pool.
  package func isInUse(_ pool: PoolID) -> Bool { pools[pool.index].isInUse }

  /// The operation that waits for the pool and would be the first to get it.
  package func firstAwaiting(_ pool: PoolID) -> OperationID? {
    pools[pool.index].rooms.lazy.flatMap { [self] in rooms[$0].lines }
      .compactMap { [self] in lines[$0].lanes.first }
      .min { $0.isBefore($1) }
      .flatMap { [self] in lanes[Int($0.item)].ready.first }
      .map { OperationID(Int($0.item)) }
  }

  /// Lets one operation take all of the pool.
  package mutating func open(_ pool: PoolID) {
    pools[pool.index].free = pools[pool.index].spec.capacity
    callLanes(to: pool.index)
  }

  /// Closes the pool, unless an operation has it.
  package mutating func close(_ pool: PoolID) {
    if !pools[pool.index].isInUse { pools[pool.index].free = 0 }
  }
}
