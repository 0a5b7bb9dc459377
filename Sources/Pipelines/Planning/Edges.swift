// The edges of a pipeline, names looked up: which step waits for which.

import Diagnostics
import Scheduling

/// One edge into a step.
struct Edge {
  /// Index of the step that comes first.
  let target: Int
  let condition: EdgeCondition
  let isOptional: Bool
  /// Index in the model's dependencies; nil for an edge that `sequence` makes.
  let dependency: Int?
}

/// The model's dependencies as indices of steps, and the edges that `sequence` adds.
struct Edges {
  /// For each of the model's dependencies; −1 where there is no such step.
  private let targets: [Int32]
  /// For each step, whether it waits for the one before it though it does not say so; empty without
  /// `sequence`.
  private let followsPrevious: [Bool]
  /// True if every edge leads to an earlier step, so that there can be no cycle.
  let pointsBackOnly: Bool

  /// Looks up every name, and reports those that are no step and those listed twice.
  init(_ model: PipelineModel, log: inout DiagnosticLog) {
    var targets: [Int32] = []
    targets.reserveCapacity(model.dependencies.count)
    var followsPrevious: [Bool] = []
    // The last step that waits for a step, to find an edge listed twice.
    var waiters = [Int32](repeating: -1, count: model.steps.count)
    var reporter = UnknownStepReporter(model)
    var pointsBackOnly = true
    for step in model.steps.indices {
      for dependency in model.dependencyRange(of: step) {
        let edge = model.dependencies[dependency]
        let target = model.names[stepOf: Int(edge.name)] ?? -1
        targets.append(Int32(truncatingIfNeeded: target))
        if target < 0 {
          reporter.report(dependency, of: step, to: &log)
        } else if waiters[target] == Int32(truncatingIfNeeded: step) {
          log.report(at: edge.span) {
            PlanningMessage.listedTwice(
              model.steps[target].id, by: model.steps[step].id, at: $0)
          }
        } else {
          waiters[target] = Int32(truncatingIfNeeded: step)
          if target >= step { pointsBackOnly = false }
        }
      }
      if model.isSequence {
        followsPrevious.append(step > 0 && waiters[step - 1] != Int32(truncatingIfNeeded: step))
      }
    }
    self.targets = targets
    self.followsPrevious = followsPrevious
    self.pointsBackOnly = pointsBackOnly
  }

  /// The edges into a step: as they are written, then the one of `sequence`.
  func forEach(into step: Int, of model: PipelineModel, _ body: (Edge) -> Void) {
    for index in model.dependencyRange(of: step) where targets[index] >= 0 {
      let dependency = model.dependencies[index]
      body(
        Edge(
          target: Int(targets[index]), condition: dependency.condition,
          isOptional: dependency.isOptional, dependency: index))
    }
    if !followsPrevious.isEmpty, followsPrevious[step] {
      body(Edge(target: step - 1, condition: .ok, isOptional: false, dependency: nil))
    }
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
