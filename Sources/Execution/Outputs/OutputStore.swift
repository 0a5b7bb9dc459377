// The outputs of the steps of a run so far, with their true values; observers see masked strings.

import Expressions
import Plans
import Scheduling

/// The values of `steps.<id>.outputs`, for operations whose command has succeeded.
struct OutputStore {
  private var values: [OperationID: ValueMap] = [:]

  /// The outputs of an operation; empty if it has none.
  subscript(operation: OperationID) -> ValueMap { values[operation] ?? ValueMap() }

  mutating func publish(_ outputs: ValueMap, of operation: OperationID) {
    values[operation] = outputs
  }

  /// Drops the outputs of an operation that runs again: only a success gives outputs.
  mutating func forget(_ operation: OperationID) { values[operation] = nil }
}

extension ValueMap {
  /// The same members in the order of the bytes of their names.
  var sortedByName: ValueMap {
    let order = names.indices.sorted { names[$0].utf8.lexicographicallyPrecedes(names[$1].utf8) }
    return ValueMap(order.map { (names[$0], values[$0]) })
  }

  var published: [PublishedOutput] {
    zip(names, values).map { PublishedOutput(name: $0, json: $1.json) }
  }
}
