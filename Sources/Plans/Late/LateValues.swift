// Inserts the values of late expressions into a step. A missing value is reported for each command
// of the step separately: a command that cannot be made is no reason to leave out another.

import Diagnostics
package import Expressions
package import Scheduling

/// A command of a step.
package enum StepPart: Hashable, Sendable {
  case attempt
  /// A command of a hook; the first of a kind is 1.
  case hook(HookKind, index: Int)
}

/// What a late step runs, and how, with all available values inserted.
package struct ResolvedStep {
  /// The action; nil if the step runs nothing, or cannot run.
  package fileprivate(set) var action: Action?
  package fileprivate(set) var settings: StepSettings
  /// The commands that cannot run, and why.
  package fileprivate(set) var failures: [StepPart: EvaluationFailure] = [:]
}

extension LateStep {
  /// `work` and `settings` are those of the plan.
  package func resolved(
    _ work: Work, _ settings: StepSettings, _ facts: some RunFacts
  ) -> ResolvedStep {
    let bindings = LateBindings(scope: scope, facts: facts)
    var result = ResolvedStep(action: work.known, settings: settings)
    do throws(EvaluationFailure) {
      var changes = try parts.settings?.changes(bindings) ?? StepSettings.Changes()
      changes.environment = try bindings.inputVariables() + changes.environment
      if !changes.isEmpty { result.settings = settings.with(changes) }
    } catch {
      // A command without a variable that it relies on could do anything.
      result.failAll(error)
      return result
    }
    if let command = parts.command {
      do throws(EvaluationFailure) {
        result.action = try bindings.action(of: command, shell: parts.shell)
        result.settings = try result.settings.adding(bindings.secretInputs(of: command, tag: ""))
      } catch {
        result.fail(.attempt, error)
      }
    }
    if let hooks = parts.settings?.hooks, !hooks.isEmpty { result.put(hooks, bindings) }
    if parts.input != nil { result.checkInput(parts, bindings) }
    return result
  }
}

extension ResolvedStep {
  fileprivate mutating func fail(_ part: StepPart, _ failure: EvaluationFailure) {
    failures[part] = failure
    if part == .attempt { action = nil }
  }

  fileprivate mutating func failAll(_ failure: EvaluationFailure) {
    fail(.attempt, failure)
    for kind in HookKind.allCases {
      for index in settings.hooks[kind].indices {
        fail(.hook(kind, index: index + 1), failure)
      }
    }
  }

  /// Checks the input of each command that can run.
  fileprivate mutating func checkInput(
    _ parts: LateParts, _ bindings: LateBindings<some RunFacts>
  ) {
    var commands: [(StepPart, Action?)] = [(.attempt, action)]
    for kind in HookKind.allCases {
      for (index, work) in settings.hooks[kind].enumerated() {
        commands.append((.hook(kind, index: index + 1), work.known))
      }
    }
    for case (let part, let action?) in commands where failures[part] == nil {
      do throws(EvaluationFailure) {
        try parts.checkInput(of: action, bindings)
      } catch {
        fail(part, error)
      }
    }
  }

  fileprivate mutating func put(
    _ hooks: [HookKind: [CommandModel]], _ bindings: LateBindings<some RunFacts>
  ) {
    var changes = StepSettings.Changes()
    for (kind, commands) in hooks {
      var works = settings.hooks[kind]
      for (index, command) in commands.enumerated() {
        do throws(EvaluationFailure) {
          let tag = "\(kind.key.uppercased())_\(index + 1)_"
          works[index] = .known(
            try bindings.action(of: command, shell: settings.shell, tag: tag))
          changes.environment += try bindings.secretInputs(of: command, tag: tag)
        } catch {
          fail(.hook(kind, index: index + 1), error)
        }
      }
      changes.hooks[kind] = works
    }
    settings = settings.with(changes)
  }
}

extension LateSettings {
  /// All changes except those of hooks.
  fileprivate func changes(
    _ bindings: LateBindings<some RunFacts>
  ) throws(EvaluationFailure) -> StepSettings.Changes {
    var changes = StepSettings.Changes()
    for variable in environment {
      let value = try bindings.text(of: variable.value)
      changes.environment.append(EnvironmentVariable(name: variable.name, value: value))
    }
    for path in workingDirectory {
      changes.workingDirectory = joined(changes.workingDirectory, try bindings.text(of: path))
    }
    changes.standardInput = try standardInput.map { template throws(EvaluationFailure) in
      try template.rendered(with: bindings)
    }
    if let allowFailure {
      changes.allowFailure = try bindings.holds(allowFailure) ? .always : .never
    }
    return changes
  }
}

extension StepSettings {
  /// The changes that late values make to the planned settings.
  struct Changes {
    /// Variables that are added.
    package var environment: [EnvironmentVariable] = []
    package var workingDirectory: String?
    package var standardInput: String?
    package var allowFailure: AllowFailure?
    package var hooks: [HookKind: [Work]] = [:]
    /// The retry policy; nil means as planned.
    package var retry: RetryPolicy?

    package var isEmpty: Bool {
      environment.isEmpty && workingDirectory == nil && standardInput == nil && allowFailure == nil
        && hooks.isEmpty && retry == nil
    }
  }

  /// The same with one attempt, because what cannot be started now cannot be started later.
  var withoutRetry: StepSettings {
    var changes = Changes()
    changes.retry = RetryPolicy()
    return with(changes)
  }

  fileprivate func adding(_ variables: [EnvironmentVariable]) -> StepSettings {
    if variables.isEmpty { return self }
    var changes = Changes()
    changes.environment = variables
    return with(changes)
  }

  func with(_ changes: Changes) -> StepSettings {
    var hooks = self.hooks
    for (kind, works) in changes.hooks { hooks[kind] = works }
    return StepSettings(
      name: name, environment: environment + changes.environment,
      workingDirectory: changes.workingDirectory ?? workingDirectory, shell: shell,
      standardInput: changes.standardInput ?? standardInput, timeout: timeout,
      retry: changes.retry ?? retry,
      allowFailure: changes.allowFailure ?? allowFailure, stop: stop, logLimit: logLimit,
      nice: nice, orphans: orphans, hooks: hooks, outputs: outputs)
  }
}

extension LateBindings {
  /// Variables for the inputs of a built-in step that contain secrets.
  fileprivate func secretInputs(
    of command: CommandModel, tag: String
  ) throws(EvaluationFailure) -> [EnvironmentVariable] {
    guard case .uses(let uses) = command else { return [] }
    return try helperWords(of: uses, tag).variables
  }
}
