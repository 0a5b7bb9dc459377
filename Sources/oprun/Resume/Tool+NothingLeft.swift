// Messages for a run to be resumed that has nothing left to do, and about variables that do not
// count for it.

import Caching
import Diagnostics
import Execution
import Plans
import State

extension ResumedRun {
  /// True if the run is done, and no run that went on with it has left steps of it behind; or if only what failed is to
  /// run, and nothing did.
  func hasNothingLeft(of planned: PlannedPipeline) -> Bool {
    if selection.isOfFailed, earlier.hasSucceeded, selection.skipped.isEmpty {
      return !resumption(for: planned.plan, planned.reading.secrets).foreseen.hasFailed
    }
    guard isDone, earlier.hasRunSince else { return isDone }
    return !resumption(for: planned.plan, planned.reading.secrets).foreseen.isBehindSuccessors
  }
}

extension Tool {
  /// Says that a run has succeeded; if the file was edited since, also which command would run that.
  func sayNothingLeft(
    of resumed: ResumedRun, _ planned: PlannedPipeline
  ) -> Int32 {
    let resumption = resumed.resumption(for: planned.plan, planned.reading.secrets)
    let different = resumption.foreseen.differing
    if different.isEmpty { return sayNothingLeft(of: resumed.earlier, resumed.store) }
    say(
      "run \(resumed.earlier.name) succeeded: nothing to resume, "
        + "although this was edited since: \(resumption.allNames(of: different))",
      help:
        "'\(runCommand(resumed.earlier.request, planned.plan, planned.invocation))' runs the pipeline as it is now"
    )
    return ExitStatus.success
  }

  func sayNothingLeft(of earlier: EarlierRun, _ store: StateStore) -> Int32 {
    say(
      "run \(earlier.name) succeeded: nothing to resume", help: nameOfWhole(before: earlier, store))
    return ExitStatus.success
  }

  /// Throws if a selected step does not exist, or is both to run and to be skipped.
  func check(_ resumed: ResumedRun?, _ planned: PlannedPipeline) throws(UsageFailure) {
    do throws(UsageFailure) {
      try resumed?.check(planned.plan, planned.invocation, planned.reading.secrets)
    } catch {
      var failure = error
      if let resumed, failure.help == nil {
        failure.help = nameOfWhole(before: resumed.earlier, resumed.store)
      }
      throw failure
    }
  }

  /// A help that names the run of which this one is only a part; nil if it is whole.
  private func nameOfWhole(before run: EarlierRun, _ store: StateStore) -> String? {
    wholeRun(before: run, store).map {
      "this run was only a part of \($0): 'oprun resume \($0)' continues that run"
    }
  }

  /// The run of which this one has resumed a part, with `--until` or after another run that did;
  /// nil if this one was whole, or more.
  private func wholeRun(before run: EarlierRun, _ store: StateStore) -> String? {
    let steps = run.request.steps
    var name = run.name
    while !steps.isEmpty, let before = (try? store.run(named: name))??.resumed {
      guard let earlier = try? store.earlierRun(named: before) else { return nil }
      // A run that was to run everything may have died before it came to these steps.
      let isWhole = earlier.request.steps.isEmpty
      if isWhole || earlier.request.steps != steps && earlier.covers(steps) { return before }
      name = before
    }
    return nil
  }

  /// The command that makes a new run of the same request.
  private func runCommand(
    _ request: RunRequest, _ plan: Plan, _ invocation: Invocation
  ) -> String {
    let known = Set(plan.parameters.map(\.name))
    let parameters = request.parameters.filter { known.contains($0.name) }.flatMap {
      ["--param", wordForHelp("\($0.name)=\($0.value)") ?? "\($0.name)=VALUE"]
    }
    let words = ["oprun", "run"] + parameters + [wordForHelp(invocation.operands[0]) ?? "FILE"]
    let steps = invocation.operands.dropFirst().map { wordForHelp($0) ?? "STEP" }
    return (words + steps).joined(separator: " ") + stateOption(invocation)
  }

  /// Reports parameters of the run that the file no longer has.
  func sayLostParameters(_ resumed: ResumedRun, _ plan: Plan) {
    let known = Set(plan.parameters.map(\.name))
    let lost = resumed.earlier.request.parameters.map(\.name).filter { !known.contains($0) }
    if lost.isEmpty { return }
    say(
      "\(lost.count == 1 ? "parameter" : "parameters") \(inWords(lost.map(quoted), last: "and")) of that run "
        + "\(lost.count == 1 ? "is" : "are") not in the file any more, and left out")
  }

  /// Reports variables that would give parameters other values than the run had. Not in a step of a
  /// run, which inherits variables from that run.
  func sayIgnoredVariables(_ resumed: ResumedRun, _ plan: Plan, _ invocation: Invocation) {
    if environmentValue(OprunVariable.oprun.rawValue) != nil { return }
    let given = Set(
      invocation.assignments(Options.param).map(\.name)
        + resumed.earlier.secretsInVariables.map(\.name))
    let recorded = resumed.earlier.request.parameters
    for parameter in plan.parameters where !given.contains(parameter.name) {
      let variable = parameterVariable(parameter.name)
      let old = recorded.last { $0.name == parameter.name }
      guard let value = environmentValue(variable), old != nil || !parameter.isDemanded,
        (old?.value ?? parameter.defaultValue)?.hasSameBytes(as: value) != true
      else { continue }
      say(
        "\(variable) has no effect: parameters are those of the run that is resumed",
        help: "'--param' changes them")
    }
  }
}
