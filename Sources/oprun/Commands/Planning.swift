// What commands share: a file name in, a plan out, or the reason why there is none.

import Diagnostics
import Glibc
import Pipelines
import Reporting

extension Tool {
  /// What messages call standard input.
  static let standardInputName = "<stdin>"

  /// The bytes of a pipeline file; nil if they cannot be had, which was said.
  func read(_ path: String) -> [UInt8]? {
    do throws(InputFailure) {
      return try readPipelineFile(path)
    } catch {
      say(error.message, help: error.help)
      return nil
    }
  }

  /// A plan, or the exit status that stands for the failure that was said.
  func plan(_ path: String, _ options: PlanningOptions) -> Result<Plan, PlanlessExit> {
    guard let bytes = read(path) else {
      return .failure(PlanlessExit(status: ExitStatus.invalidPipeline))
    }
    let name = path == "-" ? Self.standardInputName : path
    do throws(PlanningFailure) {
      return .success(try makePlan(path: name, bytes: bytes, options: options))
    } catch {
      return .failure(PlanlessExit(status: explain(error)))
    }
  }

  private func explain(_ failure: PlanningFailure) -> Int32 {
    switch failure {
    case .invalid(let diagnostics, let sources):
      errors.write(render(diagnostics, in: sources, color: isColored(STDERR_FILENO, .auto)))
      return ExitStatus.invalidPipeline
    case .badParameters(let messages):
      for message in messages { say(message) }
      return ExitStatus.usage
    case .emptySelection(let message):
      say(message)
      return ExitStatus.emptySelection
    }
  }

  func isColored(_ descriptor: Int32, _ choice: ColorChoice) -> Bool {
    choice.isOn(isTerminal: Terminal.isTerminal(descriptor), environment: environmentValue)
  }

  func drawingOptions(_ invocation: Invocation) -> DrawingOptions {
    var options = DrawingOptions()
    options.usesASCII = invocation.isOn(Options.ascii)
    options.isVerbose = invocation.isOn(Options.verbose)
    options.isColored = isColored(
      STDOUT_FILENO, invocation.choice(Options.color, default: ColorChoice.auto))
    options.columns = Terminal.width(of: STDOUT_FILENO) ?? options.columns
    return options
  }
}

/// There is no plan; why was said.
struct PlanlessExit: Error {
  let status: Int32
}
