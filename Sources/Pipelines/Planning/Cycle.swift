// What is said of steps that wait for each other in a circle.

import Diagnostics

extension Planner {
  /// At most this many names and edges are shown.
  private static var maxShown: Int { 8 }

  /// Operations that wait for each other, each for the next one and the last for the first.
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

  private func label(of step: Place, waitingFor target: Place) -> Diagnostic.Label {
    let unit = units[step.unit]
    let (name, other) = (id(of: step), id(of: target))
    guard let dependency = dependency(of: step, on: target) else {
      return .init(
        unit.model.steps[step.step].id.span,
        PlanningMessage.waits(name, for: other) + ", because of 'sequence'")
    }
    return .init(
      unit.model.dependencies[dependency].step.span, PlanningMessage.waits(name, for: other))
  }

  private func id(of step: Place) -> String {
    units[step.unit].prefix + units[step.unit].id(of: step.step, text)
  }

  /// The dependency by which a step waits for another; nil if it is `sequence` that says so.
  private func dependency(of step: Place, on target: Place) -> Int? {
    let unit = units[step.unit]
    return unit.model.dependencyRange(of: step.step).first { number in
      targets(of: unit.model.dependencies[number], at: step).contains { operation in
        let place = place(of: operation)
        return place.unit == target.unit && place.step == target.step
      }
    }
  }

  /// The steps of one file whose operations these are: of what is in a group, the group's step.
  private func commonSteps(of operations: [Int]) -> [Place] {
    let depth = operations.map { path(of: place(of: $0)).count }.min() ?? 1
    let unit = Set(operations.map { path(of: place(of: $0))[depth - 1].unit }).count == 1
    let level = unit ? depth - 1 : 0
    var steps: [Place] = []
    for operation in operations {
      let path = path(of: place(of: operation))
      let place = path[min(level, path.count - 1)]
      let step = Place(unit: place.unit, step: place.step)
      if steps.last != step { steps.append(step) }
    }
    if steps.count > 1, steps.first == steps.last { steps.removeLast() }
    return steps
  }

  /// From the pipeline itself down to a step.
  private func path(of place: Place) -> [Place] {
    var path = [place]
    while let parent = units[path[0].unit].parent { path.insert(parent, at: 0) }
    return path
  }
}
