// Makes the message about steps that wait for each other in a cycle.

import Diagnostics
import Scheduling

extension Planner {
  /// The maximum number of names and edges that are shown.
  private static var maxShown: Int { 8 }

  private static var maxCycles: Int { 8 }

  /// Reports cycles; those among several instances of the same steps once.
  mutating func reportCycles() {
    var seen: Set<String> = []
    for cycle in graph.separateCycles(atMost: Self.maxCycles) {
      let message = cycleMessage(cycle.map(\.index))
      if seen.insert(message.message).inserted { log.report(message) }
    }
  }

  /// The message about a cycle of operations, of which each waits for the next one and the last for
  /// the first.
  private func cycleMessage(_ operations: [Int]) -> Diagnostic {
    let links = links(of: operations)
    let shown = links.prefix(Self.maxShown)
    let names = shown.map { printable($0.name) }
    let rest = links.count > Self.maxShown ? ["…"] : []
    let labels = shown.indices.map { index in
      label(of: links[index], waitingFor: links[(index + 1) % links.count].name)
    }
    return PlanningMessage.cycle(names + rest + names.prefix(1), labels: labels)
  }

  /// One operation of a cycle that waits for the next one, by the name of the step to which both belong.
  private struct Link {
    let name: String
    let step: StepAddress
    let operation: Int
    let next: Int
  }

  private func label(of link: Link, waitingFor target: String) -> Diagnostic.Label {
    for address in path(of: address(of: link.operation)).reversed() {
      let pipeline = pipelines[address.pipeline]
      guard let dependency = dependency(at: address, on: link.next) else { continue }
      let isDeeper = address.pipeline != link.step.pipeline
      return .init(
        pipeline.model.dependencies[dependency].step.span,
        PlanningMessage.waits(
          isDeeper ? id(of: address) : link.name, for: id(of: self.address(of: link.next))))
    }
    let id = pipelines[link.step.pipeline].model.steps[link.step.step].id.span
    if group(link.operation)?.members.contains(link.next) == true {
      return .init(id, PlanningMessage.waits(link.name, for: target) + ", which is in it")
    }
    return .init(id, PlanningMessage.waits(link.name, for: target) + ", because of 'sequence'")
  }

  private func id(of step: StepAddress) -> String {
    pipelines[step.pipeline].prefix + pipelines[step.pipeline].id(of: step.step, text)
  }

  /// The dependency by which a step waits for an operation, or for another instance of its step.
  private func dependency(at address: StepAddress, on target: Int) -> Int? {
    let pipeline = pipelines[address.pipeline]
    let wanted = self.address(of: target)
    return pipeline.model.dependencyRange(of: address.step).first { number in
      targets(of: pipeline.model.dependencies[number], at: address).contains { operation in
        self.address(of: operation).isOfSameStep(as: wanted)
      }
    }
  }

  /// The links of a cycle. Operations in a group count as the group, unless all of them are in it.
  private func links(of operations: [Int]) -> [Link] {
    let paths = operations.map { path(of: address(of: $0)) }
    let depth = paths.map(\.count).min() ?? 1
    let level =
      (0..<depth).last { level in Set(paths.map { $0[level].pipeline }).count == 1 } ?? 0
    var links: [Link] = []
    for (index, operation) in operations.enumerated() {
      let next = (index + 1) % operations.count
      let step = paths[index][level]
      if !step.isOfSameStep(as: paths[next][level]) {
        links.append(
          Link(name: id(of: step), step: step, operation: operation, next: operations[next]))
      }
    }
    if !links.isEmpty { return links }
    return operations.enumerated().map { index, operation in
      let step = paths[index].last ?? paths[index][level]
      return Link(
        name: operations.count == 1 ? id(of: step) : id(of: operation), step: step,
        operation: operation, next: operations[(index + 1) % operations.count])
    }
  }

  /// The path from the root pipeline down to a step.
  func path(of address: StepAddress) -> [StepAddress] {
    var path = [address]
    while let parent = pipelines[path[0].pipeline].parent { path.insert(parent, at: 0) }
    return path
  }
}
