// Ready operations in order. Most of them arrive in the order in which they leave, so those are
// kept in a plain list, and only one that belongs before the end of the list goes to a heap.

struct ReadyList: Sendable {
  /// The plain list, in order; an entry that was removed from the middle has no item.
  private var run: [Rank] = []
  /// All entries before this index are gone.
  private var head = 0
  private var heap = RankHeap()

  var isEmpty: Bool { head == run.count && heap.isEmpty }

  var first: Rank? {
    guard head < run.count else { return heap.first }
    guard let other = heap.first, other.isBefore(run[head]) else { return run[head] }
    return other
  }

  /// Adds an operation. `places` is one array for all lists, as for `RankHeap`; positions in the
  /// run are negative.
  mutating func insert(_ rank: Rank, _ places: inout [Int32]) {
    if let last = run.last, rank.isBefore(last) {
      heap.insert(rank, &places)
    } else {
      places[Int(rank.item)] = ~Int32(run.count)
      run.append(rank)
    }
  }

  mutating func remove(_ item: Int, _ places: inout [Int32]) {
    let place = places[item]
    if place >= 0 { return heap.remove(at: Int(place), &places) }
    run[Int(~place)].item = Rank.none.item
    while head < run.count, run[head].item == Rank.none.item { head += 1 }
    if head == run.count {
      run.removeAll(keepingCapacity: run.count < 1024)
      head = 0
    } else if head > 1024, head > run.count / 2 {
      dropHead(&places)
    }
  }

  mutating func update(_ rank: Rank, _ places: inout [Int32]) {
    remove(Int(rank.item), &places)
    insert(rank, &places)
  }

  private mutating func dropHead(_ places: inout [Int32]) {
    run.removeFirst(head)
    head = 0
    for (index, rank) in run.enumerated() where rank.item != Rank.none.item {
      places[Int(rank.item)] = ~Int32(index)
    }
  }
}
