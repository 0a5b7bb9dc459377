// Messages about the steps of a resumed run before it begins: which are kept, which run again, and
// why.

import Diagnostics
import Execution
import Glibc
import Pipelines
import Plans
import Reporting
import Scheduling
import State

extension Tool {
  /// Says which steps are kept and which run again, and why.
  private func announce(
    _ resumption: Resumption, of resumed: ResumedRun, _ planned: PlannedPipeline
  ) {
    let foreseen = resumption.foreseen
    let kept =
      "\(foreseen.keptCount) \(foreseen.keptCount == 1 ? "step is" : "steps are") up to date"
    let least = foreseen.isUncertain ? "at least " : ""
    say("resuming \(resumption.earlier.name): \(kept), \(least)\(foreseen.runCount) to run")
    let edits = reasonsOfEdited(foreseen, resumed, planned)
    let groups =
      edits.map { ($0.reason, "run again", $0.operations) } + [
        ("not up to date", "run again", foreseen.operations(toRun: .outdated)),
        ("gave an output with a secret", "run again", foreseen.operations(toRun: .givesSecret)),
        ("use the name of the run", "run again", foreseen.operations(toRun: .usesRunName)),
        ("left out of that run", "run now", foreseen.operations(toRun: .omitted)),
      ]
    let owed = resumption.owedHooks
    for (reason, pipelines) in [
      ("edited since that run", owed.filter(foreseen.isEdited)),
      ("failed or did not end", owed.filter { !foreseen.isEdited($0) }),
      ("those of a pipeline inside do", resumption.hooksAround),
    ] where !pipelines.isEmpty {
      say("hooks to run again (\(reason)): \(resumption.allNames(of: pipelines))")
    }
    let undecided = foreseen.cached.undecided
    for (reason, verb, operations) in groups {
      for (words, some) in [
        (verb, operations.filter { !undecided.contains($0) }),
        ("\(verb) unless up to date", operations.filter(undecided.contains)),
      ] where !some.isEmpty {
        say("steps to \(words) (\(reason)): \(resumption.names(of: some))")
      }
    }
    for (change, operations) in foreseen.downstreamByChange {
      for (proviso, some) in [
        ("", operations.filter { !undecided.contains($0) }),
        (" unless up to date", operations.filter(undecided.contains)),
      ] where !some.isEmpty {
        let (verb, they) = some.count == 1 ? ("runs", "it depends") : ("run", "they depend")
        let words = change == .runsAgain ? "does" : change.rawValue
        say(
          "\(verb) again\(proviso) because a step \(they) on \(words): \(resumption.names(of: some))"
        )
      }
    }
    errors.flush()
  }

  /// Shows what resuming would do.
  func showForesight(of resumed: ResumedRun, _ planned: PlannedPipeline) -> Int32 {
    let (invocation, secrets) = (planned.invocation, planned.reading.secrets)
    let plan = expecting(
      planned.plan, resumed.store, invocation, expanded: planned.plan.expandedSteps)
    var known = cacheForecast(ofResumed: plan, invocation, secrets)
    let resumption = resumed.resumption(for: plan, secrets, known)
    announce(resumption, of: resumed, planned)
    known.ends = resumption.foreseen.unusualEndings
    for index in plan.steps.indices where !plan.standsForOthers(OperationID(index)) {
      let operation = OperationID(index)
      // A verdict of the cache decides about the step.
      let isDecided = known.isDecided(operation)
      switch resumption.foreseen.step(operation) {
      case .leftOut(let words):
        known.upToDate[operation] = nil
        known.leftOut[operation] = words
      case .kept(let isCertain):
        // A step that is not up to date is kept if a selection does not name it.
        if !isDecided || known.reasons[operation] != nil {
          known.reasons[operation] = nil
          known.upToDate[operation] =
            isCertain ? "up to date" : "up to date, as far as is known now"
        }
      case .didNotRun(let words):
        known.reasons[operation] = nil
        known.upToDate[operation] = words
      case .selected(let option): known.reasons[operation] = option
      case .runs(let words): if !isDecided { known.reasons[operation] = words }
      }
    }
    let status = dryRun(plan, invocation, known)
    let runsHooks = !resumption.owedHooks.isEmpty
    return runsHooks && invocation.isOn(Options.exitCode) ? ExitStatus.wouldRun : status
  }

  /// The resumption of a run, after it was announced.
  func announced(
    _ resumed: ResumedRun, _ plan: Plan, of planned: PlannedPipeline
  ) -> Resumption {
    let secrets = planned.reading.secrets
    let known = cacheForecast(ofResumed: plan, planned.invocation, secrets)
    let resumption = resumed.resumption(for: plan, secrets, known)
    announce(resumption, of: resumed, planned)
    return resumption
  }

  /// The forecast of the cache for the steps of a resumed run: without it, cached steps are kept like others.
  func cacheForecast(
    ofResumed plan: Plan, _ invocation: Invocation, _ secrets: Secrets
  ) -> StepForecast {
    invocation.isOn(Options.noCache)
      ? StepForecast() : cacheForecast(plan, invocation, secrets, isResumed: true)
  }
}

extension Plan {
  /// The plan with the services that a resumed run keeps for their own sake.
  func with(_ resumption: Resumption?) -> Plan {
    var plan = self
    plan.endlessServices = resumption?.foreseen.endlessServices ?? []
    return plan
  }
}
