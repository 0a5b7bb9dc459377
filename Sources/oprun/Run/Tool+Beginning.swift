// How a run that was chosen begins: it gets a directory, a record and a cache.

import Caching
import Diagnostics
import Execution
import Glibc
import Pipelines
import Plans
import Reporting
import RunFiles
import State

/// A run with everything it needs, about to begin.
struct AssembledRun {
  let invocation: Invocation
  let plan: Plan
  let options: RunOptions
  let recorder: RunRecorder
  /// Nil if it is not recorded as one that may be repeated.
  let note: UnchangedRunNote?
}

extension Tool {
  /// Begins a run, and returns its exit status, or that of what prevents it.
  func begin(_ chosen: ChosenRun, _ secrets: Secrets) -> Int32 {
    let (planned, resumed, invocation) = (chosen.planned, chosen.resumed, chosen.invocation)
    if planned.plan.slurm?.mode == .allocation, !isInAllocation {
      say(
        "'mode: allocation' works only if oprun runs in a job of Slurm",
        help: "start oprun with 'oprun submit', or below 'salloc'")
      return ExitStatus.usage
    }
    if !hasJobs(planned.plan), let status = endJobs(of: resumed) { return status }
    let state = StateDirectory(path: stateDirectory(invocation))
    do throws(ReportedFailure) {
      let lock = try takeLock(planned.plan, invocation, state, resumed)
      defer { withExtendedLifetime(lock) {} }
      announce(chosen)
      let (id, directory) = try makeDirectory(in: state, isOpen: resumed != nil)
      var options = runOptions(of: chosen, RunOptions(runID: id, directory: directory))
      options.secrets = secrets
      options.hasBegun = { lock?.say(holder: id) }
      let run = try assemble(chosen, options)
      let status = carryOut(run)
      if run.options.tracedStep != nil { writeTrace(run.plan, invocation, directory, status) }
      return status
    } catch {
      return error.status
    }
  }

  /// Shows advice about files that are valid: the first of it, because `validate` shows all.
  private func sayNotices(_ pipeline: LoadedPipeline) {
    let notices = pipeline.notices
    if notices.isEmpty { return }
    let shown = 3
    errors.write(
      render(
        Array(notices.prefix(shown)), in: pipeline.sources, on: terminal(STDERR_FILENO)))
    if notices.count > shown {
      errors.write("… and \(notices.count - shown) more, which 'oprun validate' shows\n")
    }
    errors.flush()
  }

  /// Says what is to run, when nothing is waited for any more: what was read before a wait is read again after it.
  private func announce(_ chosen: ChosenRun) {
    sayNotices(chosen.planned.pipeline)
    if let resumed = chosen.resumed {
      sayLostParameters(resumed, chosen.planned.plan)
      sayIgnoredVariables(resumed, chosen.planned.plan, chosen.invocation)
    }
    guard let part = chosen.part else { return }
    say(part.announcement)
    errors.flush()
  }

  /// Makes the directory of a run, unless the run could not be recorded there.
  private func makeDirectory(
    in state: StateDirectory, isOpen: Bool
  ) throws(ReportedFailure) -> (id: String, directory: RunDirectory) {
    let made: (id: String, directory: RunDirectory)
    do throws(StateFailure) {
      made = try state.makeRun()
    } catch {
      say(error.message, help: error.help)
      throw ReportedFailure(status: ExitStatus.cannotWrite)
    }
    guard let refusal = made.directory.state.flatMap({ whyUnfit($0, isOpen: isOpen) }) else {
      return made
    }
    made.directory.removeAll()
    say(refusal.message, help: refusal.help)
    throw ReportedFailure(status: ExitStatus.cannotWrite)
  }

  /// The options with everything in them that the command line says.
  private func runOptions(of chosen: ChosenRun, _ given: RunOptions) -> RunOptions {
    let invocation = chosen.invocation
    var options = given
    options.controlVersion = "\(version)"
    options.host = runHost
    options.trace = .ofRun(options.runID, invocation)
    options.tracedStep = invocation.tracedStep
    options.jobs = jobOptions(invocation)
    options.earlierJobs = chosen.resumed?.openWork?.run
    options.statusSource = invocation.text(Options.exitCodeFrom).flatMap {
      chosen.planned.plan.operation(named: $0)
    }
    options.isStrict = invocation.isOn(Options.strict)
    options.isDetached = invocation.isOn(Options.detach)
    options.showsCached = invocation.isOn(Options.showCached)
    return options
  }

  /// Gives a run its record and its cache. Throws if jobs of the run before it had to be ended, and were not.
  private func assemble(
    _ chosen: ChosenRun, _ given: RunOptions
  ) throws(ReportedFailure) -> AssembledRun {
    let (planned, resumed, invocation) = (chosen.planned, chosen.resumed, chosen.invocation)
    let (directory, note) = (given.directory, planned.note)
    let store = resumed?.store ?? history(for: planned.plan, directory)
    let plan = expecting(planned.plan, store, invocation)
    var options = given
    options.isDatabaseOpen = store != nil
    var run = RunToRecord(
      plan: plan, directory: directory,
      request: request(invocation, plan, in: directory.state, resumed))
    (run.masker, run.store) = (options.secrets.masker, store)
    (run.unplanned, options.unplanned) = (note?.rest?.recorded, note?.rest?.steps ?? [])
    run.isDurable = invocation.isOn(Options.durable)
    run.resumption = resumed.map { announced($0, plan, of: planned) }
    if let status = endOutdated(resumed, run.resumption, directory) {
      throw ReportedFailure(status: status)
    }
    let recorder = RunRecorder(run)
    options.memory = recorder
    planned.giveUp()
    options.cache = stepCache(for: plan, options, resumed?.openWork, invocation)
    hideCachePassword()
    return AssembledRun(
      invocation: invocation, plan: plan.with(run.resumption), options: options,
      recorder: recorder, note: note)
  }
}

/// Why no run can be recorded there; nil if that is not known. Less is looked at if the database is open already.
private func whyUnfit(_ folder: StateFolder, isOpen: Bool) -> StoreFailure? {
  isOpen ? StateStore.writeRefusal(in: folder) : StateStore.refusal(in: folder)
}
