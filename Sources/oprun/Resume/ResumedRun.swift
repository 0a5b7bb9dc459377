// The run that is resumed: which one, and which part of it.

import Caching
import Diagnostics
import Execution
import Expressions
import Glibc
import Pipelines
import Plans
import Reporting
import RunFiles
import Scheduling
import State

/// A run that is resumed, as the command line specifies it.
struct ResumedRun {
  let earlier: EarlierRun
  let selection: ResumeSelection
  /// The database that contains the run.
  let store: StateStore
  /// The run's directory, claimed until the end, so that no other process resumes the run at the same time.
  let directory: RunDirectory?
  /// True if the run had all steps that are requested, and succeeded.
  let isDone: Bool
  /// The jobs that the run still has in Slurm.
  let openWork: OpenWork?

  /// The parameters of the run; those on the command line win. Values that were not kept come from variables again.
  func parameters(with given: [ParameterArgument]) -> [ParameterArgument] {
    let names = Set(given.map(\.name))
    return parameters(of: earlier.request).filter { !names.contains($0.name) } + given
  }

  /// The parameters of the resumed run, or of another one whose results count.
  func parameters(of request: RunRequest) -> [ParameterArgument] {
    (request.parameters + earlier.secretsInVariables).map { $0.recorded(in: earlier.name) }
  }

  func resumption(
    for plan: Plan, _ secrets: Secrets, _ known: StepForecast = StepForecast()
  ) -> Resumption {
    var cached = CachedSteps()
    cached.stale = Set(known.reasons.keys)
    cached.fresh = Set(known.upToDate.keys)
    cached.undecided = known.undecided
    cached.results = known.results
    cached.intact = cached.fresh.subtracting(known.restorable)
    return Resumption(earlier, plan, selection, masker: secrets.masker, cached: cached)
  }

  /// Throws if a selected step does not exist, or is both to run and to be skipped.
  func check(
    _ plan: Plan, _ invocation: Invocation, _ secrets: Secrets
  ) throws(UsageFailure) {
    let part: UsageFailure.ResumedPart =
      if invocation.hasValue(for: Options.until) {
        .selection
      } else if invocation.operands.count == 1 {
        .file(invocation.operands[0])
      } else {
        .recordedSteps
      }
    let named = [
      (Options.from, selection.from), (Options.only, selection.only),
      (Options.skip, selection.skipped),
    ].flatMap { option, ids in ids.map { (option, $0) } }
    for (option, id) in named
    where !plan.steps.contains(where: { StepName(id).covers($0.id) }) {
      throw .stepNotResumed(id, for: option, in: plan, of: part)
    }
    if let id = (selection.from + selection.only).first(where: selection.skipped.contains) {
      throw .contradiction(
        selection.only.isEmpty ? Options.from : Options.only, Options.skip, of: id)
    }
    if !selection.only.isEmpty,
      let missing = resumption(for: plan, secrets).foreseen.missingUpstream
    {
      throw .missingUpstream(
        plan.steps[missing.needed.index].id, of: plan.steps[missing.by.index].id)
    }
  }
}

extension EarlierRun {
  /// The parameters whose values were not kept, because they contain secrets, with the values that
  /// variables have now.
  var secretsInVariables: [ParameterArgument] {
    request.secretParameters.compactMap { name in
      environmentValue(parameterVariable(name)).map { ParameterArgument(name: name, value: $0) }
    }
  }
}

/// The way in which the run to resume is chosen.
private enum ResumeChoice {
  /// The newest run that has something left to do.
  case newest
  /// The run that the user has named.
  case named
  /// The run of a job that Slurm has restarted.
  case ofSubmission
}

/// A run that nobody else can resume or remove.
private struct ClaimedRun {
  let name: String
  let directory: RunDirectory?
  let choice: ResumeChoice
}

extension Tool {
  /// Performs `oprun resume`.
  func resume(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    var invocation = invocation
    guard let store = try openStore(&invocation, entersDirectory: true) else {
      return ExitStatus.usage
    }
    let word = invocation.operands.first
    let isNamed = word != nil && word != "last"
    let status = try resume(in: store, invocation, isNamed ? .named : .newest) {
      () throws(UsageFailure) in try runName(word, in: store, .resume)
    }
    return status ?? ExitStatus.usage
  }

  /// Performs `oprun run FILE --resume`, and the job of a submission that Slurm has restarted.
  func runResuming(
    _ invocation: Invocation, of submission: String?
  ) throws(UsageFailure) -> Int32 {
    // A new run opens the database itself, which must not be open then.
    if let status = try resumeNewest(invocation, of: submission) { return status }
    return try choose(invocation, resuming: nil)
  }

