// The commands of steps and hooks: as they are run, or, if values are still missing, as they are
// displayed.

package import Scheduling

/// The command of a step or a hook.
package enum Work: Hashable, Sendable {
  case known(Action)
  /// The command contains values that become known only during the run. The shown command has no
  /// accessible `Action`, so it cannot be run.
  case late(shown: ShownCommand)
  /// There is no command, because the members of the group run instead.
  case none

  /// The command as it is displayed; nil if there is none.
  package var shown: ShownCommand? {
    switch self {
    case .known(let action): ShownCommand(action)
    case .late(let shown): shown
    case .none: nil
    }
  }

  /// The action; nil unless it is completely known.
  package var known: Action? {
    switch self {
    case .known(let action): action
    case .late, .none: nil
    }
  }
}

/// One command of a hook.
package struct HookCommand: Hashable, Sendable {
  /// The command's work, which is never `Work.none`.
  package let work: Work
  /// The time after which the command is asked to end, as an attempt is after the time limit of its step.
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

/// The command of a process.
package enum Action: Hashable, Sendable {
  /// A script for the shell, or executed directly if the shell would do nothing else
  /// (`directArguments`).
  case script(ScriptText)
  /// An argument vector; never empty.
  case arguments([String])
  /// Arguments of the program of the built-in steps, which is installed next to oprun; never empty.
  case helper([String])
}

/// A command as it is displayed. Expressions are as they were written.
package struct ShownCommand: Hashable, Sendable {
  private let action: Action

  package init(_ action: Action) { self.action = action }

  /// The whole command. Credentials in the inputs of a built-in step are masked.
  package var text: String { action.commandText }

  /// The script; nil for words.
  package var script: ScriptText? { if case .script(let text) = action { text } else { nil } }
}

/// The action and settings of an operation, once they are completely known.
package struct ReadyStep: Sendable {
  /// The action; nil if attempts are refused because a value in it is not allowed there: then only
  /// its hooks run.
  package let action: Action?
  package let settings: StepSettings
  /// The conditions that make a service ready.
  package let readiness: [Probe]

  package init(_ action: Action, _ settings: StepSettings, readiness: [Probe] = []) {
    self.action = action
    self.settings = settings
    self.readiness = readiness
  }

  /// Makes a ready step from one about which the plan knows everything.
  package init(_ step: PlannedStep) {
    guard case .known(let action) = step.work else {
      preconditionFailure("'\(step.id)' has no command that is known")
    }
    self.init(action, step.settings)
  }

  /// Makes a ready step whose attempts are refused, and not retried: a command that cannot be
  /// started now cannot be started later.
  package init(refusedWith settings: StepSettings) {
    action = nil
    self.settings = settings.withoutRetry
    readiness = []
  }
}
