// The confinement of the commands of cached steps: they reach what their steps declare, and what
// the steps that they depend on have made. docs/confined-steps.md

import Caching
import Plans
import Running
import Scheduling

extension RunLoop {
  /// The confinement that a cached step declares for its attempts; nil for other commands.
  func confinement(of key: CommandKey, _ command: OperationCommand) -> Confinement? {
    guard case .attempt = key.role, let cache = command.settings.cache else { return nil }
    // Built-in steps use the files that their inputs name.
    if case .helper = command.action { return nil }
    let directory = directory(of: command.settings)
    let writable = Confinement.Patterns(cache.outputs + cache.scratch, in: directory)
    if !cache.isEnforced {
      return Confinement(inputs: Confinement.Patterns([], in: directory), writable: writable)
        .unenforced
    }
    let before = before(key.operation)
    if let inputs = inputs(of: key.operation, command.settings) {
      return Confinement(
        inputs: Confinement.Patterns([], in: directory), readable: before.made + inputs,
        writable: writable)
    }
    return Confinement(
      inputs: Confinement.Patterns(cache.inputs, in: directory), readable: before.made,
      outputsBefore: before.others, writable: writable)
  }

  /// The files in the key of a step; nil if they must be looked for, because the step has no key,
  /// or may wait in the queue of a cluster until there are others.
  private func inputs(of operation: OperationID, _ settings: StepSettings) -> [String]? {
    guard slurm == nil || settings.slurm == nil, let caching,
      let lookup = caching.lookups[operation]
    else { return nil }
    return caching.cache.readable(lookup, at: Int(turnTime))
  }

  /// The files that the steps before an operation have made: those in its key, and the declared
  /// outputs of steps without a result, which count as its inputs.
  private func before(
    _ operation: OperationID
  ) -> (made: [String], others: [Confinement.Patterns]) {
    let known =
      caching.flatMap { caching in
        caching.lookups[operation].map { caching.cache.filesBefore($0) }
      } ?? [:]
    var made: [String] = []
    var others: [Confinement.Patterns] = []
    for step in stepsBefore(operation) {
      let settings = declaration(of: step)
      guard let cache = settings.cache, !cache.outputs.isEmpty else { continue }
      if let files = known[machine.steps[step].id] {
        made += files
      } else {
        others.append(Confinement.Patterns(cache.outputs, in: self.directory(of: settings)))
      }
    }
    return (made, others)
  }

  private func directory(of settings: StepSettings) -> String {
    builder.directory(of: settings) ?? builder.workspace
  }
}