  /// Resumes the newest run of the submission; without one, the newest run of the file that has
  /// something left to do. Nil if there is none.
  private func resumeNewest(
    _ invocation: Invocation, of submission: String?
  ) throws(UsageFailure) -> Int32? {
    let path = invocation.operands[0]
    // If a directory cannot be used, the run that wants to use it says why.
    guard path != "-", let state = try? StateDirectory(path: stateDirectory(invocation)).open(),
      let store = try openStore(
        state, isDryRun: invocation.isOn(Options.dryRun), isForRun: true)
    else { return nil }
    let place = place(of: path, in: state)
    let steps = Array(invocation.operands.dropFirst())
    let status = try resume(in: store, invocation, submission == nil ? .newest : .ofSubmission) {
      () throws(UsageFailure) in
      try readingState { () throws(StoreFailure) in
        if let submission { return try store.newestRun(ofSubmission: submission) }
        return try store.runToResume(of: place, for: steps)
      }
    }
    // A new run opens the database again, and does not know these notices.
    if status == nil { for notice in store.notices { say(notice) } }
    return status
  }

  /// Resumes the run that is chosen; nil if there is none. The choice is made again if another run
  /// is newer after the claim, or after the wait for the lock of the pipeline; the claim is kept
  /// meanwhile. The job of a submission goes on with its own run.
  private func resume(
    in store: StateStore, _ invocation: Invocation, _ choice: ResumeChoice,
    choosing choose: () throws(UsageFailure) -> String?
  ) throws(UsageFailure) -> Int32? {
    var claimed: RunDirectory?
    while let name = try choose() {
      let resumes = store.resumes(of: name)
      if claimed?.name != name {
        claimed =
          invocation.isOn(Options.dryRun)
          ? store.folder.run(named: name) : store.folder.keptRun(named: name)
      }
      let directory = claimed
      if let directory, !claim(directory, invocation, isPatient: choice == .ofSubmission) {
        if directory.lockFailure == nil, !directory.isInUse,
          try refusesSuccessors(of: name, in: store, isNamed: false)
        {
          return ExitStatus.inUse
        }
        return sayInUse(directory)
      }
      let isNamed = choice == .named
      if isNamed, store.resumes(of: name) != resumes {
        say(
          "another oprun process has just resumed run \(name)",
          help: "'oprun show' shows the new run")
        return ExitStatus.inUse
      }
      if try refusesSuccessors(of: name, in: store, isNamed: isNamed) { return ExitStatus.inUse }
      if try choose() != name { continue }
      var own = invocation
      let run = ClaimedRun(name: name, directory: directory, choice: choice)
      let status = try resume(run, store, &own)
      if !pipelineLock.takeStale() { return status }
    }
    return nil
  }

  /// Resumes the run with this name, which is claimed.
  private func resume(
    _ run: ClaimedRun, _ store: StateStore, _ invocation: inout Invocation
  ) throws(UsageFailure) -> Int32 {
    let name = run.name
    let isOfSubmission = run.choice == .ofSubmission
    let selection = selection(invocation)
    // The record is read after the claim: the run may have ended while the claim was waited for.
    let found = try readingState { () throws(StoreFailure) in
      if !invocation.isOn(Options.dryRun) {
        try store.takeInJournals()
        if let directory = run.directory { try store.takeJournal(of: name, in: directory) }
      }
      return try store.earlierRun(
        named: name, findingFailed: selection.isOfFailed, successors: true)
    }
    guard var earlier = found else { throw .noRuns(invocation.command) }
    // Allowed failures count in a strict run, so one that is kept would make each resumed run fail.
    if invocation.isOn(Options.strict) { earlier.allowNoFailure() }
    guard let file = earlier.request.file else { throw .notResumable(name) }
    guard (earlier.request.workspace ?? "").hasSameBytes(as: store.folder.currentPlace ?? "") else {
      throw .resumedElsewhere(name, store.folder.directory(of: earlier.request.workspace))
    }
    let work: OpenWork
    do throws(OpenWork.Unknown) {
      work = try openWork(of: name, in: store)
    } catch {
      say(error, of: name)
      return ExitStatus.cannotWrite
    }
    let isDone =
      earlier.hasSucceeded && selection == ResumeSelection()
      && !invocation.hasValue(for: Options.until) && work.isEmpty
      && (isOfSubmission
        || !invocation.hasValue(for: Options.param) && invocation.arguments.isEmpty)
      && !earlier.isOfSelection
    if !isDone || earlier.hasRunSince, !invocation.isOn(Options.dryRun),
      let status = try endRest(of: earlier, work, store, isOfSubmission)
    {
      return status
    }
    let given = Set(
      invocation.assignments(Options.param).map(\.name) + earlier.secretsInVariables.map(\.name))
    if let secret = earlier.request.secretParameters.first(where: { !given.contains($0) }) {
      // The pipeline with that value is not known.
      if isDone, !earlier.hasRunSince { return sayNothingLeft(of: earlier, store) }
      throw .secretParameter(secret)
    }
    if invocation.command.name == Subcommand.resume.name {
      let steps = invocation.texts(Options.until)
      invocation.operands = [file] + (steps.isEmpty ? earlier.request.steps : steps)
    }
    let resumed = ResumedRun(
      earlier: earlier, selection: selection, store: store, directory: run.directory,
      isDone: isDone,
      openWork: work)
    return try choose(invocation, resuming: resumed)
  }

