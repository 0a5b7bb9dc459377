// What becomes of operations that are at their gate: late expressions are given the facts of the run.

import Diagnostics
import Glibc
import Pipelines
import Scheduling

extension RunLoop {
  func decision(about operation: OperationID) -> Decision {
    let step = machine.plan.steps[operation.index]
    let isGroup = machine.plan.groups[operation] != nil
    guard let late = step.late else { return isGroup ? .join : .run(step) }
    do throws(EvaluationFailure) {
      return try decision(about: operation, step, late, isGroup: isGroup)
    } catch {
      return refuse(operation, step, words(of: error))
    }
  }

  private func decision(
    about operation: OperationID, _ step: PlannedStep, _ late: LateStep, isGroup: Bool
  ) throws(EvaluationFailure) -> Decision {
    if isGroup, !late.expands || machine.isExpanded(operation) {
      let (ending, _) = machine.groups.ending(of: operation, in: machine.scheduler)
      // Of steps that did not succeed no outputs can be expected.
      if ending.outcome == .succeeded || ending.outcome == .cached {
        outputs.publish(try late.outputs(self), of: operation)
      }
      return .join
    }
    if !machine.metConditions.contains(operation) {
      if case .skips(let reason, let group) = try late.verdict(self) {
        return group.map { .skipGroup($0, reason) } ?? .skip(reason)
      }
      if isGroup { return expansion(of: operation, step, late) }
      let probes = try late.probes(shell: step.settings.shell, self)
      if !probes.isEmpty { return .wait(probes) }
    }
    return .run(try late.resolved(step, self))
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

  /// The step fails when its turn comes, as any step that cannot be started.
  private func refuse(_ operation: OperationID, _ step: PlannedStep, _ words: String) -> Decision {
    if machine.plan.groups[operation] != nil { return .fail(words) }
    refusals[operation] = words
    var step = step
    step.settings = step.settings.withoutRetry
    return .run(step)
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
    let settings = step?.settings ?? plan.settings
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
