// A run in which nothing has changed since one before: that is seen without planning it.

import Caching
import Execution
import Glibc
import Pipelines
import Plans
import Processors
import Reporting
import RunFiles
import Scheduling
import State

/// A run that may turn out to be one in which every step is up to date.
struct UnchangedRunNote {
  let key: RunKey
  let sources = SourceFiles()

  func files(_ files: PipelineFiles) -> PipelineFiles {
    files.wrapping { [sources] path, read in
      sources.note(path)
      return read()
    }
  }
}

extension Tool {
  /// The options that change only what planning makes of the file.
  private static let planningOptions = [
    Options.param.name, Options.jobs.name, Options.failFast.name, Options.failurePolicy.name,
    Options.timeout.name, Options.cacheURL.name, Options.sharedCache.name,
  ]
  /// The options that change only how a run looks, and where it is recorded.
  private static let lookOptions = [
    Options.verbose.name, Options.output.name, Options.color.name, Options.ascii.name,
    Options.stateDirectory.name,
  ]

  /// Nil for a run that does more than to see to it that its steps are up to date.
  func unchangedRunNote(_ invocation: Invocation) -> UnchangedRunNote? {
    var words = invocation.operands
    for option in Command.run.options where invocation.hasValue(for: option) {
      if Self.lookOptions.contains(option.name) { continue }
      guard Self.planningOptions.contains(option.name) else { return nil }
      words += invocation.words(of: option).map { "--\(option.name)=\($0)" }
    }
    guard invocation.command.name == Command.run.name, invocation.operands[0] != "-",
      invocation.tracedStep == nil, invocation.text(Options.output) != OutputMode.json.rawValue,
      CIRunner.detected(environmentValue) == nil,
      Self.sharingVariables.allSatisfy({ getenv($0) == nil }),
      let folder = try? currentFolder()
    else { return nil }
    let inherited = inheritedEnvironment()
    let host = hostFacts()
    let facts = [
      "\(version)", host.name, host.architecture, host.operatingSystem, "\(host.processorCount)",
      "\(physicalMemory ?? 0)", "\(geteuid())",
    ]
    guard inherited.undecodable.isEmpty else { return nil }
    return UnchangedRunNote(
      key: RunKey(
        command: [folder] + words,
        surroundings: facts + inherited.values.map { "\($0.key)=\($0.value)" }.sorted()))
  }

  /// Variables with which a run takes part in another program's work: a make's, a CI job's, another run's.
  private static let sharingVariables = [
    "MAKEFLAGS", "GITHUB_STEP_SUMMARY", OprunVariable.oprun.rawValue,
  ]

  /// Keeps the record of a run in which nothing happened but that its steps were up to date.
  func keep(
    _ note: UnchangedRunNote, of plan: Plan, _ options: RunOptions, _ watch: UnchangedRunWatch
  ) {
    guard let cache = options.cache, watch.isUnchanged, plan.isPlain,
      watch.operations.count == plan.steps.count
    else { return }
    var run = UnchangedRun()
    run.name = options.runID
    run.pipeline = plan.name
    run.width = plan.queues.first?.width ?? 0
    run.steps = watch.operations.map { operation in
      let step = plan.steps[operation.index]
      return UnchangedStep(
        id: step.id, label: step.settings.name, directory: step.settings.workingDirectory)
    }
    cache.keep(run, of: note.key, note.sources)
  }

  /// Records and shows a run like the one before it; nil if something may have changed.
  func repeatRun(_ note: UnchangedRunNote, _ invocation: Invocation) -> Int32? {
    let start = (monotonic: clock(CLOCK_MONOTONIC), wall: clock(CLOCK_REALTIME))
    let state = StateDirectory(path: stateDirectory(invocation))
    guard let folder = try? state.open(), let cache = try? CacheFolder.open(in: folder) else {
      return nil
    }
    cache.lockShared()
    guard let unchanged = cache.unchangedRun(note.key), StateStore.refusal(in: folder) == nil,
      let (id, directory) = try? state.makeRun()
    else { return nil }
    let beginning = RunBeginning(
      runID: id, clock: RunClock(wallTime: start.wall, monotonicTime: start.monotonic),
      host: RunHost(name: hostFacts().name, processorCount: availableProcessorCount),
      processID: getpid())
    let duration = clock(CLOCK_MONOTONIC) - start.monotonic
    guard let store = try? StateStore.find(in: folder),
      let number = try? store.repeatRun(unchanged.name, as: beginning, duration: duration)
    else {
      _ = folder.removeRun(id)
      return nil
    }
    let status = show(unchanged, beginning, duration, directory, invocation)
    if let notice = try? store.pruneNowAndThen(.automatic, after: number) { say(notice) }
    return status
  }

  private func show(
    _ unchanged: UnchangedRun, _ beginning: RunBeginning, _ duration: Nanoseconds,
    _ directory: RunDirectory, _ invocation: Invocation
  ) -> Int32 {
    let shown = RunScreen(invocation, directory, .none, resume: nil)
    guard shown.mode.showsProgress else { return ExitStatus.success }
    let plan = Plan(
      name: unchanged.pipeline, stepsNamed: unchanged.steps.map(\.id),
      labels: unchanged.steps.map(\.label), width: unchanged.width)
    let console = Console(
      plan: plan, directory: directory, screen: shown.screen, mode: shown.mode)
    console.observe(RunEvent(at: 0, .began(beginning)))
    for index in plan.steps.indices {
      let kind = RunEvent.Kind.settled(OperationID(index), Ending(.cached), .itself)
      console.observe(RunEvent(at: duration, kind))
    }
    console.observe(RunEvent(at: duration, .finished(RunEnd(exitStatus: ExitStatus.success))))
    guard let error = shown.screen.lossError else { return ExitStatus.success }
    sayLost(error)
    return ExitStatus.cannotWrite
  }
}

/// Whether nothing happens in a run but that steps are up to date.
final class UnchangedRunWatch: RunObserver {
  private(set) var isUnchanged = true
  /// The steps in the order in which they were seen to be up to date.
  private(set) var operations: [OperationID] = []

  func observe(_ event: RunEvent) {
    switch event.kind {
    case .began: break
    case .finished(let end): isUnchanged = isUnchanged && end.exitStatus == 0
    case .settled(let operation, let ending, _) where ending == Ending(.cached):
      operations.append(operation)
    case .settled, .started, .outputGrew, .placed, .terminalTaken, .terminalReturned, .ended,
      .appended, .resolved, .waiting, .ready, .heldUp, .published, .retrying, .orphansFound,
      .outOfReach, .stopping, .controlled, .reopened, .notice:
      isUnchanged = false
    }
  }
}

extension Plan {
  /// Whether what its steps do was known beforehand, and nothing but they themselves decides what becomes of them.
  fileprivate var isPlain: Bool {
    secrets.isEmpty && groups.isEmpty && late == nil && outputs == nil && slurm == nil
      && !isExclusive && steps.allSatisfy { $0.late == nil }
  }
}

private func clock(_ id: clockid_t) -> Nanoseconds {
  var time = timespec()
  clock_gettime(id, &time)
  return Nanoseconds(time.tv_sec) * 1_000_000_000 + Nanoseconds(time.tv_nsec)
}
