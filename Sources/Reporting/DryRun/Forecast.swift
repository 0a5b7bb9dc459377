// A run in virtual time: the scheduler as it is, every command succeeding after the time it is
// expected to take. Nothing is started.

package import Pipelines
package import Scheduling

/// What a run would do, in order.
package struct Forecast {
  package struct Entry {
    package let operation: OperationID
    /// Counts from 1 what starts at the same moment; 0 if it would not run.
    package let wave: Int32
  }

  package private(set) var entries: [Entry] = []
  package private(set) var runCount = 0
  /// The most that run at once.
  package private(set) var widest = 0
  package private(set) var makespan: Nanoseconds = 0
  /// Operations that would run, but nobody knows how long.
  package private(set) var unknownCount = 0

  private let graph: Graph
  private let guess: Nanoseconds
  private var scheduler: Scheduler
  private var running = VirtualClock()
  private var wave: Int32 = 0

  /// `n log n`.
  package init(_ plan: Plan) {
    graph = plan.graph
    guess = Self.meanDuration(of: plan.graph)
    scheduler = Scheduler(graph: plan.graph, queues: plan.queues, pools: plan.pools)
    entries.reserveCapacity(graph.count)
    repeat { startAll() } while endNext()
    addUnstarted()
  }

  /// What an operation of unknown duration is taken for: the mean of the others, or one second.
  private static func meanDuration(of graph: Graph) -> Nanoseconds {
    var sum: Nanoseconds = 0
    var count: Nanoseconds = 0
    for index in 0..<graph.count {
      guard let expected = graph.expected(of: OperationID(index)) else { continue }
      sum += expected
      count += 1
    }
    return count > 0 ? sum / count : 1_000_000_000
  }

  private mutating func startAll() {
    var isFirst = true
    while let operation = scheduler.next() {
      if isFirst { wave += 1 }
      isFirst = false
      runCount += 1
      entries.append(Entry(operation: operation, wave: wave))
      let expected = graph.expected(of: operation)
      if expected == nil { unknownCount += 1 }
      running.add(operation, endingAt: makespan + (expected ?? guess))
    }
    widest = max(widest, running.count)
  }

  /// Moves on to the next moment at which something ends; false if nothing runs.
  private mutating func endNext() -> Bool {
    guard let time = running.nextEnd else { return false }
    makespan = time
    while running.nextEnd == time, let operation = running.removeFirst() {
      scheduler.finish(operation, as: Ending(.succeeded))
    }
    for settlement in scheduler.takeSettlements() {
      entries.append(Entry(operation: settlement.operation, wave: 0))
    }
    return true
  }

  /// Queues without width or suspended leave some behind.
  private mutating func addUnstarted() {
    guard entries.count < graph.count else { return }
    for operation in graph.topologicalOrder() ?? [] where !scheduler.state(of: operation).hasEnded {
      entries.append(Entry(operation: operation, wave: 0))
    }
  }
}

/// Operations by the moment they end; of those that end together, in the order they started.
struct VirtualClock {
  private struct Item {
    let end: Nanoseconds
    let number: Int
    let operation: OperationID

    func isBefore(_ other: Item) -> Bool {
      end != other.end ? end < other.end : number < other.number
    }
  }

  /// A binary heap.
  private var items: [Item] = []
  private var added = 0

  var count: Int { items.count }

  var nextEnd: Nanoseconds? { items.first?.end }

  mutating func add(_ operation: OperationID, endingAt end: Nanoseconds) {
    items.append(Item(end: end, number: added, operation: operation))
    added += 1
    var child = items.count - 1
    while child > 0, items[child].isBefore(items[(child - 1) / 2]) {
      items.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func removeFirst() -> OperationID? {
    guard let first = items.first, let last = items.popLast() else { return nil }
    guard !items.isEmpty else { return first.operation }
    items[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in (2 * parent + 1)...(2 * parent + 2)
      where child < items.count && items[child].isBefore(items[least]) {
        least = child
      }
      if least == parent { return first.operation }
      items.swapAt(least, parent)
      parent = least
    }
  }
}
