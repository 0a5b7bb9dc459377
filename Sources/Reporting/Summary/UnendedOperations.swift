// The operations of a run that have started and not ended, by their numbers. Thousands begin and
// end in a second, and few exist at the same time: none of them is hashed or moved.

import Scheduling

struct UnendedOperations {
  /// The index of the value of each operation; −1 for those that are not here.
  private var indices: [Int32]
  private var values: [(operation: OperationID, value: RunLedger.Running)] = []
  private var free: [Int32] = []

  init(count: Int) { indices = [Int32](repeating: -1, count: count) }

  subscript(operation: OperationID) -> RunLedger.Running? {
    index(of: operation).map { values[$0].value }
  }

  private func index(of operation: OperationID) -> Int? {
    guard indices.indices.contains(operation.index) else { return nil }
    let index = indices[operation.index]
    return index < 0 ? nil : Int(index)
  }

  /// Adds an operation unless it is here, or stands for the run itself.
  mutating func add(_ operation: OperationID, at time: Nanoseconds) {
    guard operation.rawValue >= 0, index(of: operation) == nil else { return }
    while indices.count <= operation.index { indices.append(-1) }
    let value = (operation, RunLedger.Running(start: time))
    if let index = free.popLast() {
      indices[operation.index] = index
      values[Int(index)] = value
    } else {
      indices[operation.index] = Int32(values.count)
      values.append(value)
    }
  }

  /// Changes the value of an operation, if it is here.
  mutating func change(_ operation: OperationID, _ body: (inout RunLedger.Running) -> Void) {
    if let index = index(of: operation) { body(&values[index].value) }
  }

  mutating func remove(_ operation: OperationID) -> RunLedger.Running? {
    guard let index = index(of: operation) else { return nil }
    var value = RunLedger.Running(start: 0)
    swap(&values[index].value, &value)
    indices[operation.index] = -1
    free.append(Int32(index))
    return value
  }

  func forEach(_ body: (OperationID, RunLedger.Running) -> Void) {
    for (index, entry) in values.enumerated() where self.index(of: entry.operation) == index {
      body(entry.operation, entry.value)
    }
  }
}
