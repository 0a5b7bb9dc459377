// The edges of a pipeline, names looked up: which step waits for which.

import Diagnostics
import Scheduling

extension Planner {
  /// Adds the edges to the graph of all steps: those that are written, then those of `sequence`.
  /// Reports names that are no step, and steps that are listed twice.
  mutating func addEdges(log: inout DiagnosticLog) {
    // The last step that waits for a step, to find an edge listed twice.
    var waiters = [Int32](repeating: -1, count: model.steps.count)
    let targets = model.dependencies.map {
      Int32(truncatingIfNeeded: index.find($0.step.span) ?? -1)
    }
    for step in model.steps.indices {
      let number = Int32(truncatingIfNeeded: step)
      for dependency in model.dependencyRange(of: step) {
        let edge = model.dependencies[dependency]
        let target = Int(targets[dependency])
        guard target >= 0 else {
          reportUnknown(edge.step.span, of: step, to: &log)
          continue
        }
        guard waiters[target] != number else {
          log.report(at: edge.step.span) {
            PlanningMessage.listedTwice(id(of: target), by: id(of: step), at: $0)
          }
          continue
        }
        waiters[target] = number
        graph.addEdge(from: OperationID(target), to: OperationID(step), when: edge.condition)
      }
      if model.isSequence, step > 0, waiters[step - 1] != number {
        graph.addEdge(from: OperationID(step - 1), to: OperationID(step), when: .ok)
      }
    }
  }

  private mutating func reportUnknown(_ span: Span, of step: Int, to log: inout DiagnosticLog) {
    log.report(at: span) { span in
      let (name, own) = (text.string(span), id(of: step))
      let others = model.steps.lazy.map { [text] in text.string($0.id.span) }.filter { $0 != own }
      let close = suggester.closest(to: name, among: others)
      return PlanningMessage.unknownStep(name, of: own, suggestion: close, at: span)
    }
  }

  /// The dependency by which a step waits for another; nil if it is `sequence` that says so.
  func dependency(of step: Int, on other: Int) -> Int? {
    model.dependencyRange(of: step).first { index.find(model.dependencies[$0].step.span) == other }
  }

  /// For each step whether it is among these or something of these needs it. What is optional is
  /// not needed.
  func closure(of selected: [Int]) -> [Bool] {
    var isNeeded = [Bool](repeating: false, count: model.steps.count)
    var waiting = selected
    while let step = waiting.popLast() {
      if isNeeded[step] { continue }
      isNeeded[step] = true
      for dependency in model.dependencyRange(of: step)
      where !model.dependencies[dependency].isOptional {
        if let target = index.find(model.dependencies[dependency].step.span) {
          waiting.append(target)
        }
      }
      if model.isSequence, step > 0, dependency(of: step, on: step - 1) == nil {
        waiting.append(step - 1)
      }
    }
    return isNeeded
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
