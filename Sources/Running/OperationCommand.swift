// The command for a key, as the machine knows it: the step's action, or one of its hooks or probes.

package import Plans
package import Scheduling

/// A command of an operation: an action, with its settings and variables.
package struct OperationCommand: Sendable {
  /// The id of the step; nil for a hook of the run itself.
  package let step: String?
  package let settings: StepSettings
  package let action: Action
  package let attempt: Int
  /// Variables only for this command.
  package let variables: [EnvironmentVariable]
}

extension RunMachine {
  /// The command for an attempt, a hook or a probe; `ready` is the resolved form of a late hook.
  /// Traps if the command is not known.
  package mutating func command(of key: CommandKey, as ready: ReadyStep? = nil) -> OperationCommand
  {
    let isRun = key.operation == .run
    let (action, settings) = ready.map { ($0.action, $0.settings) } ?? work(of: key)
    guard let action else { preconditionFailure("what is not known cannot run") }
    var variables: [EnvironmentVariable] = []
    if case .hook = key.role { variables = hookVariables(for: key.operation) }
    return OperationCommand(
      step: isRun ? nil : steps[key.operation].id, settings: settings, action: action,
      attempt: active[key.operation]?.attempt ?? 1, variables: variables)
  }

  private mutating func work(of key: CommandKey) -> (action: Plans.Action?, settings: StepSettings)
  {
    switch key.role {
    case .attempt:
      let step = steps.ready(key.operation)
      return (step.action, step.settings)
    case .hook(let kind, let index, _):
      let settings = hookSettings(of: key.operation)
      return (settings.hooks[kind][index - 1].work.known, settings)
    case .probe(let index):
      guard let probing = gates[key.operation]?.probing else {
        preconditionFailure("a look for an operation that does not wait")
      }
      return (probing.probes[index - 1].action, probing.step.settings)
    }
  }

  /// The settings that the hooks of an operation, or of the run, share.
  package mutating func hookSettings(of operation: OperationID) -> StepSettings {
    if operation == .run { return plan.settings }
    if groupStates.durationBeforeHooks(of: operation) != nil { return steps[operation].settings }
    return steps.ready(operation).settings
  }

  /// The ending of an operation; while its hooks run, the one that it gets unless one of them fails.
  package mutating func ending(of operation: OperationID) -> Ending? {
    scheduler.ending(of: operation) ?? active[operation]?.ending
  }

  /// The settings of an operation whose attempt is running undisturbed. Nil if it was asked to end,
  /// or if it has no attempt.
  package mutating func undisturbedAttempt(of key: CommandKey, _ end: CommandEnd) -> StepSettings? {
    guard case .attempt = key.role, let state = active[key.operation],
      state.isUndisturbed(by: end), !isService(key.operation)
    else { return nil }
    return state.settings
  }

  /// The settings of a ready service whose outputs are read now; nil if it was asked to end.
  package mutating func settingsOfService(_ operation: OperationID) -> StepSettings? {
    active[operation].flatMap { $0.stop == .none ? $0.settings : nil }
  }
}
