// From a file to what runs: the pipeline and its plan, until the run begins.

import Diagnostics
import Execution
import Pipelines
import Plans
import Scheduling

/// A pipeline that was read, and everything that its plan was made with.
final class PlannedPipeline {
  /// The command line; its first operand is the file.
  let invocation: Invocation
  let options: PlanningOptions
  let reading: SecretReading
  /// The note about a run that may turn out to be unchanged; nil if it runs in any case.
  let note: UnchangedRunNote?
  private var content: (pipeline: LoadedPipeline, plan: Plan)?

  init(
    _ pipeline: LoadedPipeline, _ plan: Plan, for invocation: Invocation,
    options: PlanningOptions, reading: SecretReading, note: UnchangedRunNote? = nil
  ) {
    content = (pipeline, plan)
    self.invocation = invocation
    self.options = options
    self.reading = reading
    self.note = note
  }

  var path: String { invocation.operands[0] }
  var pipeline: LoadedPipeline { held.pipeline }
  var plan: Plan { held.plan }

  private var held: (pipeline: LoadedPipeline, plan: Plan) {
    guard let content else { preconditionFailure("a pipeline that was given up is asked for") }
    return content
  }

  /// Gives up the pipeline and its plan: a run has its own plan, and uses their memory.
  func giveUp() { content = nil }
}

extension Tool {
  /// Reads and plans a pipeline, or returns the exit status for the failure that has been reported.
  func planned(
    _ invocation: Invocation, _ options: PlanningOptions, _ note: UnchangedRunNote?
  ) throws(UsageFailure) -> Result<PlannedPipeline, ReportedFailure> {
    let hasEvents = invocation.writesEventsToOutput
    let file = invocation.operands[0]
    let loaded = load(file, options) { failure in
      if hasEvents { writeJSON(failure.message, help: failure.help, file: file, isEvent: true) }
    }
    guard var pipeline = loaded else {
      return .failure(ReportedFailure(status: ExitStatus.invalidPipeline))
    }
    let reading = readSecrets(of: &pipeline)
    switch plan(invocation, pipeline, options, reading) {
    case .failure(let exit):
      if hasEvents, let reason = exit.reason { writeEvents(of: reason) }
      return .failure(exit)
    case .success(let plan):
      if plan.steps.contains(where: { $0.settings.cache != nil }) {
        note?.note(pipeline, hostFacts())
      }
      try checkStatusSource(invocation, plan)
      try RunRecorders.check(invocation, read: plan.sources.files.map(\.path))
      try checkTraced(invocation, plan)
      return .success(
        PlannedPipeline(
          pipeline, plan, for: invocation, options: options, reading: reading, note: note))
    }
  }

  private func checkStatusSource(_ invocation: Invocation, _ plan: Plan) throws(UsageFailure) {
    guard let id = invocation.text(Options.exitCodeFrom) else { return }
    guard let operation = plan.operation(named: id) else {
      throw .unknownStep(id, for: Options.exitCodeFrom, among: plan.steps.lazy.map(\.id))
    }
    if plan.groups[operation] != nil || plan.isCopied(operation) {
      throw .severalStatuses(id, for: Options.exitCodeFrom)
    }
  }
}
