// Decides about operations that are at their gate: late expressions are evaluated with the facts of
// the run.

import Diagnostics
import Expressions
import Glibc
import Plans
import RunFiles
import Running
import Scheduling

extension RunLoop {
  /// The decision; nil if it is postponed until files are hashed, or the cache has answered.
  func decision(about operation: OperationID, _ question: Question) -> Decision? {
    hashing.begin(operation)
    valueBudget = ValueBudget()
    if operation == .run { return outputsDecision() }
    let decision =
      switch question {
      case .entry: entryDecision(about: operation)
      case .start: startDecision(about: operation)
      case .conditionsHold:
        decision(about: operation, otherwise: asPlanned(operation)) { step, late in
          .run(resolve(late, step, of: operation))
        }
      case .join: groupDecision(about: operation, joining)
      case .ready: groupDecision(about: operation, serving)
      }
    if hashing.isAwaited(by: operation) || caching?.isAwaited(by: operation) == true {
      if question != .start { findings.refusals[operation] = nil }
      return nil
    }
    hashing.decided(operation)
    if case .join = decision, question == .join, let memory = options.memory {
      machine.setDuty(memory.hooks(of: operation), of: operation, at: now)
    }
    if question == .join, options.memory?.hadTimedOut(operation) == true {
      machine.rememberTimeout(of: operation)
    }
    return decision
  }

  /// Whether an operation enters, and what it runs, as if nothing were known of an earlier run.
  func newEntryDecision(about operation: OperationID) -> Decision {
    decision(about: operation, otherwise: asPlanned(operation)) {
      step, late throws(EvaluationFailure) in
      try entry(of: operation, step, late)
    }
  }

  private func groupDecision(
    about operation: OperationID,
    _ decide: (OperationID, LateStep) throws(EvaluationFailure) -> Decision
  ) -> Decision {
    if machine.standsForCopies(operation) { return .join }
    return decision(about: operation, otherwise: .join) { _, late throws(EvaluationFailure) in
      try decide(operation, late)
    }
  }

  private func asPlanned(_ operation: OperationID) -> Decision {
    .run(ReadyStep(machine.steps[operation]))
  }

  /// The decision about an operation with late parts; `otherwise` is that about one that has none.
  private func decision(
    about operation: OperationID, otherwise: @autoclosure () -> Decision,
    _ decide: (PlannedStep, LateStep) throws(EvaluationFailure) -> Decision
  ) -> Decision {
    let step = machine.steps[operation]
    guard let late = step.late else { return otherwise() }
    do throws(EvaluationFailure) {
      return try decide(step, late)
    } catch {
      if machine.groupPlan(operation) != nil { return .fail(words(of: error)) }
      // The step fails when its turn comes, like any step that cannot be started.
      return .run(resolve(late, step, of: operation, [.attempt: error]))
    }
  }

  /// Publishes the outputs of the pipeline itself; nil if files are to be hashed first. If all went
  /// well and they cannot be made, the run fails; after anything else, those are published that can
  /// be made.
  private func outputsDecision() -> Decision? {
    guard let late = machine.plan.outputs else { return .join }
    var decision = Decision.join
    var given: ValueMap?
    do throws(EvaluationFailure) {
      given = try late.outputs(self, isPartial: isRehearsal || !wentWell)
    } catch {
      decision = .fail(words(of: error))
      given = try? late.outputs(self, isPartial: true)
    }
    if hashing.isAwaited(by: .run) { return nil }
    hashing.decided(.run)
    tell(.published(.run, given?.published ?? []), at: now)
    return decision
  }

  /// True if a step has succeeded, none has failed, not even where that was allowed, and none was left out.
  private var wentWell: Bool {
    guard machine.runOutcome == .succeeded else { return false }
    var hasResult = false
    for index in machine.plan.steps.indices {
      let operation = OperationID(index)
      if machine.groups.group(of: operation) != nil { continue }
      if options.memory?.leavesGap(operation) == true || hasLeftOut(in: operation) { return false }
      switch machine.scheduler.ending(of: operation)?.outcome {
      case .succeeded, .cached: hasResult = true
      case .skipped: break
      case .failed, .timedOut, .cancelled, .blocked, nil: return false
      }
    }
    return hasResult
  }

  private func entry(
    of operation: OperationID, _ step: PlannedStep, _ late: LateStep
  ) throws(EvaluationFailure) -> Decision {
    if case .skips(let reason, let group) = try late.verdict(self) {
      return group.map { .skipGroup($0, reason) } ?? .skip(reason)
    }
    if late.expands { return expansion(of: step, late) }
    let resolved = resolve(late, step, of: operation)
    if findings.refusals[operation]?[.attempt] == nil {
      let probes = try late.probes(shell: step.settings.shell, self)
      if !probes.isEmpty { return .wait(probes, resolved) }
    }
    return .run(resolved)
  }

  /// Publishes the outputs of a group, unless it is in the background and published them when it
  /// was ready. Members that did not succeed need not have any.
  private func joining(
    _ group: OperationID, _ late: LateStep
  ) throws(EvaluationFailure) -> Decision {
    if machine.endingWhileReady(of: group) != nil { return .join }
    let ending = machine.groups.ending(of: group, in: machine.scheduler).ending
    let hasGaps = hasLeftOut(in: group)
    let isWhole = (ending.outcome == .succeeded || ending.outcome == .cached) && !hasGaps
    if isWhole || ending.isAllowed || hasGaps {
      try publishOutputs(of: group, late, isPartial: !isWhole)
    }
    return .join
  }

