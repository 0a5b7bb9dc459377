// `oprun run`: runs a pipeline, or shows what would run.

import Caching
import Diagnostics
import Execution
import Glibc
import Pipelines
import Plans
import Processors
import Reporting
import RunFiles
import Scheduling
import State

extension Tool {
  func run(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    let submission = SubmittedRun.resumed
    return try withFreshView { () throws(UsageFailure) in
      guard submission != nil || invocation.isOn(Options.resume) else {
        return try run(invocation, resuming: nil)
      }
      return try runResuming(invocation, of: submission)
    }
  }

  func run(
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
        return try run(planned, resuming: resumed)
      }
      return try run(part, of: planned)
    }
  }

  /// Runs the part of a pipeline that is affected.
  private func run(
    _ part: AffectedPart, of planned: PlannedPipeline
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
      return try run(narrowed, resuming: nil, part: part)
    }
  }

  func run(
    _ planned: PlannedPipeline, resuming resumed: ResumedRun?, part: AffectedPart? = nil
  ) throws(UsageFailure) -> Int32 {
    let (invocation, reading) = (planned.invocation, planned.reading)
    try check(
      planned.plan, invocation,
      isResumed: resumed != nil || invocation.isOn(Options.resume))
    let isDone = resumed?.hasNothingLeft(of: planned) == true
    if let resumed, isDone || invocation.isOn(Options.dryRun) {
      sayLostParameters(resumed, planned.plan)
      sayIgnoredVariables(resumed, planned.plan, invocation)
    }
    if let resumed, isDone { return sayNothingLeft(of: resumed, planned) }
    try resumed?.check(planned.plan, invocation, reading.secrets)
    try checkJobs(of: resumed, planned.plan, invocation)
    if let resumed, let status = sayLeftOut(of: resumed, planned) { return status }
    if let resumed, invocation.isOn(Options.dryRun) {
      return showForesight(of: resumed, planned)
    }
    if let resumed, let status = sayContinuing(resumed, planned) { return status }
    guard !invocation.isOn(Options.dryRun) else {
      let plan = expecting(planned.plan, invocation)
      keepUntilExit((planned.pipeline, plan))
      return dryRun(plan, invocation, reading.secrets, part)
    }
    return secrets(of: planned).map { run(planned, $0, resumed, part) }
      ?? ExitStatus.usage
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

  /// Shows advice about valid files: only the first few, because `validate` shows all.
  private func sayNotices(_ pipeline: LoadedPipeline) {
    let notices = pipeline.notices
    if notices.isEmpty { return }
    let shown = 3
    errors.write(
      render(
        Array(notices.prefix(shown)), in: pipeline.sources, color: isColored(STDERR_FILENO, .auto),
        columns: Terminal.width(of: STDERR_FILENO)))
    if notices.count > shown {
      errors.write("… and \(notices.count - shown) more, which 'oprun validate' shows\n")
    }
    errors.flush()
  }

  /// Says what is to run, after the last wait: files that were read before a wait are read again after it.
  private func announce(
    _ part: AffectedPart?, _ resumed: ResumedRun?, _ planned: PlannedPipeline
  ) {
    sayNotices(planned.pipeline)
    if let resumed {
      sayLostParameters(resumed, planned.plan)
      sayIgnoredVariables(resumed, planned.plan, planned.invocation)
    }
    guard let part else { return }
    say(part.announcement)
    errors.flush()
  }

  func planningOptions(
    _ invocation: Invocation, _ resumed: ResumedRun?
  ) -> PlanningOptions {
    var options = PlanningOptions(
      processorCount: availableProcessorCount,
      maxParallel: invocation.count(Options.jobs),
      failurePolicy: failurePolicy(invocation),
      timeout: invocation.duration(Options.timeout),
      selection: Array(invocation.operands.dropFirst()))
    let jobs = jobOptions(invocation)
    if jobs.usesInherited { options.automaticWidth = jobs.inherited.jobs }
    options.executor = executor(invocation, resumed)
    // A step that is traced runs here.
    if invocation.tracedStep != nil { options.executor = .local }
    options.memory = physicalMemory
    setParameters(of: &options, invocation)
    if let resumed {
      options.parameters = resumed.parameters(with: options.parameters)
      options.prefersDefaults = true
    }
    return options
  }

  /// The options for sharing slots with the make that started oprun, and with those in its steps.
  private func jobOptions(_ invocation: Invocation) -> JobOptions {
    var options = JobOptions()
    options.inherited = inheritedJobserver
    options.isOn = invocation.text(Options.jobserver).map { $0 == "on" }
    options.hasOwnWidth = invocation.count(Options.jobs) != nil
    return options
  }

  private func failurePolicy(_ invocation: Invocation) -> FailurePolicy? {
    if let word = invocation.text(Options.failurePolicy) {
      return FailurePolicy.allCases.first { $0.word == word }
    }
    return invocation.isOn(Options.failFast) ? .cancel : nil
  }

  private func dryRun(
    _ plan: Plan, _ invocation: Invocation, _ secrets: Secrets, _ part: AffectedPart?
  ) -> Int32 {
    var known = cacheForecast(plan, invocation, secrets)
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

  private func run(
    _ planned: PlannedPipeline, _ secrets: Secrets, _ resumed: ResumedRun?, _ part: AffectedPart?
  ) -> Int32 {
    let invocation = planned.invocation
    if planned.plan.slurm?.mode == .allocation, !isInAllocation {
      say(
        "'mode: allocation' works only if oprun runs in a job of Slurm",
        help: "start oprun with 'oprun submit', or below 'salloc'")
      return ExitStatus.usage
    }
    if !hasJobs(planned.plan), let status = endJobs(of: resumed) { return status }
    let state = StateDirectory(path: stateDirectory(invocation))
    let lock: StateLock?
    do throws(ReportedFailure) {
      lock = try takeLock(planned.plan, invocation, state, resumed)
    } catch {
      return error.status
    }
    defer { withExtendedLifetime(lock) {} }
    announce(part, resumed, planned)
    do throws(StateFailure) {
      let (id, directory) = try state.makeRun()
      if let refusal = directory.state.flatMap({ whyUnfit($0, isOpen: resumed != nil) }) {
        directory.removeAll()
        say(refusal.message, help: refusal.help)
        return ExitStatus.cannotWrite
      }
      var options = RunOptions(runID: id, directory: directory)
      options.secrets = secrets
      options.controlVersion = "\(version)"
      let store = resumed?.store ?? history(for: planned.plan, directory)
      options.isDatabaseOpen = store != nil
      let (plan, note) = (expecting(planned.plan, store, invocation), planned.note)
      options.host = runHost
      options.trace = .ofRun(id, invocation)
      options.tracedStep = invocation.tracedStep
      options.jobs = jobOptions(invocation)
      options.earlierJobs = resumed?.openWork?.run
      options.hasBegun = { lock?.say(holder: id) }
      var run = RunToRecord(
        plan: plan, directory: directory,
        request: request(invocation, plan, in: directory.state, resumed))
      (run.masker, run.store) = (secrets.masker, store)
      (run.unplanned, options.unplanned) = (note?.rest?.recorded, note?.rest?.steps ?? [])
      run.isDurable = invocation.isOn(Options.durable)
      run.resumption = resumed.map { announced($0, plan, of: planned) }
      if let status = endOutdated(resumed, run.resumption, directory) { return status }
      let recorder = RunRecorder(run)
      options.memory = recorder
      planned.giveUp()
      options.cache = stepCache(for: plan, options, resumed?.openWork, invocation)
      hideCachePassword()
      let status = self.run(plan.with(run.resumption), invocation, options, recorder, note)
      if options.tracedStep != nil { writeTrace(plan, invocation, directory, status) }
      return status
    } catch {
      say(error.message, help: error.help)
      return ExitStatus.cannotWrite
    }
  }

  /// The database, if it has information that is useful before the run.
  private func history(for plan: Plan, _ directory: RunDirectory) -> StateStore? {
    guard plan.steps.count > 1, let state = directory.state else { return nil }
    return try? StateStore.findForRun(named: directory.name, in: state)
  }

  private var runHost: RunHost {
    let facts = hostFacts()
    return RunHost(name: facts.name, processorCount: facts.processorCount)
  }

  /// The plan with the durations of earlier runs, for a dry run, which changes nothing to learn
  /// them. Instances that become known while running count as one step.
  func expecting(_ plan: Plan, _ invocation: Invocation) -> Plan {
    let state = try? StateDirectory(path: stateDirectory(invocation)).open()
    return expecting(
      plan, state.flatMap(StateStore.look), invocation, expanded: plan.expandedSteps)
  }

  func expecting(
    _ plan: Plan, _ store: StateStore?, _ invocation: Invocation, expanded: Set<String> = []
  ) -> Plan {
    guard let store, let file = invocation.operands.first, file != "-",
      let durations = try? store.durations(
        of: place(of: file, in: store.folder), stepCount: plan.stepCount, expanded: expanded)
    else { return plan }
    return plan.expecting { durations[$0] }
  }

  private func run(
    _ plan: Plan, _ invocation: Invocation, _ options: RunOptions, _ recorder: RunRecorder,
    _ note: UnchangedRunNote?
  ) -> Int32 {
    let recorders: RunRecorders
    do throws(SystemError) {
      recorders = try RunRecorders(invocation, plan, options, recorder)
    } catch {
      say(error.message)
      forgetUnbegun(options, recorder)
      return ExitStatus.cannotWrite
    }
    let shown = RunScreen(
      invocation, options.directory, options.secrets,
      resume: { [command = resumeCommand(invocation, of: options.runID)] in
        recorder.isRecorded ? command : nil
      })
    let screen = shown.screen
    let unplanned = UnplannedStepsWatch(note?.rest, isShown: shown.mode.showsProgress)
    let console = Console(
      plan: unplanned.added(to: plan), directory: options.directory, screen: screen,
      mode: shown.mode)
    unplanned.show(on: console, behind: plan.steps.count)
    let unchanged = note.map { _ in UnchangedRunWatch() }
    var options = options
    options.statusSource = invocation.text(Options.exitCodeFrom).flatMap {
      plan.operation(named: $0)
    }
    options.isStrict = invocation.isOn(Options.strict)
    options.isDetached = invocation.isOn(Options.detach)
    options.showsCached = invocation.isOn(Options.showCached)
    if screen.hasColoredOutput { options.environment = colorVariables }
    options.tellAtOnce = { [self] message in
      say(message)
      errors.flush()
    }
    do throws(SystemError) {
      let watches: [any RunObserver] = unchanged.map { [$0] } ?? []
      let end = try Execution.run(
        plan, options, observers: watches + recorders.observers + [console, unplanned],
        outlets: recorders.outlets + screen.outlets)
      if let note, let unchanged {
        note.keepRun(of: plan, options, recorder, unchanged)
      }
      for warning in recorders.conclude() + (options.cache?.lateNotices ?? []) { say(warning) }
      let status = end.passedOn?.status ?? end.exitStatus
      if case .stateFailure(let words) = end.stopReason {
        recorder.spoil(end.exitStatus, because: words)
      }
      guard let loss = sayLoss(screen, recorders) else { return status }
      guard status == ExitStatus.success else { return status }
      recorder.spoil(ExitStatus.cannotWrite, because: loss)
      return ExitStatus.cannotWrite
    } catch {
      say(error.message)
      forgetUnbegun(options, recorder)
      return ExitStatus.internalError
    }
  }

  /// Removes the directory of a run that never began.
  private func forgetUnbegun(_ options: RunOptions, _ recorder: RunRecorder) {
    if !recorder.hasBegun { options.directory.removeAll() }
  }
}

/// The memory of this machine in bytes.
var physicalMemory: Int? {
  let (size, isTooMuch) = sysconf(Int32(_SC_PHYS_PAGES)).multipliedReportingOverflow(
    by: sysconf(Int32(_SC_PAGESIZE)))
  return isTooMuch || size <= 0 ? nil : size
}

/// The variables that make programs print colours: their output goes to a log, so they do not see the terminal.
private let colorVariables = [
  EnvironmentVariable(name: "CLICOLOR_FORCE", value: "1"),
  EnvironmentVariable(name: "FORCE_COLOR", value: "1"),
]

extension Plan {
  func operation(named id: String) -> OperationID? {
    steps.firstIndex { $0.id == id }.map { OperationID($0) }
  }
}

/// Why no run can be recorded in a state directory; nil if no reason is known. Fewer reasons are
/// checked if the database is open already.
private func whyUnfit(_ folder: StateFolder, isOpen: Bool) -> StoreFailure? {
  isOpen ? StateStore.writeRefusal(in: folder) : StateStore.refusal(in: folder)
}
