// Steps that need not run, because they ran in the run that this one resumes. The loop asks when it
// decides about a step at its gate, and restores outputs; it knows no database.

import Caching
import Diagnostics
import Expressions
import Plans
import Running
import Scheduling

extension RunLoop {
  /// The decision about whether an operation runs, with earlier runs taken into account.
  func entryDecision(about operation: OperationID) -> Decision {
    let memory = options.memory
    if memory?.isOfEarlierRun == true, let reason = memory?.reasonToLeaveOut(operation) {
      return .skip(reason)
    }
    let decision = rememberedDecision(about: operation)
    let isKnown = !hashing.isAwaited(by: operation) && caching?.isAwaited(by: operation) != true
    guard memory?.isOfEarlierRun == true, isKnown else { return decision }
    switch decision {
    case .keep, .expand, .join, .later: return decision
    case .skip, .skipGroup:
      if let instances = instances(toHold: operation) { return instances }
    case .run, .wait, .fail: break
    }
    let allowance = machine.steps[operation].settings.allowFailure
    guard let held = memory?.held(operation, allowance), restore(held.outputs, of: operation) else {
      if case .skipGroup(let group, let reason, _) = decision {
        // The operation itself is not held: it must end now, because no other decision about it
        // will be asked for.
        return .skipGroup(group, reason, held: stepsHeld(in: group).subtracting([operation]))
      }
      return decision
    }
    findings.refusals[operation] = nil
    return keeping(operation, as: held)
  }

  /// The expansion of a group that was expanded before and is no longer to run, so that its
  /// instances keep what they did; nil if there is nothing to keep, or they are not known.
  private func instances(toHold group: OperationID) -> Decision? {
    let step = machine.steps[group]
    guard let late = step.late, late.expands, options.memory?.mayHold(group) == true else {
      return nil
    }
    let decision = expansion(of: step, late)
    if case .expand = decision { return decision }
    return nil
  }

  /// The steps in a group that keep what they did in an earlier run, although the group does not run.
  private func stepsHeld(in group: OperationID) -> Set<OperationID> {
    guard let memory = options.memory else { return [] }
    let steps = machine.groups.unendedSteps(of: group, in: machine.scheduler)
    return Set(steps.filter(memory.mayHold))
  }

  /// The decision as if nothing were left out of the run; a step that need not run is kept.
  private func rememberedDecision(about operation: OperationID) -> Decision {
    let memory = options.memory
    let decision = newEntryDecision(about: operation)
    let ready: ReadyStep
    switch decision {
    case .run(let step), .wait(_, let step): ready = step
    case .fail, .skip, .skipGroup, .expand, .keep, .join, .later: return decision
    }
    if hashing.isAwaited(by: operation) || findings.refusals[operation] != nil { return decision }
    let step = machine.steps[operation]
    if step.late != nil { memory?.noteResolved(operation, as: ready) }
    switch cached(operation, step.id, ready) {
    case .later: return decision
    case .runs:
      if memory?.isOfEarlierRun == true { return decision }
    case .hit(let result):
      noteResult(of: operation)
      // A step that was kept for the resumed run, and has the result that it had there, counts as not having run since then.
      _ = memory?.kept(operation, as: ready)
      guard restore(result.outputs, of: operation) else { return decision }
      showAgain(result.log, of: operation)
      if caching?.lookups[operation]?.hasRestored == true {
        tell(.restored(operation), at: turnTime)
      }
      return .keep(Ending(.cached))
    case .unknown: break
    }
    let kept = memory?.kept(operation, as: ready)
    guard let kept, restore(kept.outputs, of: operation) else { return decision }
    return keeping(operation, as: kept)
  }

  /// Tells the memory which result of a cached step was found.
  func noteResult(of operation: OperationID) {
    let result = caching?.result(of: operation) { machine.steps[operation].id }
    if let result { options.memory?.noteResult(operation, result.number) }
  }

  /// Ends an operation as it ended in an earlier run. Operations that were given up together with
  /// it there, and wait for it, end before it, or they would be blocked.
  private func keeping(_ operation: OperationID, as kept: KeptStep) -> Decision {
    if kept.ending.outcome == .cancelled {
      var others: Set<OperationID> = []
      var cause = Cause.itself
      var open = [operation]
      while let next = open.popLast() {
        for edge in machine.scheduler.graph.dependents(of: next)
        where !others.contains(edge.to) && edge.condition.effect(of: kept.ending) == .blocks
          && machine.groupPlan(edge.to) == nil
          && !machine.scheduler.state(of: edge.to).hasEnded
        {
          guard let other = options.memory?.keptGivenUp(edge.to, with: operation) else { continue }
          others.insert(edge.to)
          cause = other.cause
          open.append(edge.to)
        }
      }
      machine.keepGivenUp(others.sorted(), cause)
    }
    return .keep(kept.ending, kept.cause)
  }

  /// The ending as expressions see it: a step that is kept has succeeded, as it had for those that
  /// ran after it, or their values would differ.
  func asItWas(_ ending: Ending) -> Ending {
    guard ending.outcome == .cached, options.memory?.isOfEarlierRun == true else { return ending }
    return Ending(.succeeded)
  }

  /// Makes the published outputs those of the operation; false if one of them cannot be read.
  func restore(_ published: [PublishedOutput], of operation: OperationID) -> Bool {
    if published.isEmpty { return true }
    var values = ValueMap()
    for output in published {
      guard let value = try? JSONReader.value(of: output.json) else { return false }
      values[output.name] = value
    }
    outputs.publish(values, of: operation)
    tell(.published(operation, published), at: turnTime)
    return true
  }
}
