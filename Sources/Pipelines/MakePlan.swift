// The front door of this module: the bytes of a pipeline file in, a plan or its diagnostics out.

package import Diagnostics
package import Scheduling

/// What the command line adds to the file.
package struct PlanningOptions: Sendable {
  /// What `max_parallel: auto` stands for.
  package var processorCount: Int
  /// `-j`: the width of the default queue, whatever the file says.
  package var maxParallel: Int?
  /// `--fail-fast`: in place of the file's `failure_policy`.
  package var failurePolicy: FailurePolicy?
  /// `--timeout`: in place of the file's.
  package var timeout: Nanoseconds?
  /// Ids of steps to run, with all that they need; empty means every step.
  package var selection: [String]
  /// Values for the pipeline's parameters. The last of several for one counts.
  package var parameters: [ParameterArgument] = []
  /// Variables that oprun inherited: `OPRUN_PARAM_<NAME>` counts where no argument does.
  package var environment: [String: String] = [:]
  /// A required parameter without a value is a failure; else its value is unknown.
  package var demandsAllParameters = true

  package init(
    processorCount: Int = 1, maxParallel: Int? = nil, failurePolicy: FailurePolicy? = nil,
    timeout: Nanoseconds? = nil, selection: [String] = []
  ) {
    self.processorCount = processorCount
    self.maxParallel = maxParallel
    self.failurePolicy = failurePolicy
    self.timeout = timeout
    self.selection = selection
  }
}

/// Why there is no plan.
package enum PlanningFailure: Error {
  /// The file is at fault: everything that was found, sorted by place. Exit status 3.
  case invalid([Diagnostic], SourceMap)
  /// The selection names a step that is not there. Exit status 4.
  case emptySelection(message: String)
  /// Parameters have wrong values or none, one message for each. Exit status 2.
  case badParameters([String])
}

/// Turns the text of a pipeline file into a plan. `path` is what messages call the file.
package func makePlan(
  path: String, bytes: [UInt8], options: PlanningOptions
) throws(PlanningFailure) -> Plan {
  var sources = SourceMap()
  let start = sources.add(path: path, bytes: bytes)
  return try bytes.withUnsafeBufferPointer { (bytes) throws(PlanningFailure) -> Plan in
    var (model, log) = decode(bytes)
    // Of a file that was not read to its end every name could be missing.
    if log.isFull { throw .invalid(log.sorted(), sources) }
    let text = SourceText(bytes, start: start)
    let planner = Planner(model, text, options: options, log: &log)
    guard log.isEmpty else { throw .invalid(log.sorted(), sources) }
    let selection = try planner.selection(path: path)
    return planner.plan(path: path, sources: sources, selection: selection)
  }
}

/// From bytes to model. The nodes are gone when it returns.
private func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> (PipelineModel, DiagnosticLog) {
  let base = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  let text = UnsafeBufferPointer(rebasing: bytes[base...])
  var decoder = Decoder(tree: Tree(source: text, base: base))
  do throws(Diagnostic) {
    try read(text, base: base, into: &decoder)
  } catch {
    // What comes of a file that cannot be read to its end would be guesses.
    var log = DiagnosticLog()
    log.report(error)
    return (PipelineModel(), log)
  }
  return (decoder.model, decoder.log)
}

private func read(
  _ text: UnsafeBufferPointer<UInt8>, base: Int, into decoder: inout Decoder
) throws(Diagnostic) {
  let check = try TextCheck(text, base: base)
  var reader = TreeReader(text, check: check, base: base)
  while let step = try reader.nextStep(into: &decoder.tree) {
    decoder.decodeStep(step)
    if decoder.log.isFull { return }
  }
  decoder.decodePipeline(root: 0, readSteps: reader.stepList)
}
