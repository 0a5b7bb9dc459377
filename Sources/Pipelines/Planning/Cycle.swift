// What is said of steps that wait for each other in a circle.

import Diagnostics

extension Planner {
  /// At most this many names and edges are shown.
  private static var maxShown: Int { 8 }

  /// `steps` wait for each other, each for the next one and the last for the first.
  func cycleMessage(_ steps: [Int]) -> Diagnostic {
    let shown = steps.prefix(Self.maxShown)
    let names = shown.map { printable(id(of: $0)) }
    let rest = steps.count > Self.maxShown ? ["…"] : []
    let labels = shown.indices.map { index in
      label(of: steps[index], waitingFor: steps[(index + 1) % steps.count])
    }
    return PlanningMessage.cycle(names + rest + names.prefix(1), labels: labels)
  }

  private func label(of step: Int, waitingFor target: Int) -> Diagnostic.Label {
    guard let dependency = dependency(of: step, on: target) else {
      return .init(
        model.steps[step].id.span,
        PlanningMessage.waits(id(of: step), for: id(of: target)) + ", because of 'sequence'")
    }
    return .init(
      model.dependencies[dependency].step.span,
      PlanningMessage.waits(id(of: step), for: id(of: target)))
  }
}
