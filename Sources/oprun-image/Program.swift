// From the words of a command line to the step that they ask for.

import BuiltinSteps
import Diagnostics
import Glibc

struct Program {
  let output = Output(descriptor: STDOUT_FILENO)
  let errors = Output(descriptor: STDERR_FILENO)

  /// Answers the exit status.
  func perform() -> Int32 {
    // A reader that went away must not end the work.
    signal(SIGPIPE, SIG_IGN)
    do throws(UsageError) {
      switch try Request(try words()) {
      case .version: output.write("\(BuiltinStep.program) \(version)\n")
      case .help(let step): output.write(step.map(helpText) ?? generalHelp)
      case .perform(let inputs): return try perform(inputs)
      }
      return ExitStatus.success
    } catch {
      errors.write(error.text)
      return ExitStatus.usage
    }
  }

  private func words() throws(UsageError) -> [String] {
    do throws(UndecodableText) {
      return try commandLineWords()
    } catch {
      throw .undecodable(error)
    }
  }

  private func perform(_ inputs: Inputs) throws(UsageError) -> Int32 {
    switch inputs.step.name {
    case BuiltinStep.download.name: return try download(inputs)
    case BuiltinStep.downloadAndResize.name: return try downloadAndResize(inputs)
    case BuiltinStep.wait.name: return try wait(inputs)
    case Request.cache.name: return cache(inputs)
    case BuiltinStep.resize.name: return try resize(inputs)
    case BuiltinStep.compose.name: return try compose(inputs)
    case Request.confinement.name: return confinement()
    default:
      errors.write("\(BuiltinStep.program): '\(inputs.step.name)' is not built yet\n")
      return ExitStatus.internalError
    }
  }
}

enum ExitStatus {
  static let success: Int32 = 0
  /// An item failed, or what was waited for did not come.
  static let failure: Int32 = 1
  static let usage: Int32 = 2
  static let internalError: Int32 = 70
}
