// Makes a command, a plain value, from a step of the plan. It asks neither the machine nor the
// clock.

import Caching
import Diagnostics
import Expressions
import Masking
import Plans
import RunFiles
import Running
import Scheduling

/// Builds the commands of one run. Steps with the same settings share one environment.
struct CommandBuilder {
  /// The absolute path of the directory where oprun was started.
  let workspace: String
  /// The directory of the run. It is absolute because commands may run in other directories.
  let folder: String
  /// The path of the run's directory with a slash at the end.
  private let folderStart: String
  private let added: [EnvironmentVariable]
  private let own: [EnvironmentVariable]
  private let masker: Masker?
  private let trace: TraceContext?
  private let tracedStep: String?
  /// The default for steps that do not say whether they share slots through a jobserver; nil if
  /// none shares them.
  var sharesJobsByDefault: Bool?
  private var environments = IdentityCache<StepSettings, CommandEnvironment>()
  /// The environments of the attempts of cached steps.
  private var strippedEnvironments = IdentityCache<StepSettings, CommandEnvironment>()

  init(workspace: String, options: RunOptions) {
    self.workspace = workspace
    folder = options.folder(from: workspace)
    folderStart = folder + "/"
    added = options.environment
    masker = options.secrets.masker
    trace = options.trace
    tracedStep = options.tracedStep
    own = [
      EnvironmentVariable(.oprun, "1"), EnvironmentVariable(.runID, options.runID),
      EnvironmentVariable(.workspace, workspace),
    ]
  }

  mutating func command(
    _ key: CommandKey, _ command: OperationCommand, _ confinement: Confinement? = nil
  ) -> Command {
    let step = command.step ?? RunDirectory.runHookName
    let name = fileName(of: key, step)
    let files = RunDirectory.fileNames(of: name, key.role)
    let outputs = files.outputs
    let cache = key.role.isAttempt ? command.settings.cache : nil
    var variables: [EnvironmentVariable] = []
    variables.reserveCapacity(4 + command.variables.count)
    variables.append(EnvironmentVariable(.step, step))
    if cache == nil { variables.append(EnvironmentVariable(.attempt, String(command.attempt))) }
    variables.append(EnvironmentVariable(.output, folderStart + outputs))
    if let trace, cache == nil,
      !command.settings.environment.contains(where: { $0.name == "TRACEPARENT" })
    {
      let header = trace.header(of: key.operation, key.role)
      variables.append(EnvironmentVariable(name: "TRACEPARENT", value: header))
    }
    variables += command.variables
    var work = work(of: command.action, command.settings, &variables)
    let isTraced = isTraced(key, step)
    if isTraced { work = work.traced(into: "\(folderStart)\(outputs)\(CommandTrace.ending)") }
    return Command(
      key, work,
      in: cache.map { strippedEnvironment(of: command.settings, $0) }
        ?? environment(of: command.settings), variables: variables,
      settings: command.settings, confinement: isTraced ? confinement?.unenforced : confinement,
      sharesJobs: sharesJobs(command.settings),
      files: files)
  }

  /// True for the attempts of the step that is traced, or of its instances.
  private func isTraced(_ key: CommandKey, _ step: String) -> Bool {
    guard case .attempt = key.role else { return false }
    return isTraced(step)
  }

  /// True for the step that is traced, and for its instances.
  func isTraced(_ step: String) -> Bool {
    tracedStep.map { StepName($0).covers(step) } ?? false
  }

  /// True if a step shares slots. A step with a MAKEFLAGS of its own keeps it.
  private func sharesJobs(_ settings: StepSettings) -> Bool {
    guard let sharesJobsByDefault, settings.sharesJobs ?? sharesJobsByDefault else { return false }
    return !settings.environment.contains { $0.name == "MAKEFLAGS" }
  }

  /// The name of the file that `OPRUN_OUTPUT` names; the step is nil for the run itself.
  func outputsName(of key: CommandKey, step: String?) -> String {
    RunDirectory.outputsName(of: fileName(of: key, step ?? RunDirectory.runHookName), key.role)
  }

  func logName(of key: CommandKey, step: String?) -> String {
    RunDirectory.logName(of: fileName(of: key, step ?? RunDirectory.runHookName), key.role)
  }

  /// The id as it appears in file names, without secrets, which ids of instances may contain.
  private func fileName(of key: CommandKey, _ step: String) -> String {
    masker?.name(step, number: key.operation.index) ?? step
  }

  private func work(
    of action: Action, _ settings: StepSettings, _ variables: inout [EnvironmentVariable]
  ) -> Command.Work {
    switch action {
    case .arguments(let words) where settings.capturesOutput: .words(Self.capturing + words)
    case .script(let text) where settings.capturesOutput:
      .words(Self.capturing + Interpreter.arguments(settings.shell, script: text.string))
    case .arguments(let words): .words(words)
    case .script(let text): .script(text.string, shell: settings.shell)
    case .helper(let words): .builtin(withoutSecrets(words, &variables))
    }
  }

  /// The words before a command that send its standard output to the file of outputs. The command
  /// itself does not know the file: two writers would overwrite each other's text.
  private static let capturing = [
    "/bin/sh", "-c", #"exec >"$OPRUN_OUTPUT"; unset OPRUN_OUTPUT; exec "$@""#, "sh",
  ]

  /// Passes inputs that contain a secret through variables, because everybody can see arguments.
  private func withoutSecrets(
    _ words: [String], _ variables: inout [EnvironmentVariable]
  ) -> [String] {
    guard let masker else { return words }
    var count = 0
    return words.map { word in
      guard masker.finds(in: word), let sign = word.firstIndex(of: "="), word.hasPrefix("--")
      else { return word }
      count += 1
      let name = "OPRUN_INPUT_\(count)"
      variables.append(
        EnvironmentVariable(name: name, value: String(word[word.index(after: sign)...])))
      return "--with-env=\(word[..<sign].dropFirst(2))=\(name)"
    }
  }

  private mutating func environment(of settings: StepSettings) -> CommandEnvironment {
    let (added, own, place) = (added, own, place(of: settings))
    return environments.value(for: settings) {
      CommandEnvironment(added + place() + settings.environment + own)
    }
  }

  /// The environment of a cached step: the variables that the file gives it, those that it
  /// declares, and those that hardly any command can do without. docs/cache.md, "Variables".
  private mutating func strippedEnvironment(
    of settings: StepSettings, _ cache: CacheSettings
  ) -> CommandEnvironment {
    let (own, place) = (own, place(of: settings))
    return strippedEnvironments.value(for: settings) {
      let declared = Set(cache.environment)
      let passed = own.filter {
        $0.name == OprunVariable.oprun.rawValue || declared.contains($0.name)
      }
      return CommandEnvironment(
        place() + settings.environment + passed,
        inherited: declared.union(CachedVariables.passed))
    }
  }

  private func place(of settings: StepSettings) -> () -> [EnvironmentVariable] {
    { directory(of: settings).map { [EnvironmentVariable(name: "PWD", value: $0)] } ?? [] }
  }

  /// The absolute path of the directory, for PWD. A shell would set PWD when it starts; a command
  /// without a shell gets it from oprun.
  func directory(of settings: StepSettings) -> String? {
    settings.workingDirectory.map { $0.hasPrefix("/") ? $0 : "\(workspace)/\($0)" }
  }
}

extension RunOptions {
  /// The absolute path of the run's directory. `workspace` is where oprun was started.
  func folder(from workspace: String) -> String {
    let path = directory.path
    return path.hasPrefix("/") ? path : "\(workspace)/\(path)"
  }
}
