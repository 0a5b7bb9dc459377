// What the steps of a run have given so far: the true values, of which observers see masked texts.

import Expressions
import Plans
import Scheduling

/// `steps.<id>.outputs` of operations whose command has succeeded.
struct OutputStore {
  private var values: [OperationID: ValueMap] = [:]

  /// Empty for an operation that gave nothing.
  subscript(operation: OperationID) -> ValueMap { values[operation] ?? ValueMap() }

  mutating func publish(_ outputs: ValueMap, of operation: OperationID) {
    values[operation] = outputs
  }
}

extension ValueMap {
  var published: [PublishedOutput] {
    zip(names, values).map { PublishedOutput(name: $0, json: $1.json) }
  }
}
