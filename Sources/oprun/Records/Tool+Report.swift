// `oprun report`: reports of a recorded run.

import Diagnostics
import Execution
import Glibc
import Pipelines
import Plans
import Processors
import Reporting
import RunFiles
import State

/// The formats of `oprun report`.
enum ReportFormat: String, CaseIterable {
  case html, markdown, junit, trace, otlp, prometheus

  var form: ReportTarget.Form {
    switch self {
    case .html: .html
    case .markdown: .markdown
    case .junit: .junit
    case .trace: .trace
    case .otlp: .otlp
    case .prometheus: .prometheus
    }
  }
}

extension Tool {
  func report(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    var invocation = invocation
    guard let store = try openStore(&invocation, entersDirectory: true) else {
      return ExitStatus.usage
    }
    let name = try runName(invocation.operands.first, in: store, .report)
    let run = try run(named: name, in: store, counting: false, .report)
    switch try recordedPlan(of: run, store, invocation) {
    case .failure(let exit):
      guard exit.status == ExitStatus.invalidPipeline || exit.reason != nil,
        let steps = try? store.steps(of: run)
      else { return exit.status }
      say("the pipeline of run \(run.name) can no longer be used: \(Self.onlyNames)")
      return report(run, Self.namesOnly(run, steps), store, invocation)
    case .success(var recorded):
      recorded.plan = recorded.plan.named(run.pipeline)
      return report(run, recorded, store, invocation)
    }
  }

  private static let onlyNames =
    "the report has names, times and outcomes, but no commands and no graph"

  /// A plan of a run with only the names of its steps.
  private static func namesOnly(
    _ run: RecordedRunSummary, _ steps: [RecordedStep]
  ) -> RecordedPlan {
    let names = steps.filter { !$0.standsForOthers }.map(\.name)
    return RecordedPlan(Plan(name: run.pipeline, stepsNamed: names), .none, isOfNames: true)
  }

  private func report(
    _ run: RecordedRunSummary, _ recorded: RecordedPlan, _ store: StateStore,
    _ invocation: Invocation
  ) -> Int32 {
    guard let directory = directory(of: run, in: store) else { return sayNoDirectory(of: run) }
    do throws(StoreFailure) {
      let replay = try store.replay(
        run, recorded.plan, recordedTrace(of: run, store), recorded.secrets.masker)
      if !recorded.isOfNames, !replay.missing.isEmpty {
        // Without these steps, the counts of a report would be too small.
        sayMissing(replay, ": \(Self.onlyNames)")
        return report(run, Self.namesOnly(run, try store.steps(of: run)), store, invocation)
      }
      if run.exitStatus == nil {
        say(
          store.isInUse(run.name)
            ? "run \(run.name) is in progress: the report has only what has ended"
            : "the oprun of run \(run.name) died: the report has no exit status")
      }
      let reports = ReportFiles(
        [], plan: recorded.plan, directory: directory, masker: recorded.secrets.masker)
      reports.replay(replay.forEachEvent)
      let format = invocation.choice(Options.recordFormat, default: ReportFormat.html)
      if format == .html, let place = run.place {
        reports.previous = previousRun(before: run.name, of: place, in: store)
      }
      reports.write(format.form, to: output)
      keepUntilExit((recorded, replay, reports))
      return ExitStatus.success
    } catch {
      say(error.message, help: error.help)
      return ExitStatus.cannotWrite
    }
  }

  func sayMissing(_ replay: Replay, _ consequence: String = "") {
    guard let first = replay.missing.first else { return }
    let more = replay.missing.count > 1 ? " and \(replay.missing.count - 1) more" : ""
    say(
      "the pipeline, or a secret in its names, has changed since the run: it has no step \(quoted(first))\(more)"
        + consequence)
  }

  /// The trace of a run for reports, which is always the same: its own, if it had one.
  func recordedTrace(of run: RecordedRunSummary, _ store: StateStore) -> TraceContext {
    (try? store.trace(of: run))
      ?? TraceContext(continuing: nil, newTrace: { traceNumbers(of: run) }, runID: run.name)
  }

