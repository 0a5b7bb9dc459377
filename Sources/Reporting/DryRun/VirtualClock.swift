// Knows when running operations of a virtual run end.

import Scheduling

/// Operations by the moment at which they end; those that end at the same moment are in the order
/// in which they started.
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
