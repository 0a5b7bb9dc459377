// What steps and hooks run: as it is run, or, where values are still to come, as it is shown.

/// What a step or a hook runs.
package enum Work: Hashable, Sendable {
  case known(Action)
  /// Some of its values are known only while running. What is shown has no `Action` to be had: it
  /// cannot be run.
  case late(shown: ShownCommand)
  /// Others run in its place: the members of the group.
  case none

  /// Nil if it runs nothing itself.
  package var shown: ShownCommand? {
    switch self {
    case .known(let action): ShownCommand(action)
    case .late(let shown): shown
    case .none: nil
    }
  }

  /// Nil unless all of it is known.
  package var known: Action? {
    switch self {
    case .known(let action): action
    case .late, .none: nil
    }
  }
}

/// What a process runs.
package enum Action: Hashable, Sendable {
  /// For the shell, or executed directly where the shell would do no more (`directArguments`).
  case script(ScriptText)
  /// An argument vector; never empty.
  case arguments([String])
  /// Arguments of the program of the built-in steps, which stands beside oprun; never empty.
  case helper([String])
}

/// A command as people are shown it. Expressions are as they were written.
package struct ShownCommand: Hashable, Sendable {
  private let action: Action

  package init(_ action: Action) { self.action = action }

  /// The whole command. Credentials in the inputs of a built-in step are masked.
  package var text: String { action.commandText }

  /// Nil for words.
  package var script: ScriptText? { if case .script(let text) = action { text } else { nil } }
}

/// What an operation runs, and how, once all of it is known.
package struct ReadyStep: Sendable {
  /// Nil if its attempts are refused, because a value has no place in what it runs: only its hooks
  /// run.
  package let action: Action?
  package let settings: StepSettings
  /// Of a service: what holds once it is ready.
  package let readiness: [Probe]

  package init(_ action: Action, _ settings: StepSettings, readiness: [Probe] = []) {
    self.action = action
    self.settings = settings
    self.readiness = readiness
  }

  /// Of a step that is planned with everything known.
  package init(_ step: PlannedStep) {
    guard case .known(let action) = step.work else {
      preconditionFailure("'\(step.id)' has no command that is known")
    }
    self.init(action, step.settings)
  }

  /// Its attempts are refused, and are not tried again: what cannot be started now cannot be started
  /// later.
  package init(refusedWith settings: StepSettings) {
    action = nil
    self.settings = settings.withoutRetry
    readiness = []
  }
}
