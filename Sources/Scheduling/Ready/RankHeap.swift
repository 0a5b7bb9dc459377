// A heap whose entries can be found again, because it stores the position of each item. Each entry
// has four children, which are adjacent in memory: that halves the steps of a binary heap.

/// A heap with the best rank first. The caller keeps `places`, one for each item, and passes the
/// same array to every call.
struct RankHeap {
  private static let width = 4
  private var entries: [Rank] = []

  var isEmpty: Bool { entries.isEmpty }
  var first: Rank? { entries.first }

  mutating func insert(_ rank: Rank, _ places: inout [Int32]) {
    entries.append(rank)
    siftUp(from: entries.count - 1, rank, &places)
  }

  mutating func remove(at place: Int, _ places: inout [Int32]) {
    let last = entries.removeLast()
    if place < entries.count { put(last, at: place, &places) }
  }

  /// Gives the item at this position another rank.
  mutating func update(at place: Int, to rank: Rank, _ places: inout [Int32]) {
    put(rank, at: place, &places)
  }

  private mutating func put(_ rank: Rank, at place: Int, _ places: inout [Int32]) {
    if place > 0, rank.isBefore(entries[(place - 1) / RankHeap.width]) {
      siftUp(from: place, rank, &places)
    } else {
      siftDown(from: place, rank, &places)
    }
  }

  private mutating func siftUp(from start: Int, _ rank: Rank, _ places: inout [Int32]) {
    withEntries(&places) { entries in
      var place = start
      while place > 0 {
        let parent = (place - 1) / RankHeap.width
        guard rank.isBefore(entries[parent]) else { break }
        entries.settle(entries[parent], at: place)
        place = parent
      }
      entries.settle(rank, at: place)
    }
  }

  private mutating func siftDown(from start: Int, _ rank: Rank, _ places: inout [Int32]) {
    withEntries(&places) { entries in
      var place = start
      while true {
        let first = RankHeap.width * place + 1
        guard first < entries.count else { break }
        let child = entries.best(from: first)
        guard entries[child].isBefore(rank) else { break }
        entries.settle(entries[child], at: place)
        place = child
      }
      entries.settle(rank, at: place)
    }
  }

  /// The entries and their positions while one is moved, so that uniqueness is checked once and not
  /// at each step.
  private struct Entries {
    let entries: UnsafeMutableBufferPointer<Rank>
    let places: UnsafeMutableBufferPointer<Int32>

    var count: Int { entries.count }

    subscript(place: Int) -> Rank { entries[place] }

    /// The place of the best of the children that begin here.
    @inline(__always)
    func best(from first: Int) -> Int {
      if first + RankHeap.width <= entries.count {
        let left = better(first, first + 1)
        let right = better(first + 2, first + 3)
        return better(left, right)
      }
      var best = first
      for other in first + 1..<max(first + 1, entries.count) { best = better(best, other) }
      return best
    }

    @inline(__always)
    private func better(_ one: Int, _ other: Int) -> Int {
      entries[other].isBefore(entries[one]) ? other : one
    }

    func settle(_ rank: Rank, at place: Int) {
      entries[place] = rank
      places[Int(rank.item)] = Int32(place)
    }
  }

  private mutating func withEntries(_ places: inout [Int32], _ body: (Entries) -> Void) {
    entries.withUnsafeMutableBufferPointer { entries in
      places.withUnsafeMutableBufferPointer { places in
        body(Entries(entries: entries, places: places))
      }
    }
  }
}
