// Tells whether one operation comes after another, for many pairs of a large graph.

/// The order of operations: which come before which, by edges that wait for the end of an operation.
///
/// An operation that waits until a service is ready does not wait for the end of the service, but
/// for the end of all that the service waited for. With `followsServices`, services count like
/// other operations.
///
/// Each operation hangs below the latest of its dependencies, so the operations form trees. What is
/// below another one in its tree comes after it, which two comparisons tell; for any other pair the
/// operations between the two are searched.
package final class Ancestry {
  private let graph: Graph
  private let followsServices: Bool
  /// The number of edges on the longest way to each operation.
  private var levels: [Int32]
  /// The places of the operations in their trees: those below an operation follow it.
  private var starts: [Int32]
  /// The number of operations in the tree below each, with itself.
  private var sizes: [Int32]
  /// The number of the last search that reached each operation.
  private var marks: [Int32]
  private var search: Int32 = 0
  /// The number of comparisons of two operations that are still allowed.
  private var budget: Int

  /// True if the budget is used up: nothing is found any more.
  package var isExhausted: Bool { budget < 0 }

  /// Nil if there is a cycle. `budget` limits how often two operations are compared, over all searches.
  package init?(_ graph: Graph, budget: Int, followsServices: Bool = false) {
    self.graph = graph
    self.followsServices = followsServices
    self.budget = budget
    let order = graph.dependenciesFirst()
    guard order.count == graph.count else { return nil }
    levels = [Int32](repeating: 0, count: graph.count)
    starts = levels
    sizes = [Int32](repeating: 1, count: graph.count)
    marks = levels
    let parents = findParents(order)
    for item in order.reversed() {
      let parent = parents[Int(item)]
      if parent >= 0 { sizes[Int(parent)] += sizes[Int(item)] }
    }
    var next = starts
    var nextTree: Int32 = 0
    for item in order.lazy.map({ Int($0) }) {
      let parent = Int(parents[item])
      starts[item] = parent < 0 ? nextTree : next[parent]
      if parent < 0 { nextTree += sizes[item] } else { next[parent] += sizes[item] }
      next[item] = starts[item] + 1
    }
  }

  /// Finds the latest dependency of each operation; −1 if it has none.
  private func findParents(_ order: [Int32]) -> [Int32] {
    var parents = [Int32](repeating: -1, count: graph.count)
    for item in order.lazy.map({ Int($0) }) {
      graph.forEachDependency(of: OperationID(item)) { edge in
        guard isFollowed(edge), levels[edge.from.index] >= levels[item] else { return }
        levels[item] = levels[edge.from.index] + 1
        parents[item] = edge.from.rawValue
      }
    }
    return parents
  }

  /// True if the first operation has always ended when the second one ends.
  package func isBefore(_ first: OperationID, _ second: OperationID) -> Bool {
    budget -= 1
    if isExhausted { return false }
    if isBelow(second.index, first.index) { return first != second }
    if levels[first.index] >= levels[second.index] { return false }
    search += 1
    var open = [second]
    while let next = open.popLast() {
      for edge in graph.dependencies(of: next) where isFollowed(edge) {
        let found = edge.from.index
        if isBelow(found, first.index) { return true }
        budget -= 1
        if isExhausted { return false }
        if levels[found] > levels[first.index], marks[found] != search {
          marks[found] = search
          open.append(edge.from)
        }
      }
    }
    return false
  }

  private func isFollowed(_ edge: Graph.Edge) -> Bool {
    followsServices || !edge.condition.waitsForReadiness
  }

  /// True if an operation is in the tree below another one, or is that one.
  private func isBelow(_ item: Int, _ root: Int) -> Bool {
    starts[item] >= starts[root] && starts[item] - starts[root] < sizes[root]
  }
}
