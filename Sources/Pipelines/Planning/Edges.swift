// The edges of a pipeline, names looked up: which step waits for which.

import Diagnostics
import Scheduling

extension Graph {
  /// Adds the edges of a model whose steps are the graph's operations: those that are written, then
  /// those of `sequence`. Reports names that are no step, and steps that are listed twice.
  mutating func addEdges(of model: PipelineModel, log: inout DiagnosticLog) {
    // The last step that waits for a step, to find an edge listed twice.
    var waiters = [Int32](repeating: -1, count: model.steps.count)
    var reporter = UnknownStepReporter(model)
    for step in model.steps.indices {
      let number = Int32(truncatingIfNeeded: step)
      for dependency in model.dependencyRange(of: step) {
        guard let target = model.target(of: dependency) else {
          reporter.report(dependency, of: step, to: &log)
          continue
        }
        guard waiters[target] != number else {
          reportTwice(dependency, of: step, in: model, to: &log)
          continue
        }
        waiters[target] = number
        addEdge(
          from: OperationID(target), to: OperationID(step),
          when: model.dependencies[dependency].condition)
      }
      if model.isSequence, step > 0, waiters[step - 1] != number {
        addEdge(from: OperationID(step - 1), to: OperationID(step), when: .ok)
      }
    }
  }

  private func reportTwice(
    _ dependency: Int, of step: Int, in model: PipelineModel, to log: inout DiagnosticLog
  ) {
    let edge = model.dependencies[dependency]
    log.report(at: edge.span) {
      PlanningMessage.listedTwice(
        model.names.string(Int(edge.name)), by: model.steps[step].id, at: $0)
    }
  }

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

extension PipelineModel {
  /// The step that a dependency refers to.
  func target(of dependency: Int) -> Int? { names[stepOf: Int(dependencies[dependency].name)] }

  /// The dependency by which a step waits for another; nil if it is `sequence` that says so.
  func dependency(of step: Int, on other: Int) -> Int? {
    dependencyRange(of: step).first { target(of: $0) == other }
  }

  /// For each step whether it is among these or something of these needs it. What is optional is
  /// not needed.
  func closure(of selected: [Int]) -> [Bool] {
    var isNeeded = [Bool](repeating: false, count: steps.count)
    var waiting = selected
    while let step = waiting.popLast() {
      if isNeeded[step] { continue }
      isNeeded[step] = true
      for dependency in dependencyRange(of: step) where !dependencies[dependency].isOptional {
        if let target = target(of: dependency) { waiting.append(target) }
      }
      if isSequence, step > 0, dependency(of: step, on: step - 1) == nil {
        waiting.append(step - 1)
      }
    }
    return isNeeded
  }
}

/// Reports names in `depends_on` that are no step, with the id that was probably meant.
private struct UnknownStepReporter {
  private let model: PipelineModel
  private var suggester = Suggester()

  init(_ model: PipelineModel) { self.model = model }

  mutating func report(_ dependency: Int, of step: Int, to log: inout DiagnosticLog) {
    let edge = model.dependencies[dependency]
    let name = model.names.string(Int(edge.name))
    let own = model.steps[step].id
    log.report(at: edge.span) { span in
      let others = model.steps.lazy.map(\.id).filter { $0 != own }
      let close = suggester.closest(to: name, among: others)
      return PlanningMessage.unknownStep(name, of: own, suggestion: close, at: span)
    }
  }
}
