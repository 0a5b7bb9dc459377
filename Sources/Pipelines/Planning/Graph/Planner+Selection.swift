// Which operations are in a plan: all, or some that were named and what they need.

import Diagnostics
import Scheduling

extension Planner {
  /// For each operation whether it runs; nil is all of them. Throws for a name that is no step.
  mutating func selection(path: String) throws(PlanningFailure) -> [Bool]? {
    guard !options.selection.isEmpty else { return nil }
    var selected: [Int] = []
    var byID: [String: Int]?
    for name in options.selection {
      if let step = pipelines[0].index.find(name) {
        selected.append(pipelines[0].operation(of: step))
        continue
      }
      let known = byID ?? (addresses.isEmpty ? [:] : operationsByID)
      byID = known
      guard let operation = known[name] else {
        let close = suggestion(
          for: name, among: (0..<operationCount).lazy.map { [planner = self] in planner.id(of: $0) }
        )
        throw .emptySelection(
          message: PlanningMessage.unknownSelection(
            name, path: path, suggestion: close, late: lateStep(instanceNamed: name)))
      }
      selected.append(operation)
    }
    named = selected
    return closure(of: selected)
  }

  /// The step of which a name could be an instance, as far as that is known before the run.
  private func lateStep(instanceNamed name: String) -> String? {
    guard let bracket = name.lastIndex(of: "["),
      let operation = operationsByID[String(name[..<bracket])],
      group(operation)?.isExpanding == true
    else { return nil }
    return id(of: operation)
  }

  private var operationsByID: [String: Int] {
    Dictionary((0..<operationCount).map { (id(of: $0), $0) }, uniquingKeysWith: { _, last in last })
  }

  /// For each operation whether it is among these or something of these needs it. What is optional
  /// is not needed.
  private func closure(of selected: [Int]) -> [Bool] {
    var isNeeded = [Bool](repeating: false, count: operationCount)
    var waiting = selected
    while let operation = waiting.popLast() {
      if isNeeded[operation] { continue }
      isNeeded[operation] = true
      for edge in graph.dependencies(of: OperationID(operation)) {
        let key = UInt64(edge.from.index) << 32 | UInt64(operation)
        if !optionalEdges.contains(key) { waiting.append(edge.from.index) }
      }
    }
    return isNeeded
  }
}

/// Numbers of the operations that were kept.
struct Renumbering {
  /// By the old number; empty: nothing was left out.
  private var numbers: [Int32] = []

  init(_ isKept: [Bool]?) {
    guard let isKept else { return }
    var next: Int32 = 0
    for keep in isKept {
      numbers.append(keep ? next : -1)
      if keep { next += 1 }
    }
  }

  subscript(operation: Int) -> OperationID? {
    if numbers.isEmpty { return OperationID(operation) }
    return numbers[operation] < 0 ? nil : OperationID(Int(numbers[operation]))
  }
}

extension Graph {
  /// The operations for which `isKept` is true, and the edges among them, in the same order.
  func subgraph(_ isKept: [Bool]) -> Graph {
    var result = Graph()
    var ids: [OperationID?] = []
    for index in 0..<count {
      ids.append(isKept[index] ? result.append(self[OperationID(index)]) : nil)
    }
    for index in 0..<count {
      guard let id = ids[index] else { continue }
      for edge in dependencies(of: OperationID(index)) {
        if let other = ids[edge.from.index] {
          result.addEdge(from: other, to: id, when: edge.condition)
        }
      }
    }
    return result
  }
}
