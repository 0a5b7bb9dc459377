// `oprun analyze`: where the time of a run was spent, and what would change it.

import Diagnostics
import Execution
import Plans
import Reporting
import RunFiles
import Scheduling
import State

extension Tool {
  /// The number of runs that are examined for steps that fail now and then.
  private static let historyLength = 20

  func analyze(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    var invocation = invocation
    guard let store = try openStore(&invocation, entersDirectory: true) else {
      return ExitStatus.usage
    }
    let name = try runName(invocation.operands.first, in: store, .analyze)
    let run = try run(named: name, in: store, counting: false, .analyze)
    switch try recordedPlan(of: run, store, invocation) {
    case .failure(let exit):
      guard exit.status == ExitStatus.invalidPipeline || exit.reason != nil else {
        return exit.status
      }
      // The command line may be right, and the file have changed.
      say("run \(run.name) cannot be analysed: the graph is only in the pipeline")
      return ExitStatus.invalidPipeline
    case .success(let recorded): return try analyze(run, recorded, store, invocation)
    }
  }

  private func analyze(
    _ run: RecordedRunSummary, _ recorded: RecordedPlan, _ store: StateStore,
    _ invocation: Invocation
  ) throws(UsageFailure) -> Int32 {
    let scenario = try scenario(invocation, recorded.plan)
    guard let directory = directory(of: run, in: store) else { return sayNoDirectory(of: run) }
    do throws(StoreFailure) {
      let replay = try store.replay(
        run, recorded.plan, recordedTrace(of: run, store), recorded.secrets.masker)
      sayMissing(replay)
      let analysis = RunAnalysis(
        replay.forEachEvent, recorded.plan, directory, recorded.secrets.masker)
      let flaky = try run.place.map { place throws(StoreFailure) in
        try store.flakySteps(of: place, lastRuns: Self.historyLength)
      }
      let changed = scenario.isEmpty ? nil : analysis.makespan(scenario)
      keepUntilExit((recorded, replay, analysis))
      if invocation.isOn(Options.json) {
        output.isFormat = true
        output.write("{")
        analysis.writeFields(changed: changed, to: output)
        writeJSON(flaky ?? [])
        output.write("}\n")
      } else {
        clipOutput()
        analysis.write(changed: changed, to: output)
        write(flaky ?? [])
      }
      return ExitStatus.success
    } catch {
      say(error.message, help: error.help)
      return ExitStatus.cannotWrite
    }
  }

  /// The scenario that the options describe.
  private func scenario(_ invocation: Invocation, _ plan: Plan) throws(UsageFailure) -> Scenario {
    var scenario = Scenario()
    if let jobs = invocation.count(Options.otherJobs) {
      let queue = plan.queues[0].name
      guard jobs > 0 else { throw .wrongWidth("\(jobs)", of: queue, for: Options.otherJobs) }
      scenario.widths[queue] = jobs
    }
    for (name, value) in invocation.assignments(Options.queueWidth) {
      guard plan.queues.contains(where: { $0.name == name }) else {
        throw .unknownQueue(name, among: plan.queues.map(\.name))
      }
      guard let width = Int(value), width > 0 else {
        throw .wrongWidth(value, of: name, for: Options.queueWidth)
      }
      scenario.widths[name] = width
    }
    for step in invocation.texts(Options.without) {
      try check(step, plan, Options.without)
      scenario.removed.insert(step)
    }
    for text in invocation.texts(Options.faster) {
      // The id of an instance may contain `=`, too.
      guard let equals = text.lastIndex(of: "=") else { throw .missingFactor(text) }
      let step = String(text[..<equals])
      let value = String(text[text.index(after: equals)...])
      try check(step, plan, Options.faster)
      guard value.hasSuffix("x"), let factor = Double(value.dropLast()), factor > 0,
        factor.isFinite
      else { throw .wrongFactor(value, of: step) }
      scenario.faster[step] = factor
    }
    return scenario
  }

  private func check(_ step: String, _ plan: Plan, _ option: Option) throws(UsageFailure) {
    if plan.steps.contains(where: { StepName(step).covers($0.id) }) { return }
    var failure = UsageFailure.unknownStep(step, for: option, among: plan.steps.lazy.map(\.id))
    failure.command = Subcommand.analyze.name
    throw failure
  }

  private func write(_ flaky: [FlakyStep]) {
    guard !flaky.isEmpty else { return }
    output.write("\nflaky in the last \(Self.historyLength) runs, unchanged\n")
    for step in flaky.prefix(10) {
      let count = { (number: Int) in step.runs == 1 ? "" : " \(number)" }
      var words: [String] = []
      if step.failures > 0 { words.append("failed in\(count(step.failures))") }
      if step.retries > 0 { words.append("needed a retry in\(count(step.retries))") }
      let runs = step.runs == 1 ? "its only run" : "of \(step.runs) runs"
      output.write("  \(oneLine(step.name))  \(words.joined(separator: " and ")) \(runs)\n")
    }
  }

  private func writeJSON(_ flaky: [FlakyStep]) {
    output.write(field: "flaky")
    output.write(jsonList: flaky) { step in
      output.write("{")
      output.write(field: "step", isFirst: true)
      output.write(json: step.name)
      output.write(
        own: ",\"runs\":\(step.runs),\"failed\":\(step.failures),\"retried\":\(step.retries)}")
    }
  }
}
