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

/// A run that is resumed, as it was asked for on the command line.
struct ResumedRun {
  let earlier: EarlierRun
  let selection: ResumeSelection
  /// The database that it was found in.
  let store: StateStore
  /// Claimed until the end, so that no other process resumes it at the same time.
  let directory: RunDirectory?
  /// Whether it had all that is asked for, and succeeded.
  let isDone: Bool
  /// What it still has open with Slurm.
  let openWork: OpenWork?

  /// The parameters of the run; those on the command line win. Values that were not kept come from variables again.
  func parameters(with given: [ParameterArgument]) -> [ParameterArgument] {
    let names = Set(given.map(\.name))
    return parameters(of: earlier.request).filter { !names.contains($0.name) } + given
  }

  /// The parameters that a run had, which is the one that is resumed or one whose results count.
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
    return Resumption(earlier, plan, selection, masker: secrets.masker, cached: cached)
  }

  /// Throws if a step that is selected does not exist, or if it is to run and to be skipped.
  func check(
    _ plan: Plan, _ invocation: Invocation, _ secrets: Secrets
  ) throws(UsageFailure) {
    let isPart = invocation.hasValue(for: Options.until)
    let file = invocation.operands.count == 1 ? invocation.operands[0] : nil
    let named = [
      (Options.from, selection.from), (Options.only, selection.only),
      (Options.skip, selection.skipped),
    ].flatMap { option, ids in ids.map { (option, $0) } }
    for (option, id) in named
    where !plan.steps.contains(where: { StepName(id).covers($0.id) }) {
      throw .stepNotResumed(id, for: option, in: plan, of: file, isPart: isPart)
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
  /// The parameters whose values were not kept, because they hold secrets, and that variables have now.
  var secretsInVariables: [ParameterArgument] {
    request.secretParameters.compactMap { name in
      environmentValue(parameterVariable(name)).map { ParameterArgument(name: name, value: $0) }
    }
  }
}

/// How it is known which run is to be resumed.
private enum ResumeChoice {
  /// The newest that has something left to do.
  case newest
  /// Somebody has named it.
  case named
  /// Slurm has started the job of the run again.
  case ofSubmission
}

/// A run that nobody else can resume or remove.
private struct ClaimedRun {
  let name: String
  let directory: RunDirectory?
  let choice: ResumeChoice
}

extension Tool {
  /// `oprun resume`.
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

  /// `oprun run FILE --resume`, and the job of a submission that Slurm has started again.
  func runResuming(
    _ invocation: Invocation, of submission: String?
  ) throws(UsageFailure) -> Int32 {
    // A new run opens the database itself, which must not be open then.
    if let status = try resumeNewest(invocation, of: submission) { return status }
    return try run(invocation, resuming: nil)
  }

  /// Resumes the newest run of the submission, or else that of the file which has something left to do; nil if there is
  /// none.
  private func resumeNewest(
    _ invocation: Invocation, of submission: String?
  ) throws(UsageFailure) -> Int32? {
    let path = invocation.operands[0]
    // Why a directory cannot be used is said by the run that wants to use it.
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
    // The run that begins instead opens the database anew, and knows nothing of what was found in it.
    if status == nil { for notice in store.notices { say(notice) } }
    return status
  }

  /// Resumes the run that is chosen; nil if there is none. It is chosen again if another one is newer by the time that
  /// it is claimed, or that the lock of the pipeline was waited for; the claim is kept meanwhile. The job of a submission
  /// goes on with its own run.
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
    // It is read when it is claimed: it may have ended while that was waited for.
    let found = try readingState { () throws(StoreFailure) in
      if !invocation.isOn(Options.dryRun) {
        try store.takeInJournals()
        if let directory = run.directory { try store.takeJournal(of: name, in: directory) }
      }
      return try store.earlierRun(
        named: name, findingFailed: selection.isOfFailed, successors: true)
    }
    guard var earlier = found else { throw .noRuns(invocation.command) }
    // A failure that was allowed counts in a strict run, so keeping it would let each of them fail.
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
      // What the pipeline is with that value is not known.
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
    return try self.run(invocation, resuming: resumed)
  }

  /// Ends what dead runs have left behind: this one, and those that went on with it. Returns an exit status if something
  /// goes on.
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

  /// Ends what a run whose oprun died has left here. On another machine it may go on. If a job is started again, Slurm has
  /// ended what it had.
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
  /// What resumes this run, which was asked for like this; nil if nothing does. It names the run, because
  /// another one may begin before somebody reads it.
  func resumeCommand(_ invocation: Invocation, of run: String) -> String? {
    guard invocation.operands.first != "-" else { return nil }
    return "oprun resume \(run)" + stateOption(invocation)
  }

  /// ` --state-dir DIR`, as a command that looks at the same directory needs it.
  func stateOption(_ invocation: Invocation) -> String {
    guard invocation.isGiven(Options.stateDirectory),
      let directory = invocation.text(Options.stateDirectory)
    else { return "" }
    return " --state-dir \(wordForHelp(directory) ?? "DIR")"
  }

  /// What a run was asked for, to be recorded.
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
      // What the file no longer has plays no part.
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

  /// Where steps run, if that is not left to the file: as the command line says, or as that of the run that is
  /// resumed said.
  func executor(_ invocation: Invocation, _ resumed: ResumedRun?) -> StepExecutor? {
    let known = invocation.isGiven(Options.executor) ? nil : resumed?.earlier.request.executor
    return known
      ?? invocation.text(Options.executor).flatMap { StepExecutor(rawValue: $0) }
  }

  /// The pipeline whose runs are meant; its file may be standard input.
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
