// Inserts the values of late expressions into a step. A missing value is reported for each command
// of the step separately: if one command cannot be made, the others still run.

import Diagnostics
package import Expressions
package import Scheduling

/// A command of a step.
package enum StepPart: Hashable, Sendable {
  case attempt
  /// A command of a hook; commands of one kind are counted from 1.
  case hook(HookKind, index: Int)
}

/// The kind of a hook, and the number of one of its commands, which are counted from 1.
package struct HookNumber {
  package let kind: HookKind
  package let index: Int

  package init(_ kind: HookKind, _ index: Int) {
    self.kind = kind
    self.index = index
  }
}

/// The action and the settings of a late step, with all available values inserted.
package struct ResolvedStep {
  /// The action; nil if the step runs nothing, or cannot run.
  package fileprivate(set) var action: Action?
  package fileprivate(set) var settings: StepSettings
  /// The commands that cannot run, and why.
  package fileprivate(set) var failures: [StepPart: EvaluationFailure] = [:]
}

extension LateStep {
  /// Inserts the values; `work` and `settings` are those of the plan.
  package func resolved(
    _ work: Work, _ settings: StepSettings, _ facts: some RunFacts
  ) -> ResolvedStep {
    let bindings = LateBindings(scope: scope, facts: facts)
    var result = ResolvedStep(action: work.known, settings: settings)
    do throws(EvaluationFailure) {
      var changes =
        try parts.settings?.changes(bindings, parts.givers) ?? StepSettings.Changes()
      changes.environment += try bindings.inputVariables()
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
    if parts.input != nil, let action = result.action {
      do throws(EvaluationFailure) {
        try parts.checkInput(of: action, bindings)
      } catch {
        result.fail(.attempt, error)
      }
    }
    return result
  }

  /// A command of a hook and its settings, with the values at this moment, after the command that
  /// it belongs to; nil if all was known before the run. `settings` are those that the step ran
  /// with, or, without a `step`, the planned ones of the run.
  package func hook(
    _ number: HookNumber, _ settings: StepSettings, of step: OperationID?, _ facts: some RunFacts
  ) throws(EvaluationFailure) -> ReadyStep? {
    var bindings = LateBindings(scope: scope, facts: facts)
    if let step, let name = parts.stepName { bindings.own = (name, step) }
    if step == nil { try bindings.checkVars() }
    var settings = settings
    var isLate = parts.input != nil
    if step == nil {
      var changes = try parts.settings?.changes(bindings, parts.givers) ?? StepSettings.Changes()
      changes.environment += try bindings.inputVariables()
      if !changes.isEmpty {
        settings = settings.with(changes)
        isLate = true
      }
    }
    let (kind, index) = (number.kind, number.index)
    var action = settings.hooks[kind][index - 1].work.known
    if let command = parts.settings?.hooks[kind]?[index - 1], action == nil {
      let tag = "\(kind.key.uppercased())_\(index)_"
      action = try bindings.action(of: command, shell: settings.shell, tag: tag)
      settings = try settings.adding(bindings.secretInputs(of: command, tag: tag))
      isLate = true
    }
    guard isLate, let action else { return nil }
    if parts.input != nil { try parts.checkInput(of: action, bindings) }
    return ReadyStep(action, settings)
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
}

extension LateSettings {
  /// All changes except those of hooks, whose values are known only when their turn comes. `givers`
  /// are the scopes of the pipeline uses that gave settings.
  fileprivate func changes<Facts: RunFacts>(
    _ bindings: LateBindings<Facts>, _ givers: [Int32: LateScope]
  ) throws(EvaluationFailure) -> StepSettings.Changes {
    func text(_ text: Text, of giver: Int32) throws(EvaluationFailure) -> String {
      guard let scope = givers[giver] else { return try bindings.text(of: text) }
      let outer = LateBindings(scope: scope, facts: bindings.facts)
      try outer.checkVars()
      return try outer.text(of: text)
    }
    var changes = StepSettings.Changes()
    for variable in environment {
      let value = try text(variable.value, of: variable.giver)
      changes.environment.append(EnvironmentVariable(name: variable.name, value: value))
    }
    for path in workingDirectory {
      changes.workingDirectory = joined(
        changes.workingDirectory, try text(path.text, of: path.giver))
    }
    changes.standardInput = try standardInput.map { template throws(EvaluationFailure) in
      try template.rendered(with: bindings)
    }
    changes.cache = try cache?.mapped { text throws(EvaluationFailure) in
      try bindings.items(of: text).map { .plain($0) }
    }.shown
    // Nothing depends on a label: a step whose label has no value runs without one.
    changes.name = label.flatMap { template in try? template.rendered(with: bindings) }
    if let allowFailure {
      changes.allowFailure = try bindings.holds(allowFailure) ? .always : .never
    }
    return changes
  }
}

extension StepSettings {
  fileprivate func adding(_ variables: [EnvironmentVariable]) -> StepSettings {
    if variables.isEmpty { return self }
    var changes = Changes()
    changes.environment = variables
    return with(changes)
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
