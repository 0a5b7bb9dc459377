// What the commands of cached steps can reach: what their steps declare, and what the steps that they
// depend on have made. docs/confined-steps.md

import Plans
import Running
import Scheduling

extension RunLoop {
  /// The confinement of a command; nil if it can reach everything.
  func confinement(of key: CommandKey, _ command: StepCommand) -> Confinement? {
    guard case .attempt = key.role, let cache = command.settings.cache, cache.isEnforced else {
      return nil
    }
    // Built-in steps use the files that their inputs name.
    if case .helper = command.action { return nil }
    let directory = directory(of: command.settings)
    return Confinement(
      readable: [Confinement.Patterns(cache.inputs, in: directory)]
        + outputsBefore(key.operation),
      writable: Confinement.Patterns(cache.outputs + cache.scratch, in: directory))
  }

  /// The declared outputs of the steps that an operation depends on. A group stands for its members.
  private func outputsBefore(_ operation: OperationID) -> [Confinement.Patterns] {
    var found: [Confinement.Patterns] = []
    var visited: Set<OperationID> = []
    var waiting = [operation]
    while let next = waiting.popLast() {
      for edge in machine.scheduler.graph.dependencies(of: next)
      where visited.insert(edge.from).inserted {
        if machine.groupPlan(edge.from) != nil || machine.standsForCopies(edge.from) {
          waiting.append(edge.from)
          continue
        }
        let settings = declarations[edge.from] ?? machine.steps[edge.from].settings
        guard let cache = settings.cache, !cache.outputs.isEmpty else { continue }
        found.append(Confinement.Patterns(cache.outputs, in: directory(of: settings)))
      }
    }
    return found
  }

  private func directory(of settings: StepSettings) -> String {
    builder.directory(of: settings) ?? builder.workspace
  }
}
