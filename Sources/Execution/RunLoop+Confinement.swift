// What the commands of cached steps can reach: what their steps declare, and what the steps that they
// depend on have made. docs/confined-steps.md

import Plans
import Running
import Scheduling

extension RunLoop {
  /// What a cached step declares for its command; nil for another one.
  func confinement(of key: CommandKey, _ command: StepCommand) -> Confinement? {
    guard case .attempt = key.role, let cache = command.settings.cache else { return nil }
    // Built-in steps use the files that their inputs name.
    if case .helper = command.action { return nil }
    let directory = directory(of: command.settings)
    let writable = Confinement.Patterns(cache.outputs + cache.scratch, in: directory)
    let confinement = Confinement(
      inputs: Confinement.Patterns(cache.inputs, in: directory),
      outputsBefore: outputsBefore(key.operation), writable: writable)
    return cache.isEnforced ? confinement : confinement.unenforced
  }

  /// The declared outputs of the steps that an operation depends on.
  private func outputsBefore(_ operation: OperationID) -> [Confinement.Patterns] {
    stepsBefore(operation).compactMap { step in
      let settings = declaration(of: step)
      guard let cache = settings.cache, !cache.outputs.isEmpty else { return nil }
      return Confinement.Patterns(cache.outputs, in: directory(of: settings))
    }
  }

  private func directory(of settings: StepSettings) -> String {
    builder.directory(of: settings) ?? builder.workspace
  }
}
