// Performs the command that a command line requests.

import CLinux
import Diagnostics
import Execution
import Expressions
import Glibc
import Pipelines
import Plans
import Reporting

struct Tool {
  let output = ByteSink(descriptor: STDOUT_FILENO)
  var errors = ByteSink(descriptor: STDERR_FILENO, capacity: 4096)
  /// The jobserver around oprun. Must be found before any file is opened.
  let inheritedJobserver = InheritedJobserver.atStart()
  let pipelineLock = PipelineLock()

  /// Performs the command; returns the exit status.
  func perform() -> Int32 {
    if let runner = CIRunner.detected(environmentValue) { errors.makeHarmless(to: runner) }
    errors.fitToTerminal()
    let status = answer()
    output.flush()
    // A reader that stops reading is not a failure.
    let isCut = output.hasFailed && output.errorNumber != EPIPE
    if isCut, status != ExitStatus.cannotWrite {
      say("cannot write standard output: \(SystemError.reason(output.errorNumber))")
    }
    errors.flush()
    return isCut && status == ExitStatus.success ? ExitStatus.cannotWrite : status
  }

  private func answer() -> Int32 {
    do throws(UsageFailure) {
      let request = try Request(
        try words(), environment: environmentOfOptions, search: .system)
      switch request {
      case .version(let isVerbose):
        if isVerbose { writeOrigin() } else { return printVersion() }
      case .help(let command, let invocation):
        writeHelp(of: command)
        guard let invocation, let file = invocation.operands.first else { break }
        var entered = invocation
        return enter(&entered) ? writeParameters(of: file) : ExitStatus.invalidPipeline
      case .complete(let words): return complete(words)
      case .perform(var invocation):
        errors.spellsInASCII = invocation.isOn(Options.ascii)
        sayStrayVariables(invocation.command)
        try RunRecorders.check(invocation)
        guard enter(&invocation) else { return ExitStatus.invalidPipeline }
        if invocation.command.usesDirectory { try checkDirectory() }
        return try invocation.command.perform(self)(invocation)
      }
      return ExitStatus.success
    } catch {
      write(error)
      return error.status
    }
  }

  /// Reports variables that were meant for options. Not in a step, which inherits variables from
  /// the run that has reported them.
  private func sayStrayVariables(_ command: Subcommand) {
    let names = oprunVariableNames()
    if names.isEmpty || getenv(OprunVariable.oprun.rawValue) != nil { return }
    for stray in StrayVariable.all(among: names, for: command) {
      say(stray.message, help: stray.help)
    }
    errors.flush()
  }

  private func words() throws(UsageFailure) -> [String] {
    do throws(TextDecodingFailure) {
      return try commandLineWords().dropFirst().map { word throws(TextDecodingFailure) in
        try text(of: word)
      }
    } catch {
      throw .undecodable(error)
    }
  }

  private func write(_ error: UsageFailure) {
    for mistake in ([error] + error.others).prefix(ParameterFaults.limit) {
      let help = [mistake.help, stepMeant(by: mistake)].compactMap(\.self)
      say(mistake.message, help: help.isEmpty ? nil : help.joined(separator: "; "))
    }
    let omitted = error.others.count + 1 - ParameterFaults.limit
    if omitted > 0 { say("… and \(omitted) more") }
    // The help of the command is for mistakes that have no help of their own.
    if error.status != ExitStatus.usage || ([error] + error.others).allSatisfy({ $0.help != nil }) {
      return
    }
    let file = error.file.flatMap { isFile($0) ? wordForHelp($0) : nil }
    let words = ["oprun", error.command, error.command == nil ? nil : file, "--help"]
    errors.write("try '\(words.compactMap(\.self).joined(separator: " "))'\n")
  }

  /// The help for the name of a command that was meant as that of a step, which the pipeline has.
  private func stepMeant(by mistake: UsageFailure) -> String? {
    guard let flag = mistake.optionOfRun, let name = mistake.command, name != Subcommand.run.name
    else { return nil }
    var quiet = self
    quiet.errors = .nowhere()
    guard let invocation = try? Invocation(.list).located(.system), invocation.directory == nil,
      case .success(let plan) = quiet.plan(
        invocation.operands[0], quiet.listingOptions(invocation)),
      plan.steps.contains(where: { $0.id == name })
    else { return nil }
    return "'oprun run \(name) \(flag)' runs the step \(quoted(name))"
  }

  /// Prints a message that is not about a location in a file.
  func say(_ message: String, help: String? = nil) {
    // The width of a terminal may change during a long command.
    errors.fitToTerminal()
    errors.write("oprun: ")
    errors.write(messageLine(message))
    errors.writeNewline()
    if let help { errors.write("  help: \(messageLine(help))\n") }
  }
}

/// The path as it is written in a command line that is quoted as a whole; nil if it would need quotes.
func wordForHelp(_ path: String) -> String? {
  let isPlain = path.utf8.count <= 80 && shellQuoted(path) == path && !path.hasPrefix("-")
  return isPlain ? path : nil
}

private func isFile(_ path: String) -> Bool {
  var status = stat()
  return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
}

/// Keeps a value until the end of the process, which comes soon: freeing the data of a large file
/// piece by piece takes a tenth of the time that reading it took.
func keepUntilExit(_ value: some Any) { _ = Unmanaged.passRetained(Kept(value: value)) }

private final class Kept {
  let value: Any

  init(value: some Any) { self.value = value }
}

/// Looks up the variables of options; nil if none is set.
private var environmentOfOptions: ((String) throws(UsageFailure) -> String?)? {
  if oprunVariableNames().isEmpty { return nil }
  return environmentText
}

/// The value of an option's variable.
private func environmentText(_ name: String) throws(UsageFailure) -> String? {
  guard let bytes = getenv(name) else { return nil }
  do throws(TextDecodingFailure) {
    return try text(of: bytes)
  } catch {
    throw .undecodable(error, of: name)
  }
}

/// The words of the command line, from the program's name on.
func commandLineWords() -> [UnsafePointer<CChar>] {
  (0..<clinux_word_count()).compactMap { clinux_word($0) }
}

func printVersion() -> Int32 {
  let output = ByteSink(descriptor: STDOUT_FILENO, capacity: 64)
  output.write("oprun ")
  output.write(version)
  output.writeNewline()
  output.flush()
  guard output.hasFailed, output.errorNumber != EPIPE else { return ExitStatus.success }
  let errors = ByteSink(descriptor: STDERR_FILENO, capacity: 256)
  errors.write("oprun: cannot write standard output: \(SystemError.reason(output.errorNumber))\n")
  errors.flush()
  return ExitStatus.cannotWrite
}
