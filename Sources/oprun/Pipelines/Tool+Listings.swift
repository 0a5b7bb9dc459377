// The commands that write about one or more pipelines: graph, validate, list, schema.

import Diagnostics
import Execution
import Glibc
import Pipelines
import Plans
import Reporting

extension Tool {
  func graph(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    let reads = ReadPaths()
    var options = noting(reads, listingOptions(invocation))
    options.selection = Array(invocation.operands.dropFirst())
    switch try plan(invocation, options, reads) {
    case .failure(let exit): return exit.status
    case .success(let plan):
      let format = invocation.choice(Options.graphFormat, default: GraphFormat.tree)
      if format == .tree { clipOutput() }
      plan.writeGraph(format, options: drawingOptions(invocation), to: output)
      return ExitStatus.success
    }
  }

  /// The plan, or the part of it that is affected.
  private func plan(
    _ invocation: Invocation, _ options: PlanningOptions, _ reads: ReadPaths
  ) throws(UsageFailure) -> Result<Plan, ReportedFailure> {
    let path = invocation.operands[0]
    guard var pipeline = load(path, options) else {
      return .failure(ReportedFailure(status: ExitStatus.invalidPipeline))
    }
    let reading = readSecrets(of: &pipeline)
    let whole = plan(invocation, pipeline, options, reading)
    guard case .success(let plan) = whole else { return whole }
    let planned = PlannedPipeline(
      pipeline, plan, for: invocation, options: options, reading: reading)
    guard let part = try affectedPart(of: planned, reads) else { return whole }
    guard part.selection.isEmpty else { return self.plan(part, of: planned) }
    say(part.nothing)
    return .failure(ReportedFailure(status: ExitStatus.success))
  }

  func list(_ invocation: Invocation) -> Int32 {
    switch plan(invocation.operands[0], listingOptions(invocation)) {
    case .failure(let exit): return exit.status
    case .success(let plan):
      if invocation.isOn(Options.json) {
        plan.writeJSONList(to: output)
      } else {
        clipOutput()
        plan.writeList(columns: drawingOptions(invocation).columns, to: output)
      }
      return ExitStatus.success
    }
  }

  /// Checks every file, even after one that is invalid.
  func validate(_ invocation: Invocation) -> Int32 {
    let results = invocation.operands.map { validate($0, invocation) }
    return results.allSatisfy { $0 } ? ExitStatus.success : ExitStatus.invalidPipeline
  }

  private func validate(_ path: String, _ invocation: Invocation) -> Bool {
    let options = validationOptions()
    let format = invocation.choice(Options.reportFormat, default: DiagnosticFormat.human)
    let loaded = load(path, options) { failure in
      if format == .json { writeJSON(failure.message, help: failure.help, file: path) }
    }
    guard var pipeline = loaded else { return false }
    let color = invocation.choice(Options.color, default: ColorChoice.auto)
    let name = path == "-" ? Self.standardInputName : path
    let secrets = readSecrets(of: &pipeline).secrets
    do throws(PlanningFailure) {
      let plan = try pipeline.plan(options.refusing(secrets))
      if path == invocation.operands.last { keepUntilExit((pipeline, plan)) }
      write(pipeline.notices, in: pipeline.sources, format, color)
      if format == .human {
        errors.write("\(pathAtLineStart(name)): \(count(of: plan.stepCount, "step")), valid\n")
      }
      return true
    } catch {
      guard case .invalid(let diagnostics, let sources) = error else { return false }
      write(diagnostics, in: sources, format, color)
      return false
    }
  }

  private func write(
    _ diagnostics: [Diagnostic], in sources: SourceMap, _ format: DiagnosticFormat,
    _ color: ColorChoice
  ) {
    if diagnostics.isEmpty { return }
    var terminal = terminal(STDOUT_FILENO, color)
    if format != .human { terminal.isColored = false }
    if format == .human || format == .short { shareOutputWithRunner() }
    output.isFormat = format == .json
    output.write(
      own: render(diagnostics, in: sources, format: format, on: terminal))
  }

  /// The options for checking a file: values of parameters are not part of it.
  func validationOptions() -> PlanningOptions {
    var options = PlanningOptions()
    setSurroundings(of: &options)
    options.inherited = InheritedVariables()
    options.demandsAllParameters = false
    options.showsEveryStep = true
    return options
  }

  func writeSchema(_ invocation: Invocation) -> Int32 {
    output.write(invocation.isOn(Options.schemaOfTests) ? testSchema : pipelineSchema)
    return ExitStatus.success
  }

  private func count(of count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
