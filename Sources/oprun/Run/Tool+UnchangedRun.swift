// Runs in which nothing, or little, has changed since an earlier one: this is found out before
// anything is planned.

import Caching
import Diagnostics
import Execution
import Expressions
import Glibc
import Pipelines
import Plans
import Processors
import Reporting
import RunFiles
import Scheduling
import State

/// A run that was recorded as a repetition of an earlier one, without planning anything.
private struct RepeatedRun {
  let unchanged: UnchangedRun
  let beginning: RunBeginning
  let duration: Nanoseconds
  let directory: RunDirectory
}

/// A run that may turn out to be one in which every step is up to date.
final class UnchangedRunNote {
  /// The directory where oprun was started, and the words of the command line on which the plan depends.
  private let command: [String]
  /// The key of the run; nil until `noteKey` is called, and if a variable cannot be read.
  private(set) var key: RunKey?
  /// True if the whole pipeline runs.
  private let isWhole: Bool
  /// The positions of the steps in the file, if the whole pipeline runs and parts of it may be
  /// planned by themselves.
  private(set) var written: WrittenSteps?
  let sources = SourceFiles()
  /// The steps that are not planned, because nothing of them has changed.
  var rest: UnplannedRest?

  init(command: [String], isWhole: Bool) {
    self.command = command
    self.isWhole = isWhole
  }

  /// Notes everything but files on which the run depends, before the run changes variables. Most
  /// runs have no cached steps and need no key, which costs a fiftieth of the work of a short run.
  func noteKey(_ host: HostFacts) {
    let inherited = inheritedEnvironment()
    guard key == nil, inherited.undecodable.isEmpty else { return }
    key = RunKey(
      command: command,
      variables: inherited.values.filter { !Self.shellVariables.contains($0.key) },
      surroundings: [
        "\(version)", host.name, host.architecture, host.operatingSystem, "\(host.processorCount)",
        "\(physicalMemory ?? 0)", "\(geteuid())",
        "\(canConfine(from: (try? currentFolder()) ?? "/"))",
      ])
  }

  /// Notes the key for a pipeline with cached steps, and the positions of its steps.
  func note(_ pipeline: LoadedPipeline, _ host: HostFacts) {
    noteKey(host)
    if isWhole { written = pipeline.writtenSteps }
  }

  /// Variables in which shells note how they were started and where they were. They differ where
  /// nothing else does; a pipeline that names one is never repeated.
  static let shellVariables = ["_", "SHLVL", "OLDPWD"]

  func files(_ files: PipelineFiles) -> PipelineFiles {
    files.wrapping { [sources] path, read in
      sources.note(path)
      return read()
    }
  }
}

extension Tool {
  /// The options that change only the plan made from the file.
  private static let planningOptions = [
    Options.param.name, Options.jobs.name, Options.failFast.name, Options.failurePolicy.name,
    Options.timeout.name, Options.cacheURL.name, Options.sharedCache.name,
  ]
  /// The options that change only how a run is shown, and where it is recorded.
  private static let lookOptions = [
    Options.verbose.name, Options.output.name, Options.color.name, Options.ascii.name,
    Options.stateDirectory.name,
  ]

  /// The note for a run; nil if the run does more than to bring its steps up to date.
  func unchangedRunNote(_ invocation: Invocation) -> UnchangedRunNote? {
    var words = invocation.operands
    for option in Subcommand.run.options where invocation.hasValue(for: option) {
      if Self.lookOptions.contains(option.name) { continue }
      guard Self.planningOptions.contains(option.name) else { return nil }
      words += invocation.words(of: option).map { "--\(option.name)=\($0)" }
    }
    words += invocation.rest.isEmpty ? [] : ["--"] + invocation.rest
    guard invocation.command.name == Subcommand.run.name, invocation.operands[0] != "-",
      invocation.tracedStep == nil, invocation.text(Options.output) != OutputMode.json.rawValue,
      CIRunner.detected(environmentValue) == nil,
      Self.sharingVariables.allSatisfy({ getenv($0) == nil }),
      let folder = try? currentFolder()
    else { return nil }
    return UnchangedRunNote(command: [folder] + words, isWhole: invocation.operands.count == 1)
  }

  /// The variables with which a run takes part in another program's work: a make's, a CI job's, another run's.
  private static let sharingVariables = [
    "MAKEFLAGS", "GITHUB_STEP_SUMMARY", OprunVariable.oprun.rawValue,
  ]

  /// Repeats the run if nothing has changed, or runs the changed part; nil if the whole pipeline
  /// must be planned.
  func runUnchanged(
    _ note: UnchangedRunNote, _ invocation: Invocation
  ) throws(UsageFailure) -> Int32? {
    let start = RunClock(wallTime: wallTime(), monotonicTime: monotonicTime())
    let state = StateDirectory(path: stateDirectory(invocation))
    guard let folder = try? state.open(), let cache = try? CacheFolder.open(in: folder) else {
      return nil
    }
    note.noteKey(hostFacts())
    guard let key = note.key else { return nil }
    cache.lockShared()
    switch cache.compare(key) {
    case .unchanged(let run): return repeatRun(run, since: start, in: folder, invocation)
    case .changed(let run, let part):
      guard canRepeat(run, in: folder) else { return nil }
      return try runPart(part, of: run, note, invocation)
    case nil: return nil
    }
  }

