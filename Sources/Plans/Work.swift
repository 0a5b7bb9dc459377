// What steps and hooks run: as it is run, or, if values are still to come, as it is shown.

package import Scheduling

/// What a step or a hook runs.
package enum Work: Hashable, Sendable {
  case known(Action)
  /// Some of its values are known only during the run. The shown command has no accessible
  /// `Action`, so it cannot be run.
  case late(shown: ShownCommand)
  /// It runs nothing, because the members of the group run in its place.
  case none

  /// The command as it is shown; nil if it runs nothing itself.
  package var shown: ShownCommand? {
    switch self {
    case .known(let action): ShownCommand(action)
    case .late(let shown): shown
    case .none: nil
    }
  }

  /// The action; nil unless all of it is known.
  package var known: Action? {
    switch self {
    case .known(let action): action
    case .late, .none: nil
    }
  }
}

/// One command of a hook.
package struct HookCommand: Hashable, Sendable {
  /// Never `Work.none`.
  package let work: Work
  /// It is asked to end after this long, as an attempt is after the time limit of its step.
  package let timeout: Nanoseconds

  package static let defaultTimeout: Nanoseconds = 600_000_000_000

  package init(_ work: Work, timeout: Nanoseconds = HookCommand.defaultTimeout) {
    self.work = work
    self.timeout = timeout
  }

  package static func known(
    _ action: Action, timeout: Nanoseconds = HookCommand.defaultTimeout
  ) -> HookCommand {
    HookCommand(.known(action), timeout: timeout)
  }
}

/// What a process runs.
package enum Action: Hashable, Sendable {
  /// A script for the shell, or executed directly if the shell would do nothing else
  /// (`directArguments`).
  case script(ScriptText)
  /// An argument vector; never empty.
  case arguments([String])
  /// Arguments of the program of the built-in steps, which is installed next to oprun; never empty.
  case helper([String])
}

/// A command in the form in which it is shown. Expressions are as they were written.
package struct ShownCommand: Hashable, Sendable {
  private let action: Action

  package init(_ action: Action) { self.action = action }

  /// The whole command. Credentials in the inputs of a built-in step are masked.
  package var text: String { action.commandText }

  /// The script; nil for words.
  package var script: ScriptText? { if case .script(let text) = action { text } else { nil } }
}

/// What an operation runs, and how, once all of it is known.
package struct ReadyStep: Sendable {
  /// The action; nil if its attempts are refused because it contains a value that is not allowed
  /// there: then only its hooks run.
  package let action: Action?
  package let settings: StepSettings
  /// The conditions that make a service ready.
  package let readiness: [Probe]

  package init(_ action: Action, _ settings: StepSettings, readiness: [Probe] = []) {
    self.action = action
    self.settings = settings
    self.readiness = readiness
  }

  /// Makes one from a step for which the plan knows everything.
  package init(_ step: PlannedStep) {
    guard case .known(let action) = step.work else {
      preconditionFailure("'\(step.id)' has no command that is known")
    }
    self.init(action, step.settings)
  }

  /// Makes one whose attempts are refused, and not retried: what cannot be started now cannot be
  /// started later.
  package init(refusedWith settings: StepSettings) {
    action = nil
    self.settings = settings.withoutRetry
    readiness = []
  }
}
