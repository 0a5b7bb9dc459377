// Draws a graph next to its operations, one line each, as version control draws its history: every
// operation that others still wait for has a rail. Work per line is bounded by the columns shown.

import Scheduling

/// The content of the columns of one line; bit `i` is column `i`.
struct RailLine {
  /// The column of the operation; `limit` if all are taken.
  var node = 0
  /// The number of columns for rails; further rails are only counted.
  let limit: Int
  /// Rails that come from above.
  var above: UInt32 = 0
  /// Dependencies of the operation, except one that its own column takes over.
  var feeds: UInt32 = 0
  /// Dependencies that nothing below needs.
  var ends: UInt32 = 0
  /// True if a dependency's rail is among those that are not drawn.
  var hasHiddenFeed = false
  /// The number of rails below this line that are not drawn.
  var hidden = 0

  /// The columns that are joined by a horizontal line.
  var span: ClosedRange<Int> {
    let low = min(node, feeds == 0 ? node : feeds.trailingZeroBitCount)
    let high = max(node, feeds == 0 ? node : 31 - feeds.leadingZeroBitCount)
    return low...(hasHiddenFeed ? limit : high)
  }

  /// The last column that is not blank.
  var lastColumn: Int {
    let rails = above | feeds
    return max(span.upperBound, rails == 0 ? 0 : 31 - rails.leadingZeroBitCount)
  }

  /// The number of columns of text, without the number of hidden rails.
  var width: Int { 2 * lastColumn + 1 }
}

/// The rails of a graph while its operations pass in an order that puts dependencies first.
struct Rails {
  /// Rails beyond this many are only counted; on a narrow screen, those beyond a third of it.
  private static let widest = 24
  /// The number of columns in a graph with more rails, where columns full of rails say little:
  /// these are enough to see its shape.
  private static let narrow = 8

  private let graph: Graph
  private var open: OpenRails
  /// The dependencies of the operation of the last line.
  private(set) var dependencies: [OperationID] = []

  /// Prepares the rails of a graph, in which some operations have no lines, for a screen with this
  /// many columns. Linear in operations and edges.
  init(
    _ graph: Graph, order: some Sequence<OperationID>, hidden: Set<OperationID> = [], columns: Int
  ) {
    self.graph = graph
    let dependentCounts = graph.dependentCounts()
    let widest = min(Self.widest, max(Self.narrow, columns / 6))
    let peak = Self.peak(graph, order, hidden, dependentCounts: dependentCounts)
    open = OpenRails(
      limit: peak > widest ? Self.narrow : widest, dependentCounts: dependentCounts)
  }

  /// The largest number of operations that have passed and that others still wait for, counted up
  /// to the limit of rails.
  private static func peak(
    _ graph: Graph, _ order: some Sequence<OperationID>, _ hidden: Set<OperationID>,
    dependentCounts: [Int32]
  ) -> Int {
    var remaining = dependentCounts
    var rails = 0
    var peak = 0
    for operation in order {
      graph.forEachDependency(of: operation) { edge in
        remaining[edge.from.index] -= 1
        if remaining[edge.from.index] == 0, !hidden.contains(edge.from) { rails -= 1 }
      }
      if dependentCounts[operation.index] > 0, !hidden.contains(operation) { rails += 1 }
      peak = max(peak, rails)
      if peak > Self.widest { break }
    }
    return peak
  }

  /// The line of the next operation. Linear in its dependencies.
  mutating func advance(to operation: OperationID) -> RailLine {
    open.begin()
    graph.listDependencies(of: operation, in: &dependencies)
    for dependency in dependencies { open.follow(dependency.index) }
    return open.end(operation.index)
  }

  /// Passes an operation that has no line and no rails. Linear in its dependencies.
  mutating func pass(_ operation: OperationID) {
    graph.forEachDependency(of: operation, changing: &open) { open, edge in
      open.release(edge.from.index)
    }
  }

  /// The rails alone, for a further line under the last one.
  var below: RailLine { open.below }
}

/// The rails of the operations that have passed, and the line in progress.
private struct OpenRails {
  private let limit: Int
  /// The number of dependents still to come, by operation.
  private var remaining: [Int32]
  /// The column of each operation; negative if it has not passed.
  private var columns: [Int8]
  private var live: UInt32 = 0
  private var hidden = 0
  private var line: RailLine

  init(limit: Int, dependentCounts: [Int32]) {
    self.limit = limit
    remaining = dependentCounts
    columns = [Int8](repeating: -1, count: dependentCounts.count)
    line = RailLine(limit: limit)
  }

  mutating func begin() {
    line = RailLine(limit: limit)
    line.above = live
  }

  @inline(__always)
  mutating func follow(_ dependency: Int) {
    remaining[dependency] -= 1
    let column = Int(columns[dependency])
    // An operation that never runs may pass before something it waits for.
    if column < 0 { return }
    if column == limit {
      line.hasHiddenFeed = true
      if remaining[dependency] == 0 { hidden -= 1 }
    } else {
      line.feeds |= 1 << UInt32(column)
      if remaining[dependency] == 0 { line.ends |= 1 << UInt32(column) }
    }
  }

  /// Releases a dependency of an operation that has passed without a line.
  mutating func release(_ dependency: Int) {
    remaining[dependency] -= 1
    let column = Int(columns[dependency])
    if column < 0 || remaining[dependency] > 0 { return }
    if column == limit { hidden -= 1 } else { live &= ~(1 << UInt32(column)) }
  }

  mutating func end(_ operation: Int) -> RailLine {
    let free = ~live & (1 << UInt32(limit) - 1)
    if line.ends != 0 {
      line.node = line.ends.trailingZeroBitCount
    } else {
      line.node = free == 0 ? limit : free.trailingZeroBitCount
    }
    live &= ~line.ends
    if line.node < limit {
      line.feeds &= ~(1 << UInt32(line.node))
      line.ends &= ~(1 << UInt32(line.node))
    }
    open(operation, at: line.node)
    line.hidden = hidden
    return line
  }

  private mutating func open(_ operation: Int, at column: Int) {
    columns[operation] = Int8(column)
    guard remaining[operation] > 0 else { return }
    if column == limit { hidden += 1 } else { live |= 1 << UInt32(column) }
  }

  var below: RailLine {
    var line = RailLine(limit: limit)
    line.above = live
    line.node = -1
    line.hidden = hidden
    return line
  }
}