  /// True if a step in the group does not run because only a part of a run is resumed.
  private func hasLeftOut(in group: OperationID) -> Bool {
    guard let memory = options.memory, memory.isOfEarlierRun else { return false }
    return machine.groups.members(of: group).contains {
      memory.leavesGap($0) || hasLeftOut(in: $0)
    }
  }

  /// Publishes the outputs of a group in the background that is otherwise ready.
  private func serving(
    _ group: OperationID, _ late: LateStep
  ) throws(EvaluationFailure) -> Decision {
    let isWhole = machine.endingSoFar(of: group).outcome == .succeeded
    try publishOutputs(of: group, late, isPartial: !isWhole)
    return .join
  }

  private func publishOutputs(
    of group: OperationID, _ late: LateStep, isPartial: Bool
  ) throws(EvaluationFailure) {
    let given = try late.outputs(self, isPartial: isPartial)
    if !hashing.isAwaited(by: group) { outputs.publish(given, of: group) }
  }

  func expansion(of step: PlannedStep, _ late: LateStep) -> Decision {
    do throws(ExpansionFailure) {
      return .expand(
        try late.instances(of: step, self).map {
          NewOperation(step: $0.step, spec: $0.spec, allowsFailure: $0.allowsFailure)
        })
    } catch {
      return .fail(error.cause.map(words) ?? error.message)
    }
  }

  /// Inserts the values that are known now, and records the commands that cannot run.
  private func resolve(
    _ late: LateStep, _ step: PlannedStep, of operation: OperationID,
    _ failures: [StepPart: EvaluationFailure] = [:]
  ) -> ReadyStep {
    let resolved = late.resolved(step.work, step.settings, self)
    var all = failures.merging(resolved.failures) { first, _ in first }
    var readiness: [Probe] = []
    if !late.parts.readiness.isEmpty, all[.attempt] == nil {
      do throws(EvaluationFailure) {
        readiness = try late.readiness(shell: step.settings.shell, self)
      } catch {
        all[.attempt] = error
      }
    }
    refuse(all, of: operation)
    if resolved.settings.cache != nil { findings.declarations[operation] = resolved.settings }
    if all[.attempt] != nil { return ReadyStep(refusedWith: resolved.settings) }
    guard let action = resolved.action else {
      preconditionFailure("'\(step.id)' has nothing to run, and no reason for it")
    }
    return ReadyStep(action, resolved.settings, readiness: readiness)
  }

  private func refuse(_ failures: [StepPart: EvaluationFailure], of operation: OperationID) {
    if failures.isEmpty, findings.refusals.isEmpty { return }
    findings.refusals[operation] = failures.isEmpty ? nil : failures.mapValues { words(of: $0) }
  }

  /// Forgets what was found out about an operation that runs again: it is found out anew at its gate.
  func forget(_ operation: OperationID) {
    findings.forget(operation)
    outputs.forget(operation)
    caching?.forget(operation)
  }

  /// The words of a failure: `pipeline.yml:7:12: the message; the help`.
  func words(of failure: EvaluationFailure) -> String {
    let diagnostic = failure.diagnostic(in: machine.plan.sources)
    let position = machine.plan.sources.position(of: diagnostic.primary.span)
    let help = failure.words.help.map { "; \($0)" } ?? ""
    return
      "\(position.path):\(position.line):\(position.column): \(failure.words.message)\(help)"
  }
}

extension RunLoop: RunFacts {
  /// The ending of an operation, for those who use it; a service that is ready counts as ended.
  func ending(of operation: OperationID) -> Ending? {
    if let ending = machine.ending(of: operation) { return asItWas(ending) }
    return machine.endingWhileReady(of: operation)
  }

  func outputs(of operation: OperationID) -> ValueMap { outputs[operation] }

  func instances(of operation: OperationID) -> [(OperationID, ValueMap)]? {
    if let copies = machine.copies(of: operation) { return copies }
    guard let group = machine.groupPlan(operation) else { return nil }
    if case .nested = group.kind { return nil }
    if machine.isUnexpanded(operation) { return [] }
    let members = machine.groups.members(of: operation)
    if group.combinations.count == members.count {
      return Array(zip(members, group.combinations))
    }
    return members.map { ($0, machine.steps[$0].late?.matrix ?? ValueMap()) }
  }

  func copies(of operation: OperationID) -> [(OperationID, ValueMap)]? {
    machine.copies(of: operation)
  }

  func keptList(of group: OperationID) -> Value? { findings.lists[group] }

  func keep(_ list: Value, of group: OperationID) {
    if ending(of: group) != nil { findings.lists[group] = list }
  }

  func knowsToHold(conditionOf group: OperationID) -> Bool {
    findings.heldConditions.contains(group)
  }

  func noteHolding(conditionOf group: OperationID) { findings.heldConditions.insert(group) }

  func keptVar(_ number: LateVarNumber) -> Value? { findings.vars[number] }

  func keepVar(_ value: Value, _ number: LateVarNumber) { findings.vars[number] = value }

  func runMember(_ name: String) -> String? {
    switch name {
    case "id": options.runID
    case "pipeline": machine.plan.name
    case "workspace": builder.workspace
    default: nil
    }
  }

  func secret(_ name: String) -> String? { options.secrets[name] }

  func secret(heldBy text: String) -> String? { options.secrets.name(heldBy: text) }

  func hashFiles(_ patterns: [String]) throws(UnlocatedFailure) -> String {
    if isRehearsal { return String(repeating: "0", count: 64) }
    guard let digest = hashing.digest(of: patterns) else {
      throw UnlocatedFailure("files are being hashed")
    }
    return try digest.get()
  }

  func exists(_ path: String) throws(UnlocatedFailure) -> Bool { access(path, F_OK) == 0 }
}
