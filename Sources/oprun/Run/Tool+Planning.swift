// The way from a file name to a plan, or to the reason why there is none, for all commands.

import Diagnostics
import Execution
import Glibc
import Pipelines
import Plans
import Reporting

extension Tool {
  /// The name of standard input in messages.
  static let standardInputName = "<stdin>"

  /// The bytes of a pipeline file; nil if they cannot be read, which has been reported.
  func read(_ path: String, tell: (InputFailure) -> Void = { _ in }) -> [UInt8]? {
    do throws(InputFailure) {
      return try readPipelineFile(path)
    } catch {
      let failure = InputFailure(
        error.message, help: error.help ?? didYouMean(fileMeant(by: path)))
      tell(failure)
      say(failure.message, help: failure.help)
      return nil
    }
  }

  /// A plan, or the exit status for the failure that has been reported.
  func plan(_ path: String, _ options: PlanningOptions) -> Result<Plan, ReportedFailure> {
    guard var pipeline = load(path, options) else {
      return .failure(ReportedFailure(status: ExitStatus.invalidPipeline))
    }
    let reading = readSecrets(of: &pipeline)
    return plan(path, pipeline, options, reading)
  }

  /// The pipeline in a file; nil if the file cannot be read, which has been reported.
  func load(
    _ path: String, _ options: PlanningOptions, tell: (InputFailure) -> Void = { _ in }
  ) -> LoadedPipeline? {
    guard let bytes = read(path, tell: tell) else { return nil }
    let name = path == "-" ? Self.standardInputName : path
    return LoadedPipeline(path: name, bytes: bytes, files: options.files)
  }

  func plan(
    _ path: String, _ pipeline: LoadedPipeline, _ options: PlanningOptions,
    _ reading: SecretReading
  ) -> Result<Plan, ReportedFailure> {
    plan(pipeline, options, reading) { explain($0, path, nil) }
  }

  /// The plan for a command line, whose first operand is the file.
  func plan(
    _ invocation: Invocation, _ pipeline: LoadedPipeline, _ options: PlanningOptions,
    _ reading: SecretReading
  ) -> Result<Plan, ReportedFailure> {
    plan(pipeline, options, reading) { explain($0, invocation.operands[0], invocation) }
  }

  private func plan(
    _ pipeline: LoadedPipeline, _ options: PlanningOptions, _ reading: SecretReading,
    explain: (PlanningFailure) -> Int32
  ) -> Result<Plan, ReportedFailure> {
    do throws(PlanningFailure) {
      return .success(try pipeline.plan(options.refusing(reading.secrets)))
    } catch {
      return .failure(ReportedFailure(status: explain(error), reason: error))
    }
  }

  private func explain(
    _ failure: PlanningFailure, _ path: String, _ invocation: Invocation?
  ) -> Int32 {
    switch failure {
    case .invalid(let diagnostics, let sources):
      say(diagnostics, in: sources)
      return ExitStatus.invalidPipeline
    case .unknownSteps(let steps):
      say(steps, invocation)
      return ExitStatus.usage
    case .emptySelection(let message, let help):
      say(message, help: help)
      return ExitStatus.emptySelection
    case .badParameters(let faults):
      for message in faults.messages { say(message) }
      if faults.omittedCount > 0 { say("… and \(faults.omittedCount) more") }
      if let word = invocation?.optionBehindDashes {
        errors.write("  help: '--' ends the options of oprun: write \(quoted(word)) before it\n")
      }
      errors.write("try 'oprun run \(wordForHelp(path) ?? "FILE") --help'\n")
      return ExitStatus.usage
    }
  }

  /// Shows faults of files, also to the CI runner around oprun.
  func say(_ diagnostics: [Diagnostic], in sources: SourceMap) {
    errors.write(render(diagnostics, in: sources, on: terminal(STDERR_FILENO)))
    guard let runner = CISurroundings.runnerOutside else { return }
    errors.write(annotationsOf: diagnostics, in: sources, for: CISurroundings.options(for: runner))
  }
}

/// A failure that has been reported; there is no plan.
struct ReportedFailure: Error {
  let status: Int32
  var reason: PlanningFailure?
}
