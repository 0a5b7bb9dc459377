// What runs for a key, as the machine knows it: the step's action, or one of its hooks or looks.

package import Plans
import Scheduling

/// What is run for an operation.
package struct StepCommand: Sendable {
  /// The id of the step; nil for a hook of the run itself.
  package let step: String?
  package let settings: StepSettings
  package let action: Action
  package let attempt: Int
  /// For this command alone.
  package let variables: [EnvironmentVariable]
}

extension RunMachine {
  /// What runs for an attempt, a hook or a look at a condition.
  package mutating func command(of key: CommandKey) -> StepCommand {
    let isRun = key.operation == CommandKey.runOperation
    let step = isRun ? nil : plan.steps[key.operation.index]
    let wait = gates[key.operation]?.wait
    let settings = wait?.step.settings ?? step?.settings ?? plan.settings
    let action: Plans.Action? =
      switch key.trial {
      case .attempt: step?.action
      case .hook(let kind, let index): settings.hooks[kind][index - 1]
      case .probe(let index): wait?.probes[index - 1].action
      }
    var variables: [EnvironmentVariable] = []
    if case .hook = key.trial { variables = hookVariables(for: key.operation) }
    return StepCommand(
      step: step?.id, settings: settings, action: action ?? .arguments(["true"]),
      attempt: active[key.operation]?.attempt ?? 1, variables: variables)
  }

  /// The settings of an operation whose attempt goes on as it should: nobody asked it to end. Nil if
  /// somebody did, or if it has no attempt.
  package mutating func undisturbedAttempt(of key: CommandKey) -> StepSettings? {
    guard case .attempt = key.trial, let state = active[key.operation], state.stopCause == nil
    else { return nil }
    return state.settings
  }
}
