// A binary heap whose entries can be found again: it tells each item its place.

/// The best rank first. The caller keeps `places`, one for each item, and hands the same array to
/// every call; an item is in one heap at a time.
struct RankHeap {
  private var entries: [Rank] = []

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  var first: Rank? { entries.first }

  mutating func insert(_ rank: Rank, _ places: inout [Int32]) {
    entries.append(rank)
    siftUp(from: entries.count - 1, rank, &places)
  }

  mutating func remove(at place: Int, _ places: inout [Int32]) {
    let last = entries.removeLast()
    if place < entries.count { put(last, at: place, &places) }
  }

  /// Gives the item at the place another rank.
  mutating func update(at place: Int, to rank: Rank, _ places: inout [Int32]) {
    put(rank, at: place, &places)
  }

  private mutating func put(_ rank: Rank, at place: Int, _ places: inout [Int32]) {
    if place > 0, rank.isBefore(entries[(place - 1) / 2]) {
      siftUp(from: place, rank, &places)
    } else {
      siftDown(from: place, rank, &places)
    }
  }

  private mutating func siftUp(from start: Int, _ rank: Rank, _ places: inout [Int32]) {
    var place = start
    while place > 0 {
      let parent = (place - 1) / 2
      guard rank.isBefore(entries[parent]) else { break }
      settle(entries[parent], at: place, &places)
      place = parent
    }
    settle(rank, at: place, &places)
  }

  private mutating func siftDown(from start: Int, _ rank: Rank, _ places: inout [Int32]) {
    var place = start
    while true {
      var child = 2 * place + 1
      guard child < entries.count else { break }
      if child + 1 < entries.count, entries[child + 1].isBefore(entries[child]) { child += 1 }
      guard entries[child].isBefore(rank) else { break }
      settle(entries[child], at: place, &places)
      place = child
    }
    settle(rank, at: place, &places)
  }

  private mutating func settle(_ rank: Rank, at place: Int, _ places: inout [Int32]) {
    entries[place] = rank
    places[Int(rank.item)] = Int32(place)
  }
}