  /// Ends the processes and jobs that dead runs have left behind: this one, and those that went on
  /// with it. Returns an exit status if some go on.
  private func endRest(
    of earlier: EarlierRun, _ work: OpenWork, _ store: StateStore, _ isOfSubmission: Bool
  ) throws(UsageFailure) -> Int32? {
    if let status = endAbandoned(work, .steps) { return status }
    if earlier.exitStatus == nil { endLeftovers(of: earlier, isOfSubmission) }
    return try readingState { () throws(StoreFailure) in
      for successor in try store.successors(of: earlier.name) where !successor.hasEnded {
        guard let run = try store.earlierRun(named: successor.name), run.exitStatus == nil else {
          continue
        }
        do throws(OpenWork.Unknown) {
          let work = try openWork(of: run.name, in: store)
          if let status = endAbandoned(work, .steps) { return status }
        } catch {
          say(error, of: run.name)
          return ExitStatus.cannotWrite
        }
        endLeftovers(of: run, isOfSubmission)
      }
      return nil
    }
  }

  /// Ends the processes that a run whose oprun died has left on this machine; on another one they
  /// may go on. If a job was restarted, Slurm has ended them.
  private func endLeftovers(of earlier: EarlierRun, _ isOfSubmission: Bool) {
    let isElsewhere = earlier.host != hostFacts().name
    // The name of a machine may change while a run goes on of which this is a copy.
    Execution.endLeftovers(of: earlier.marks, process: earlier.process)
    if isElsewhere, !isOfSubmission {
      say(
        "run \(earlier.name) was on \(quoted(earlier.host)): if that is another machine, what it may have left there is not ended from here"
      )
    }
  }

  private func selection(_ invocation: Invocation) -> ResumeSelection {
    var selection = ResumeSelection()
    selection.from = invocation.texts(Options.from)
    selection.only = invocation.texts(Options.only)
    selection.skipped = invocation.texts(Options.skip)
    selection.isOfFailed = invocation.isOn(Options.failed)
    return selection
  }
}

extension Tool {
  /// The command that resumes this run; nil if none can. It names the run, because another one may
  /// begin before somebody reads it.
  func resumeCommand(_ invocation: Invocation, of run: String) -> String? {
    guard invocation.operands.first != "-" else { return nil }
    return "oprun resume \(run)" + stateOption(invocation)
  }

  /// The option ` --state-dir DIR`, as a command needs it to use the same directory.
  func stateOption(_ invocation: Invocation) -> String {
    guard invocation.isGiven(Options.stateDirectory),
      let directory = invocation.text(Options.stateDirectory)
    else { return "" }
    return " --state-dir \(wordForHelp(directory) ?? "DIR")"
  }

  /// The request of a run, to be recorded.
  func request(
    _ invocation: Invocation, _ plan: Plan, in state: StateFolder?, _ resumed: ResumedRun?
  ) -> RunRequest {
    let path = invocation.operands[0]
    var parameters: [ParameterArgument] = invocation.assignments(Options.param).map {
      ParameterArgument(name: $0.name, value: $0.value)
    }
    if let taker = plan.parameters.first(where: \.takesRest), !invocation.arguments.isEmpty {
      let value = Value.list(invocation.arguments.map { .string($0) })
      parameters.append(ParameterArgument(name: taker.name, value: value.json))
    }
    if let resumed {
      // Parameters that the file no longer has are left out.
      let known = Set(plan.parameters.map(\.name))
      parameters = resumed.parameters(with: parameters).filter { known.contains($0.name) }
    }
    let given = Set(parameters.map(\.name))
    for parameter in plan.parameters
    where !given.contains(parameter.name) && (resumed == nil || parameter.isDemanded) {
      if let value = environmentValue(parameterVariable(parameter.name)) {
        parameters.append(ParameterArgument(name: parameter.name, value: value))
      }
    }
    var request = RunRequest(
      file: path == "-" ? nil : recordedPath(path), parameters: parameters,
      steps: Array(invocation.operands.dropFirst()), jobs: invocation.count(Options.jobs),
      executor: executor(invocation, resumed))
    request.workspace = state?.currentPlace
    request.submission = SubmittedRun.own ?? resumed?.earlier.request.submission
    return request
  }

  /// The executor of steps, if not chosen by the file: from the command line, or from the request
  /// of the resumed run.
  func executor(_ invocation: Invocation, _ resumed: ResumedRun?) -> StepExecutor? {
    let known = invocation.isGiven(Options.executor) ? nil : resumed?.earlier.request.executor
    return known
      ?? invocation.text(Options.executor).flatMap { StepExecutor(rawValue: $0) }
  }

  /// The pipeline to which runs belong; its file may be standard input.
  func place(of path: String, in state: StateFolder) -> PipelinePlace {
    PipelinePlace(
      file: path == "-" ? path : recordedPath(path), workspace: state.currentPlace)
  }

  /// The path of a pipeline by which its runs are found again: relative if it is below here.
  func recordedPath(_ path: String) -> String {
    guard let file = realPath(path) else { return path }
    guard let folder = realPath("."), file.hasPrefix(folder + "/") else { return file }
    return String(file.dropFirst(folder + "/"))
  }
}
