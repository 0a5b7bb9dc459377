// Decides about a late step once its dependencies have ended.

import Diagnostics
package import Expressions
package import Scheduling

/// The decision about a step.
package enum LateVerdict {
  case runs
  /// The step does not run, because a condition is false; `group` is the step that the condition
  /// belongs to, if that stands for others.
  case skips(reason: String, group: OperationID?)
}

/// An instance of a step that was expanded during the run.
package struct LateInstance {
  package let step: PlannedStep
  package let spec: OperationSpec
  /// True if the instance is a group whose failure is allowed; nil means as planned.
  package var allowsFailure: Bool?
}

/// A condition that is checked repeatedly.
package struct Probe: Sendable {
  /// The command that checks; if it succeeds, the condition holds.
  package let action: Action
  package let every: Nanoseconds
  /// The time limit; nil means that the probe waits for ever.
  package let timeout: Nanoseconds?
  /// The condition in words: `tcp localhost:5432`.
  package let words: String
  /// The port of this machine that the condition asks; nil if it asks none.
  package let server: LocalServer?

  package init(
    action: Action, every: Nanoseconds, timeout: Nanoseconds?, words: String,
    server: LocalServer? = nil
  ) {
    self.action = action
    self.every = every
    self.timeout = timeout
    self.words = words
    self.server = server
  }
}

/// Why a matrix cannot be expanded.
package struct ExpansionFailure: Error {
  package let message: String
  /// The fault of an expression in the matrix, if that is the reason.
  package var cause: EvaluationFailure?
}

extension LateStep {
  package var expands: Bool { parts.expansion != nil }

  /// The decision about whether the step runs, by its conditions. The inputs of an enclosing
  /// pipeline are checked after that pipeline's own condition.
  package func verdict(_ facts: some RunFacts) throws(EvaluationFailure) -> LateVerdict {
    for condition in parts.conditions {
      if let group = condition.group, facts.knowsToHold(conditionOf: group) { continue }
      let bindings = LateBindings(scope: condition.scope, facts: facts)
      try bindings.checkInputs()
      if try !bindings.holds(condition.expression) {
        return .skips(reason: condition.reason, group: condition.group)
      }
      if let group = condition.group { facts.noteHolding(conditionOf: group) }
    }
    try LateBindings(scope: scope, facts: facts).checkInputs()
    return .runs
  }

  /// The conditions of `wait_for`, in order.
  package func probes(
    shell: [String], _ facts: some RunFacts
  ) throws(EvaluationFailure) -> [Probe] {
    try probes(parts.probes, shell: shell, facts)
  }

  /// The conditions that make the service ready, in order.
  package func readiness(
    shell: [String], _ facts: some RunFacts
  ) throws(EvaluationFailure) -> [Probe] {
    try probes(parts.readiness, shell: shell, facts)
  }

  private func probes(
    _ conditions: [LateProbe], shell: [String], _ facts: some RunFacts
  ) throws(EvaluationFailure) -> [Probe] {
    let bindings = LateBindings(scope: scope, facts: facts)
    let workspace = facts.runMember("workspace") ?? "."
    var probes: [Probe] = []
    for probe in conditions {
      let target = try bindings.action(
        of: probe.model.target, shell: shell, isScript: probe.model.kind == .command)
      var server: LocalServer?
      if case .script(let text) = target {
        try probe.model.check(text.string)
        server = probe.model.kind.server(at: text.string)
      }
      if probe.model.kind == .command { try parts.checkInput(of: target, bindings) }
      probes.append(
        Probe(
          action: probe.model.kind.action(target, in: workspace), every: probe.model.every,
          timeout: probe.model.timeout, words: probe.model.kind.words(target), server: server))
    }
    return probes
  }

  /// The outputs of a nested pipeline. After allowed failures they are partial (`isPartial`): those
  /// that cannot be produced are left out.
  package func outputs(
    _ facts: some RunFacts, isPartial: Bool
  ) throws(EvaluationFailure) -> ValueMap {
    let bindings = LateBindings(scope: parts.outputScope ?? scope, facts: facts)
    if !isPartial { try bindings.checkVars() }
    var values = ValueMap()
    for output in parts.outputs {
      do throws(EvaluationFailure) {
        values[output.name] = try bindings.value(of: output.value)
      } catch {
        guard isPartial else { throw error }
      }
    }
    return values
  }

