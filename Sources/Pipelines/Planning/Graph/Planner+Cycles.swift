// Makes the message about steps that wait for each other in a cycle.

import Diagnostics

extension Planner {
  /// At most this many names and edges are shown.
  private static var maxShown: Int { 8 }

  /// The message about a cycle of operations, of which each waits for the next one and the last for
  /// the first.
  func cycleMessage(_ operations: [Int]) -> Diagnostic {
    let steps = commonSteps(of: operations)
    let shown = steps.prefix(Self.maxShown)
    let names = shown.map { printable(id(of: $0)) }
    let rest = steps.count > Self.maxShown ? ["…"] : []
    let labels = shown.indices.map { index in
      label(of: steps[index], waitingFor: steps[(index + 1) % steps.count])
    }
    return PlanningMessage.cycle(names + rest + names.prefix(1), labels: labels)
  }

  private func label(of step: StepAddress, waitingFor target: StepAddress) -> Diagnostic.Label {
    let pipeline = pipelines[step.pipeline]
    let (name, other) = (id(of: step), id(of: target))
    guard let dependency = dependency(of: step, on: target) else {
      return .init(
        pipeline.model.steps[step.step].id.span,
        PlanningMessage.waits(name, for: other) + ", because of 'sequence'")
    }
    return .init(
      pipeline.model.dependencies[dependency].step.span, PlanningMessage.waits(name, for: other))
  }

  private func id(of step: StepAddress) -> String {
    pipelines[step.pipeline].prefix + pipelines[step.pipeline].id(of: step.step, text)
  }

  /// The dependency by which a step waits for another; nil if this is due to `sequence`.
  private func dependency(of step: StepAddress, on target: StepAddress) -> Int? {
    let pipeline = pipelines[step.pipeline]
    return pipeline.model.dependencyRange(of: step.step).first { number in
      targets(of: pipeline.model.dependencies[number], at: step).contains { operation in
        let address = address(of: operation)
        return address.pipeline == target.pipeline && address.step == target.step
      }
    }
  }

  /// The steps of one file to which these operations belong: for those inside a group, the group's
  /// step.
  private func commonSteps(of operations: [Int]) -> [StepAddress] {
    let depth = operations.map { path(of: address(of: $0)).count }.min() ?? 1
    let isInOnePipeline =
      Set(operations.map { path(of: address(of: $0))[depth - 1].pipeline }).count == 1
    let level = isInOnePipeline ? depth - 1 : 0
    var steps: [StepAddress] = []
    for operation in operations {
      let path = path(of: address(of: operation))
      let address = path[min(level, path.count - 1)]
      let step = StepAddress(pipeline: address.pipeline, step: address.step)
      if steps.last != step { steps.append(step) }
    }
    if steps.count > 1, steps.first == steps.last { steps.removeLast() }
    return steps
  }

  /// The path from the root pipeline down to a step.
  private func path(of address: StepAddress) -> [StepAddress] {
    var path = [address]
    while let parent = pipelines[path[0].pipeline].parent { path.insert(parent, at: 0) }
    return path
  }
}
