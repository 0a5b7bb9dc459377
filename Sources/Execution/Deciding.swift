// What becomes of operations that are at their gate: late expressions are given the facts of the run.

import Diagnostics
import Glibc
import Pipelines
import RunFiles
import Scheduling

extension RunLoop {
  func decision(about operation: OperationID) -> Decision {
    let step = machine.plan.steps[operation.index]
    let isGroup = machine.plan.groups[operation] != nil
    guard let late = step.late else { return isGroup ? .join : .run(step) }
    do throws(EvaluationFailure) {
      return try decision(about: operation, step, late, isGroup: isGroup)
    } catch {
      if isGroup { return .fail(words(of: error)) }
      // The step fails when its turn comes, as any step that cannot be started.
      return .run(resolve(late, step, of: operation, [.attempt: error]))
    }
  }

  private func decision(
    about operation: OperationID, _ step: PlannedStep, _ late: LateStep, isGroup: Bool
  ) throws(EvaluationFailure) -> Decision {
    if isGroup, !late.expands || machine.isExpanded(operation) {
      let (ending, _) = machine.groups.ending(of: operation, in: machine.scheduler)
      let isWhole = ending.outcome == .succeeded || ending.outcome == .cached
      // Of steps that did not succeed no outputs can be expected.
      if isWhole || ending.isAllowed {
        outputs.publish(try late.outputs(self, isPartial: !isWhole), of: operation)
      }
      return .join
    }
    if !machine.metConditions.contains(operation) {
      if case .skips(let reason, let group) = try late.verdict(self) {
        return group.map { .skipGroup($0, reason) } ?? .skip(reason)
      }
      if isGroup { return expansion(of: operation, step, late) }
    }
    let resolved = resolve(late, step, of: operation)
    if !machine.metConditions.contains(operation), refusals[operation]?[.attempt] == nil {
      let probes = try late.probes(shell: step.settings.shell, self)
      if !probes.isEmpty { return .wait(probes, resolved) }
    }
    return .run(resolved)
  }

  private func expansion(
    of operation: OperationID, _ step: PlannedStep, _ late: LateStep
  ) -> Decision {
    do throws(ExpansionFailure) {
      return .expand(
        try late.instances(of: step, self).map { NewOperation(step: $0.step, spec: $0.spec) })
    } catch {
      return .fail(error.message)
    }
  }

  /// Puts in what is known now, and keeps what cannot run.
  private func resolve(
    _ late: LateStep, _ step: PlannedStep, of operation: OperationID,
    _ failures: [StepPart: EvaluationFailure] = [:]
  ) -> PlannedStep {
    let resolved = late.resolved(step, self)
    let all = failures.merging(resolved.failures) { first, _ in first }
    if all.isEmpty { return resolved.step }
    refusals[operation] = all.mapValues { words(of: $0) }
    var step = resolved.step
    if all[.attempt] != nil { step.settings = step.settings.withoutRetry }
    return step
  }

  /// What of the run's own settings is known only now.
  func resolveRun() {
    guard let late = machine.plan.late else { return }
    let run = PlannedStep(
      id: RunDirectory.runHookName, span: Span(start: 0, end: 0), action: .arguments(["true"]),
      settings: machine.plan.settings)
    machine.plan.settings = resolve(late, run, of: CommandKey.runOperation).settings
  }

  /// `pipeline.yml:7: the message; the way out`.
  private func words(of failure: EvaluationFailure) -> String {
    let diagnostic = failure.diagnostic(in: machine.plan.sources)
    let position = machine.plan.sources.position(of: diagnostic.primary.span)
    let help = failure.words.help.map { "; \($0)" } ?? ""
    return "\(position.path):\(position.line): \(failure.words.message)\(help)"
  }
}

extension RunLoop: RunFacts {
  func ending(of operation: OperationID) -> Ending? { machine.scheduler.ending(of: operation) }

  func outputs(of operation: OperationID) -> ValueMap { outputs[operation] }

  func instances(of operation: OperationID) -> [(OperationID, ValueMap)]? {
    guard let group = machine.plan.groups[operation] else { return nil }
    if case .nested = group.kind { return nil }
    let members = machine.groups.members(of: operation)
    if group.combinations.count == members.count {
      return Array(zip(members, group.combinations))
    }
    return members.map { ($0, machine.plan.steps[$0.index].late?.matrix ?? ValueMap()) }
  }

  func keptList(of group: OperationID) -> Value? { lists[group] }

  func keep(_ list: Value, of group: OperationID) {
    if ending(of: group) != nil { lists[group] = list }
  }

  func runMember(_ name: String) -> String? {
    switch name {
    case "id": options.runID
    case "pipeline": machine.plan.name
    case "workspace": builder.workspace
    default: nil
    }
  }

  func secret(_ name: String) -> String? { options.secrets[name] }

  func hashFiles(_ patterns: [String]) throws(FaultWords) -> String {
    try FileHashes.hash(of: patterns)
  }

  func exists(_ path: String) throws(FaultWords) -> Bool { access(path, F_OK) == 0 }
}

extension RunMachine {
  /// What runs for an attempt, a hook or a look at a condition.
  func command(of key: CommandKey) -> StepCommand {
    let isRun = key.operation == CommandKey.runOperation
    let step = isRun ? nil : plan.steps[key.operation.index]
    let settings = waits[key.operation]?.step.settings ?? step?.settings ?? plan.settings
    let action: Pipelines.Action? =
      switch key.trial {
      case .attempt: step?.action
      case .hook(let kind, let index): settings.hooks[kind][index - 1]
      case .probe(let index): waits[key.operation]?.probes[index - 1].action
      }
    var variables: [String] = []
    if case .hook = key.trial { variables = hookVariables(for: key.operation) }
    return StepCommand(
      step: step?.id ?? RunDirectory.runHookName, settings: settings,
      action: action ?? .arguments(["true"]), attempt: active[key.operation]?.attempt ?? 1,
      variables: variables)
  }

  func isExpanded(_ operation: OperationID) -> Bool { groups.isExpanded(operation) }
}
