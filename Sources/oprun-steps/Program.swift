// Performs the step that the words of a command line request.

import BuiltinSteps
import Diagnostics
import Glibc

struct Program {
  let output = Output(descriptor: STDOUT_FILENO)
  let errors = Output(descriptor: STDERR_FILENO)

  /// Performs the request; returns the exit status.
  func perform() -> Int32 {
    ProcessState.prepare()
    let words = words()
    if words == [sharedCacheCommand] { return SharedCacheCommand.serve() }
    Nursery.serveIfLoaded(for: words)
    do throws(UsageFailure) {
      switch try Request(words) {
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

  /// The words of the command line, which may contain file names that are not UTF-8.
  private func words() -> [String] {
    (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      CommandLine.unsafeArgv[index].map { ByteText.text(of: $0) }
    }
  }

  private func perform(_ inputs: Inputs) throws(UsageFailure) -> Int32 {
    if inputs.step.key("manifest") != nil { try checkManifest(inputs, besides: []) }
    switch inputs.step.name {
    case BuiltinStep.download.name: return try download(inputs)
    case BuiltinStep.downloadAndResize.name: return try downloadAndResize(inputs)
    case BuiltinStep.wait.name: return wait(inputs)
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
  /// An item failed, or waiting timed out.
  static let failure: Int32 = 1
  static let usage: Int32 = 2
  static let internalError: Int32 = 70
}