  /// The plan of the pipeline of a run, as the file is now, with the parameters and steps of the run. It is made in the
  /// directory of the run.
  func recordedPlan(
    of run: RecordedRunSummary, _ store: StateStore, _ invocation: Invocation
  ) throws(UsageFailure) -> Result<RecordedPlan, ReportedFailure> {
    let request = try readingState { () throws(StoreFailure) in try store.request(ofRun: run.name) }
    guard let request, let file = request.file else {
      say("the pipeline of run \(run.name) was read from standard input, which is not kept")
      return .failure(ReportedFailure(status: ExitStatus.invalidPipeline))
    }
    if request.workspace != store.folder.currentPlace {
      guard let directory = store.folder.directory(of: request.workspace), chdir(directory) == 0
      else {
        say("the directory in which run \(run.name) ran cannot be entered")
        return .failure(ReportedFailure(status: ExitStatus.invalidPipeline))
      }
    }
    let options = options(of: request, run, invocation)
    guard var pipeline = load(file, options) else {
      return .failure(ReportedFailure(status: ExitStatus.invalidPipeline))
    }
    let reading = readSecrets(of: &pipeline)
    return plan(file, pipeline, options, reading).map { RecordedPlan($0, reading.secrets) }
  }

  private func options(
    of request: RunRequest, _ run: RecordedRunSummary, _ invocation: Invocation
  ) -> PlanningOptions {
    var options = listingOptions(invocation)
    options.showsEveryStep = false
    options.processorCount = run.processors
    options.selection = request.steps
    options.parameters = request.parameters.map { $0.recorded(in: run.name) }
    options.maxParallel = request.jobs
    return options
  }

  /// The plan of the pipeline of a run, as the file is now; nil, without a word, if there is none.
  func presentPlan(
    of run: RecordedRunSummary, _ store: StateStore, _ invocation: Invocation
  ) -> PresentPlan? {
    guard let earlier = try? store.earlierRun(named: run.name), let file = earlier.request.file
    else { return nil }
    let path = pathFromHere(of: file, earlier.request.workspace, store.folder)
    guard let bytes = try? readPipelineFile(path) else { return nil }
    let options = options(of: earlier.request, run, invocation)
    var pipeline = LoadedPipeline(path: path, bytes: bytes, files: options.files)
    let secrets = readSecrets(of: &pipeline).secrets
    guard let plan = try? pipeline.plan(options.refusing(secrets)) else { return nil }
    return PresentPlan(plan: plan, earlier: earlier, secrets: secrets)
  }

  /// True if the file of a run is still where it was; false for a run that was read from standard input.
  func hasFile(_ run: RecordedRunSummary, _ store: StateStore) -> Bool {
    guard let file = run.file else { return false }
    return access(pathFromHere(of: file, run.workspace, store.folder), F_OK) == 0
      || errno != ENOENT && errno != ENOTDIR
  }

  /// The path of a pipeline that was recorded relative to where its run was started.
  private func pathFromHere(
    of file: String, _ workspace: String?, _ folder: StateFolder
  ) -> String {
    guard !file.hasPrefix("/"), workspace != folder.currentPlace else { return file }
    let usual = "/.oprun"
    if workspace == nil, folder.path.hasSuffix(usual) {
      return "\(folder.path.dropLast(usual.utf8.count))/\(file)"
    }
    return folder.directory(of: workspace).map { "\($0)/\(file)" } ?? file
  }
}

/// The plan of a run as its file is now, and the record of the run for comparison.
struct PresentPlan {
  let plan: Plan
  let earlier: EarlierRun
  let secrets: Secrets
}

/// The id of a trace for a run, made from the facts that tell runs apart, so that it is always the same.
private func traceNumbers(of run: RecordedRunSummary) -> (UInt64, UInt64) {
  let name = "\(run.name) \(run.host) \(run.started)"
  return (stableHash(of: name), stableHash(of: name + " low"))
}

/// The plan of a recorded run.
struct RecordedPlan {
  var plan: Plan
  let secrets: Secrets
  /// True if only the names of the steps are known.
  let isOfNames: Bool

  init(_ plan: Plan, _ secrets: Secrets, isOfNames: Bool = false) {
    self.plan = plan
    self.secrets = secrets
    self.isOfNames = isOfNames
  }
}
