// Finds the best rank of any range of positions in logarithmic time: a tournament tree.

struct RankTree: Sendable {
  /// The `count` leaves start at index `count`; node `i` is the better of `2 * i` and `2 * i + 1`.
  private var nodes: [Rank]
  private let count: Int

  init(_ leaves: [Rank]) {
    count = leaves.count
    nodes = [Rank](repeating: .none, count: count) + leaves
    for node in stride(from: count - 1, to: 0, by: -1) { play(node) }
  }

  mutating func set(_ leaf: Int, to rank: Rank) {
    var node = leaf + count
    nodes[node] = rank
    while node > 1 {
      node /= 2
      play(node)
    }
  }

  func best(in range: Range<Int>) -> Rank? {
    var best = Rank.none
    var (low, high) = (range.lowerBound + count, range.upperBound + count)
    while low < high {
      if low % 2 == 1 {
        best = best.better(nodes[low])
        low += 1
      }
      if high % 2 == 1 {
        high -= 1
        best = best.better(nodes[high])
      }
      (low, high) = (low / 2, high / 2)
    }
    return best.item == Rank.none.item ? nil : best
  }

  private mutating func play(_ node: Int) {
    nodes[node] = nodes[2 * node].better(nodes[2 * node + 1])
  }
}

extension Rank {
  fileprivate func better(_ other: Rank) -> Rank { other.isBefore(self) ? other : self }
}
