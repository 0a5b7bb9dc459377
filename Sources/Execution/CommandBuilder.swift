// From a step of the plan to what the kernel is given: program, arguments, environment, input.

import CLinux
import Diagnostics
import Glibc
import Masking
import Pipelines
import RunFiles
import Scheduling

/// What is run for an operation.
struct StepCommand {
  /// The id of the step, or the name of the run itself.
  let step: String
  let settings: StepSettings
  let action: Action
  let attempt: Int
  /// For this command alone.
  let variables: [String]
}

/// What a program is given.
private struct CommandArguments {
  var words: [String]
  /// For descriptor 3.
  var script: String?
  /// `NAME=value`.
  var variables: [String] = []
}

/// Builds the commands of one run. Steps with the same settings share one environment.
final class CommandBuilder {
  /// Of the run's own hooks.
  private let runSettings: StepSettings
  /// Of the run. Absolute: commands may run in other folders.
  let folder: String
  /// Where oprun was started; absolute.
  let workspace: String
  private let added: [EnvironmentVariable]
  private let masker: Masker?
  private let own: [EnvironmentVariable]
  private let nullInput: Descriptor
  /// By the settings, which are kept: another object could get the number of one that is gone.
  private var environments: [ObjectIdentifier: (StepSettings, Environment)] = [:]
  /// The program of the built-in steps, which stands beside this one.
  private let helper: String

  /// Longer texts cannot be an argument: the kernel's MAX_ARG_STRLEN is 128 KiB.
  private static let longestArgument = 131_071

  init(plan: Plan, options: RunOptions) throws(SystemError) {
    guard let folder = getcwd(nil, 0) else { throw .last("cannot find the current directory") }
    defer { free(folder) }
    workspace = String(cString: folder)
    runSettings = plan.settings
    helper = CommandBuilder.neighbour(named: "oprun-steps")
    added = options.environment
    masker = options.secrets.masker
    own = [
      EnvironmentVariable(name: "OPRUN", value: "1"),
      EnvironmentVariable(name: "OPRUN_RUN_ID", value: options.runID),
      EnvironmentVariable(name: "OPRUN_WORKSPACE", value: workspace),
    ]
    let path = options.directory.path
    self.folder = path.hasPrefix("/") ? path : "\(workspace)/\(path)"
    nullInput = try Descriptor.open("/dev/null", O_RDWR).get("cannot open '/dev/null'")
  }

  func request(
    _ key: CommandKey, _ command: StepCommand
  ) throws(SystemError) -> CommandRequest {
    let (step, settings) = (command.step, command.settings)
    let environment = self.environment(of: settings)
    let arguments = self.arguments(of: command.action, settings)
    let ownVariables =
      [
        "OPRUN_STEP=\(step)", "OPRUN_ATTEMPT=\(command.attempt)",
        "OPRUN_OUTPUT=\(folder)/\(outputsName(of: key, step: step))",
      ] + command.variables + arguments.variables
    var launch = LaunchRequest(
      programs: programs(for: arguments.words[0], environment), arguments: arguments.words,
      environment: environment,
      ownVariables: ownVariables,
      directory: settings.workingDirectory, input: nullInput.number, output: -1, script: nil,
      nice: settings.nice)
    launch.script = try arguments.script.map { text throws(SystemError) in try memoryFile(text) }
    if let text = settings.standardInput { launch.input = try memoryFile(text) }
    return CommandRequest(
      key: key, settings: settings, launch: launch,
      logName: logName(of: key, step: step))
  }

  /// The file behind `OPRUN_OUTPUT`.
  func outputsName(of key: CommandKey, step: String) -> String {
    RunDirectory.outputsName(of: fileName(of: key, step), key.trial)
  }

  func logName(of key: CommandKey, step: String) -> String {
    RunDirectory.logName(of: fileName(of: key, step), key.trial)
  }

  /// Ids of instances may hold secrets; names of files do not.
  private func fileName(of key: CommandKey, _ step: String) -> String {
    masker?.name(step, number: key.operation.index) ?? step
  }

  /// Closes what was opened for this request alone; the new process has its own copies.
  func release(_ request: CommandRequest) {
    if let script = request.launch.script { close(script) }
    if request.launch.input != nullInput.number { close(request.launch.input) }
  }

  /// A plain command is executed directly; a script that is too long for an argument is read by
  /// the shell from descriptor 3.
  private func arguments(of action: Action, _ settings: StepSettings) -> CommandArguments {
    switch action {
    case .arguments(let words): return CommandArguments(words: words)
    case .helper(let words): return helperArguments(words)
    case .script(let text):
      if settings.shell == StepSettings.defaultShell, let words = directArguments(of: text) {
        return CommandArguments(words: words)
      }
      if text.utf8.count > CommandBuilder.longestArgument {
        return CommandArguments(words: settings.shell + ["/dev/fd/3"], script: text)
      }
      return CommandArguments(words: settings.shell + ["-c", text])
    }
  }

  /// Inputs that hold a secret go through variables: everybody can see arguments.
  private func helperArguments(_ words: [String]) -> CommandArguments {
    var arguments = CommandArguments(words: [helper])
    for word in words {
      guard let masker, masker.finds(in: word), let sign = word.firstIndex(of: "="),
        word.hasPrefix("--")
      else {
        arguments.words.append(word)
        continue
      }
      let variable = "OPRUN_INPUT_\(arguments.variables.count + 1)"
      arguments.variables.append("\(variable)=\(word[word.index(after: sign)...])")
      arguments.words.append("--with-env=\(word[..<sign].dropFirst(2))=\(variable)")
    }
    return arguments
  }

  private func programs(for name: String, _ environment: Environment) -> [String] {
    name.contains("/") ? [name] : environment.searchPath.map { "\($0)/\(name)" }
  }

  private func environment(of settings: StepSettings) -> Environment {
    if let known = environments[ObjectIdentifier(settings)] { return known.1 }
    let place = directory(of: settings).map { [EnvironmentVariable(name: "PWD", value: $0)] } ?? []
    let made = Environment(adding: added + place + settings.environment + own)
    environments[ObjectIdentifier(settings)] = (settings, made)
    return made
  }

  /// A shell would set PWD when it starts; a command without one sees what we say.
  private func directory(of settings: StepSettings) -> String? {
    settings.workingDirectory.map { $0.hasPrefix("/") ? $0 : "\(workspace)/\($0)" }
  }

  /// A program in the folder of this one.
  private static func neighbour(named name: String) -> String {
    guard let path = realpath("/proc/self/exe", nil) else { return name }
    defer { free(path) }
    let own = String(cString: path)
    return own.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/" + name
  }

  /// A file that is nowhere but in memory, at its start, holding the text.
  private func memoryFile(_ text: String) throws(SystemError) -> Int32 {
    let file = clinux_memory_file("oprun")
    guard file >= 0 else { throw SystemError("cannot keep a text in memory", errno: -file) }
    var text = text
    let isWritten = text.withUTF8 { bytes in
      write(file, bytes.baseAddress, bytes.count) == bytes.count
    }
    guard isWritten else {
      let error = SystemError.last("cannot keep a text in memory")
      close(file)
      throw error
    }
    lseek(file, 0, SEEK_SET)
    return file
  }
}