  /// The instances of a step whose matrix has become known.
  package func instances(
    of group: PlannedStep, _ facts: some RunFacts
  ) throws(ExpansionFailure) -> [LateInstance] {
    guard let expansion = parts.expansion else { return [] }
    let matrix = try expansion.known(LateBindings(scope: scope, facts: facts))
    let instances: [Instance]
    var budget = MatrixBudget()
    do throws(MatrixFailure) {
      instances = try matrix.instances(&budget)
    } catch {
      throw ExpansionFailure(message: "the matrix \(error.message)")
    }
    var result: [LateInstance] = []
    for instance in instances {
      result.append(try self.instance(instance, of: group, expansion, facts))
    }
    return result
  }

  private func instance(
    _ instance: Instance, of group: PlannedStep, _ expansion: LateExpansion,
    _ facts: some RunFacts
  ) throws(ExpansionFailure) -> LateInstance {
    let own = scope.with(instance.values, writtenNames: expansion.writtenNames)
    var parts = expansion.parts
    parts.conditions = parts.conditions.map { condition in
      guard condition.scope === scope else { return condition }
      return LateCondition(
        expression: condition.expression, written: condition.written, scope: own,
        group: condition.group)
    }
    var result = LateInstance(
      step: PlannedStep(
        id: group.id + instance.suffix, span: group.span, work: expansion.work,
        settings: group.settings, late: LateStep(parts, in: own)),
      spec: expansion.spec)
    guard let allowance = expansion.allowance else { return result }
    do throws(EvaluationFailure) {
      result.allowsFailure = try LateBindings(scope: own, facts: facts).holds(allowance)
    } catch {
      throw ExpansionFailure(message: error.words.message, cause: error)
    }
    return result
  }

  /// The values of the matrix for this step, if it is an instance.
  package var matrix: ValueMap? { scope.instance ?? scope.matrix }
}

extension ProbeModel.Kind {
  /// The action for a probe. Files are relative to where oprun was started, as in `exists` and
  /// `hashFiles`; commands run in the step's directory.
  fileprivate func action(_ target: Action, in workspace: String) -> Action {
    guard case .script(let script) = target else { return target }
    let text = script.string
    return switch self {
    case .file: .arguments(["test", "-e", text.hasPrefix("/") ? text : "\(workspace)/\(text)"])
    case .tcp: .helper(["wait", "--timeout=0s", "--tcp=\(text)"])
    case .http: .helper(["wait", "--timeout=0s", "--http=\(text)"])
    case .command: target
    }
  }

  package func words(_ target: Action) -> String {
    let text =
      switch target {
      case .script(let text): self == .http ? shownURL(text.string) : text.string
      case .arguments(let words), .helper(let words): words.joined(separator: " ")
      }
    return "\(rawValue) \(text)"
  }
}

extension LateExpansion {
  fileprivate func known(
    _ bindings: LateBindings<some RunFacts>
  ) throws(ExpansionFailure) -> KnownMatrix {
    var known: [(name: String, values: [Value])] = []
    for axis in axes {
      known.append((axis.name, try items(of: axis.values, "axis '\(axis.name)'", bindings)))
    }
    var matrix = KnownMatrix(axes: known)
    matrix.included = try maps(included, "'include'", bindings)
    matrix.excluded = try maps(excluded, "'exclude'", bindings)
    return matrix
  }

  private func maps(
    _ model: ValueModel?, _ what: String, _ bindings: LateBindings<some RunFacts>
  ) throws(ExpansionFailure) -> [ValueMap] {
    guard let model else { return [] }
    var maps: [ValueMap] = []
    for item in try items(of: model, what, bindings) {
      guard case .map(let map) = item else {
        throw ExpansionFailure(message: "\(what) of the matrix must contain maps, not \(item.json)")
      }
      maps.append(map)
    }
    return maps
  }

  private func items(
    of model: ValueModel, _ what: String, _ bindings: LateBindings<some RunFacts>
  ) throws(ExpansionFailure) -> [Value] {
    let value: Value
    do throws(EvaluationFailure) {
      value = try bindings.value(of: model)
    } catch {
      throw ExpansionFailure(message: error.words.message, cause: error)
    }
    guard case .list(let items) = value else {
      let help =
        if case .string = value { "; declare the output as 'list', or use fromJSON(…)" } else { "" }
      throw ExpansionFailure(
        message: "\(what) of the matrix must be a list, not \(value.json)\(help)")
    }
    return items
  }
}
