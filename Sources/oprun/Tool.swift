// From the words of a command line to the command that they ask for.

import Diagnostics
import Glibc
import Pipelines
import Reporting

struct Tool {
  let output = ByteSink(descriptor: STDOUT_FILENO)
  let errors = ByteSink(descriptor: STDERR_FILENO, capacity: 4096)

  /// Answers the exit status.
  func perform() -> Int32 {
    let status = answer()
    output.flush()
    errors.flush()
    return output.hasFailed && status == ExitStatus.success ? ExitStatus.cannotWrite : status
  }

  private func answer() -> Int32 {
    do throws(UsageFailure) {
      let request = try Request(
        try words(), environment: environmentText, search: .system)
      switch request {
      case .version: return printVersion()
      case .help(let command, let invocation):
        writeHelp(of: command)
        guard let invocation, let file = invocation.operands.first else { break }
        var entered = invocation
        return enter(&entered) ? writeParameters(of: file) : ExitStatus.invalidPipeline
      case .perform(var invocation):
        return try enter(&invocation) ? perform(invocation) : ExitStatus.invalidPipeline
      }
      return ExitStatus.success
    } catch {
      write(error)
      return ExitStatus.usage
    }
  }

  private func perform(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    switch invocation.command.name {
    case Command.run.name: try run(invocation)
    case Command.graph.name: graph(invocation)
    case Command.validate.name: validate(invocation)
    case Command.list.name: list(invocation)
    case Command.schema.name: writeSchema()
    default: ExitStatus.internalError
    }
  }

  private func words() throws(UsageFailure) -> [String] {
    do throws(TextDecodingFailure) {
      return try commandLineWords()
    } catch {
      throw .undecodable(error)
    }
  }

  private func write(_ error: UsageFailure) {
    for mistake in ([error] + error.others).prefix(ParameterFaults.limit) {
      say(mistake.message, help: mistake.help)
    }
    let omitted = error.others.count + 1 - ParameterFaults.limit
    if omitted > 0 { say("… and \(omitted) more") }
    let command = error.command.map { "oprun \($0) --help" } ?? "oprun --help"
    errors.write("try '\(command)'\n")
  }

  /// A message that is not about a place in a file.
  func say(_ message: String, help: String? = nil) {
    errors.write("oprun: ")
    errors.write(messageLine(message))
    errors.writeNewline()
    if let help { errors.write("  help: \(messageLine(help))\n") }
  }
}

/// Leaves a value to the end of the process, which comes soon: to free what a large file was made into,
/// piece by piece, takes a tenth of the time that reading it took.
func keepUntilExit(_ value: some Any) { _ = Unmanaged.passRetained(Kept(value: value)) }

private final class Kept {
  let value: Any

  init(value: some Any) { self.value = value }
}

/// Of a variable that stands for an option.
private func environmentText(_ name: String) throws(UsageFailure) -> String? {
  guard let bytes = getenv(name) else { return nil }
  do throws(TextDecodingFailure) {
    return try text(of: bytes)
  } catch {
    throw .undecodable(error, of: name)
  }
}

func environmentValue(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

func printVersion() -> Int32 {
  let output = ByteSink(descriptor: STDOUT_FILENO, capacity: 64)
  output.write("oprun ")
  output.write(version)
  output.writeNewline()
  output.flush()
  return output.hasFailed ? ExitStatus.cannotWrite : ExitStatus.success
}