  /// Records and shows a run as a repetition; nil if it cannot be recorded in this way.
  private func repeatRun(
    _ unchanged: UnchangedRun, since start: RunClock, in folder: StateFolder,
    _ invocation: Invocation
  ) -> Int32? {
    let state = StateDirectory(path: stateDirectory(invocation))
    guard StateStore.refusal(in: folder) == nil, let (id, directory) = try? state.makeRun() else {
      return nil
    }
    let beginning = RunBeginning(
      runID: id, clock: start,
      host: RunHost(name: hostFacts().name, processorCount: availableProcessorCount),
      processID: getpid())
    let duration = monotonicTime() - start.monotonicTime
    guard let store = try? StateStore.find(in: folder),
      let number = try? store.repeatRun(unchanged.name, as: beginning, duration: duration)
    else {
      directory.removeAll()
      return nil
    }
    let status = show(
      RepeatedRun(
        unchanged: unchanged, beginning: beginning, duration: duration, directory: directory),
      invocation)
    let notice = try? store.pruneNowAndThen(.automatic, after: number) {
      store.isDirectoryNeeded(of: $0)
    }
    if let notice { say(notice) }
    return status
  }

  private func show(_ run: RepeatedRun, _ invocation: Invocation) -> Int32 {
    let unchanged = run.unchanged
    let shown = RunScreen(invocation, run.directory, .none, resume: { nil })
    guard shown.mode.showsProgress else { return ExitStatus.success }
    let plan = Plan(
      name: unchanged.pipeline, stepsNamed: unchanged.steps.map(\.id),
      labels: unchanged.steps.map(\.label), width: unchanged.width)
    let console = Console(
      plan: plan, directory: run.directory, screen: shown.screen, mode: shown.mode)
    console.observe(RunEvent(at: 0, .began(run.beginning)))
    for index in plan.steps.indices {
      let kind = RunEvent.Kind.settled(OperationID(index), Ending(.cached), .itself)
      console.observe(RunEvent(at: run.duration, kind))
    }
    console.observe(RunEvent(at: run.duration, .finished(RunEnd(exitStatus: ExitStatus.success))))
    guard let error = shown.screen.lossError else { return ExitStatus.success }
    sayLost(error)
    return ExitStatus.cannotWrite
  }
}

extension UnchangedRunNote {
  /// Keeps the record of a run in which steps were up to date or ran, and nothing else happened.
  func keep(_ performed: AssembledRun, _ watch: UnchangedRunWatch) {
    let (plan, options) = (performed.plan, performed.options)
    guard let cache = options.cache, let key, watch.isPlain, plan.isPlain,
      watch.operations.count == plan.steps.count,
      !plan.holds(Self.shellVariables)
    else { return }
    if let rest {
      // The existing record is sufficient as long as steps run.
      guard watch.ran.isEmpty else { return }
      var run = rest.run
      if !run.isPure {
        guard performed.recorder.standAlone() else { return }
        run.name = options.runID
        run.isPure = true
      }
      return cache.keep(run, of: key, sources, unplanned: rest.steps.count)
    }
    var run = UnchangedRun()
    run.name = options.runID
    run.pipeline = plan.name
    run.width = plan.queues.first?.width ?? 0
    run.ran = Set(watch.ran)
    run.isPure = run.ran.isEmpty
    run.steps = watch.operations.map { operation in
      let step = plan.steps[operation.index]
      return UnchangedStep(
        id: step.id, label: step.settings.name, directory: step.settings.workingDirectory)
    }
    run.outlines = outlines(of: plan, watch)
    if run.isPure || !run.outlines.isEmpty { cache.keep(run, of: key, sources) }
  }
}

/// Finds out whether, in a run, steps are up to date, or run and succeed, and nothing else happens.
final class UnchangedRunWatch: RunObserver {
  private(set) var isPlain = true
  /// The steps in the order in which they ended.
  private(set) var operations: [OperationID] = []
  /// The steps that ran, by their positions in this order.
  private(set) var ran: [Int] = []

  func observe(_ event: RunEvent) {
    switch event.kind {
    case .began, .ended, .outputGrew, .ready, .heldUp, .waiting, .restored: break
    // Commands of the run itself, its hooks, belong to no step.
    case .started(let operation, _): isPlain = isPlain && operation.rawValue >= 0
    case .finished(let end): isPlain = isPlain && end.exitStatus == 0 && !end.wasLeft
    case .settled(let operation, let ending, _):
      if ending != Ending(.cached) { ran.append(operations.count) }
      isPlain = isPlain && (ending == Ending(.cached) || ending == Ending(.succeeded))
      operations.append(operation)
    case .placed, .terminalTaken, .terminalReturned, .appended, .resolved, .published, .retrying,
      .orphansFound, .outOfReach, .stopping, .controlled, .reopened, .notice:
      isPlain = false
    }
  }
}

extension Plan {
  /// True if the commands of all steps were known before the run, and only the steps themselves
  /// decide how they end.
  var isPlain: Bool {
    secrets.isEmpty && groups.isEmpty && late == nil && outputs == nil && slurm == nil
      && !isExclusive && steps.allSatisfy { $0.late == nil }
  }

  /// True if one of these words occurs in the plan's files.
  fileprivate func holds(_ words: [String]) -> Bool {
    let words = words.map { Array($0.utf8) }
    return sources.files.contains { file in
      file.bytes.withUnsafeBytes { bytes in
        var start = 0
        for end in 0...bytes.count where end == bytes.count || !isNameByte(bytes[end]) {
          if end > start, words.contains(where: { bytes[start..<end].elementsEqual($0) }) {
            return true
          }
          start = end + 1
        }
        return false
      }
    }
  }
}
