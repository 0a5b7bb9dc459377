// `oprun run`: what is to run is chosen; then something else answers the command, such as a dry run, or it runs.

import Caching
import Diagnostics
import Execution
import Pipelines
import Plans
import Reporting
import Scheduling
import State

/// A planned pipeline, and why it is run.
struct ChosenRun {
  let planned: PlannedPipeline
  /// The run that is resumed; nil for a new run.
  var resumed: ResumedRun?
  /// What is affected by changes; nil if that was not asked.
  var part: AffectedPart?

  var invocation: Invocation { planned.invocation }
}

extension Tool {
  func run(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    let submission = SubmittedRun.resumed
    return try withFreshView { () throws(UsageFailure) in
      guard submission != nil || invocation.isOn(Options.resume) else {
        return try choose(invocation, resuming: nil)
      }
      return try runResuming(invocation, of: submission)
    }
  }

  /// Chooses what the command line asks for; then it runs, or something else answers.
  func choose(
    _ invocation: Invocation, resuming resumed: ResumedRun?
  ) throws(UsageFailure) -> Int32 {
    try checkSharedCache(invocation)
    let note = resumed == nil ? unchangedRunNote(invocation) : nil
    if let note, let status = try runUnchanged(note, invocation) { return status }
    let reads = ReadPaths()
    var options = planningOptions(invocation, resumed)
    if invocation.text(Options.affected) != nil { options = noting(reads, options) }
    if let note {
      options.files = note.files(options.files)
      note.sources.note(invocation.operands[0])
    }
    switch try planned(invocation, options, note) {
    case .failure(let exit): return exit.status
    case .success(let planned):
      guard let part = try affectedPart(of: planned, reads) else {
        return try runUnlessAnswered(ChosenRun(planned: planned, resumed: resumed))
      }
      return try narrow(planned, to: part)
    }
  }

  /// Goes on with the part of a pipeline that is affected.
  private func narrow(
    _ planned: PlannedPipeline, to part: AffectedPart
  ) throws(UsageFailure) -> Int32 {
    if part.selection.isEmpty {
      say(part.nothing)
      return ExitStatus.success
    }
    switch plan(part, of: planned) {
    case .failure(let exit): return exit.status
    case .success(let plan):
      var invocation = planned.invocation
      if !part.isEverything { invocation.operands = [planned.path] + part.selection }
      let narrowed = PlannedPipeline(
        planned.pipeline, plan, for: invocation, options: planned.options,
        reading: planned.reading)
      planned.giveUp()
      return try runUnlessAnswered(ChosenRun(planned: narrowed, part: part))
    }
  }

  /// Runs what was chosen, if nothing else is to be said about it.
  func runUnlessAnswered(_ chosen: ChosenRun) throws(UsageFailure) -> Int32 {
    if let status = try answerWithoutRunning(chosen) { return status }
    return secrets(of: chosen.planned).map { begin(chosen, $0) } ?? ExitStatus.usage
  }

  /// Says what was asked, or why nothing runs; nil if it is to run.
  private func answerWithoutRunning(_ chosen: ChosenRun) throws(UsageFailure) -> Int32? {
    let (planned, resumed, invocation) = (chosen.planned, chosen.resumed, chosen.invocation)
    let isDryRun = invocation.isOn(Options.dryRun)
    try check(
      planned.plan, invocation,
      isResumed: resumed != nil || invocation.isOn(Options.resume))
    let isDone = resumed?.hasNothingLeft(of: planned) == true
    if let resumed, isDone || isDryRun {
      sayLostParameters(resumed, planned.plan)
      sayIgnoredVariables(resumed, planned.plan, invocation)
    }
    if let resumed, isDone { return sayNothingLeft(of: resumed, planned) }
    try check(resumed, planned)
    try checkJobs(of: resumed, planned.plan, invocation)
    if let resumed, let status = sayLeftOut(of: resumed, planned) { return status }
    if let resumed, isDryRun { return showForesight(of: resumed, planned) }
    if let resumed, let status = sayContinuing(resumed, planned) { return status }
    return isDryRun ? dryRun(chosen) : nil
  }

  /// Refuses options that have no effect for a plan, except `--no-wait` for a run that is to be
  /// resumed, which may be waited for, too.
  private func check(
    _ plan: Plan, _ invocation: Invocation, isResumed: Bool
  ) throws(UsageFailure) {
    if invocation.isGiven(Options.noWait), invocation.isOn(Options.noWait), !plan.isExclusive,
      !invocation.isOn(Options.lock), !isResumed
    {
      throw .waitsForNothing(invocation.command)
    }
    if invocation.isGiven(Options.detach), invocation.isOn(Options.detach), !hasJobs(plan) {
      throw .detachesNothing(invocation.command)
    }
  }

  private func dryRun(_ chosen: ChosenRun) -> Int32 {
    let (invocation, part) = (chosen.invocation, chosen.part)
    let plan = expecting(chosen.planned.plan, invocation)
    keepUntilExit((chosen.planned.pipeline, plan))
    var known = cacheForecast(plan, invocation, chosen.planned.reading.secrets)
    known.remark = part?.remark
    known.foldsUpToDate = part != nil
    known.reasons.merge(part?.reasons(in: plan) ?? [:]) { $1 }
    return dryRun(plan, invocation, known)
  }

  func dryRun(_ plan: Plan, _ invocation: Invocation, _ known: StepForecast) -> Int32 {
    let dryRun = DryRun(plan, options: drawingOptions(invocation), known)
    if !invocation.isOn(Options.verbose) { clipOutput() }
    dryRun.write(to: output)
    let wouldRun = dryRun.forecast.runCount > 0
    return wouldRun && invocation.isOn(Options.exitCode) ? ExitStatus.wouldRun : ExitStatus.success
  }

  /// The path of the state directory.
  func stateDirectory(_ invocation: Invocation) -> String {
    invocation.text(Options.stateDirectory) ?? ".oprun"
  }
}

extension Plan {
  func operation(named id: String) -> OperationID? {
    steps.firstIndex { $0.id == id }.map { OperationID($0) }
  }
}
