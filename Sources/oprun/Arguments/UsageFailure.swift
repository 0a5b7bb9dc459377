// The messages about command lines. All wording of this phase is here.

import BuiltinSteps
import Diagnostics

/// Why a command is not performed: a mistake on the command line or in an environment variable, or
/// state that cannot be used.
struct UsageFailure: Error, Hashable {
  var message: String
  var help: String?
  /// The command whose help has more information; nil for that of oprun.
  var command: String?
  /// The first operand, which may be the pipeline whose parameters help would list.
  var file: String?
  /// The unknown option of another command that `run` has: the word before it may be meant as a step.
  var optionOfRun: String?
  /// The exit status; by default that of a mistake on the command line.
  var status = ExitStatus.usage
  /// The other mistakes of the same command line.
  var others: [UsageFailure] = []

  init(_ message: String, help: String? = nil, command: String? = nil) {
    self.message = message
    self.help = help
    self.command = command
  }

  /// The failure for a state directory, or a database in it, that cannot be used.
  static func unusableState(_ message: String, help: String?) -> UsageFailure {
    var failure = UsageFailure(message, help: help)
    failure.status = ExitStatus.cannotWrite
    return failure
  }

  static func needs(_ flag: String, _ option: Option, _ command: Subcommand) -> UsageFailure {
    UsageFailure(
      "'\(option.flag)' has no effect without '\(flag)'", help: "add '\(flag)'",
      command: command.name)
  }

  static func waitsForNothing(_ command: Subcommand) -> UsageFailure {
    UsageFailure(
      "'\(Options.noWait.flag)' has no effect without '\(Options.lock.flag)', or 'mutex: pipeline' in the "
        + "file", help: "add '\(Options.lock.flag)'", command: command.name)
  }

  static func detachesNothing(_ command: Subcommand) -> UsageFailure {
    UsageFailure(
      "'\(Options.detach.flag)' has no effect: no step is a job of its own in Slurm",
      help: "leave it out, or add '\(Options.executor.flag) slurm'", command: command.name)
  }

  static func excludes(_ flag: String, _ option: Option, _ command: Subcommand) -> UsageFailure {
    UsageFailure(
      "'\(option.flag)' and '\(flag)' cannot be given together", help: "leave one of them out",
      command: command.name)
  }

  static func excludesVariable(
    _ other: Option, _ option: Option, _ command: Subcommand
  ) -> UsageFailure {
    UsageFailure(
      "the variables \(option.variable) and \(other.variable) cannot be set together",
      help: "unset one of them", command: command.name)
  }

  /// The first of several failures, with the others in it.
  static func all(_ mistakes: [UsageFailure]) -> UsageFailure? {
    guard var first = mistakes.first else { return nil }
    first.others = Array(mistakes.dropFirst())
    return first
  }

  /// The failure for an option without its value. `next` is the option in place of the value.
  static func missingValue(
    of option: Option, _ kind: ValueKind, before next: String?, _ command: Subcommand
  ) -> UsageFailure {
    var help: String?
    if case .text = kind, let next {
      help = "if \(quoted(next)) is the value, write \(quoted("\(option.flag)=\(next)"))"
    }
    return UsageFailure(
      "'\(option.flag)' needs a value: \(kind.wanted)", help: help, command: command.name)
  }

  /// The failure for changes that git cannot tell.
  static func unknownChanges(
    since reference: String, _ reason: String, help: String?, _ command: Subcommand
  ) -> UsageFailure {
    UsageFailure(
      "cannot find the changes since \(quoted(reference)): \(reason)", help: help,
      command: command.name)
  }

  static func emptyOperand(of command: Subcommand) -> UsageFailure {
    UsageFailure(
      "an argument is empty, so it names no file and no step",
      help: "look for a quoted shell variable without a value", command: command.name)
  }

  static func unwantedValue(of option: Option, found: String, _ command: Subcommand) -> UsageFailure
  {
    let meant = Subcommand.named(option.name).map { "oprun \($0.name) \(found)" }
    return UsageFailure(
      "'\(option.flag)' takes no value, found \(quoted(found))",
      help: didYouMean(meant) ?? "write '\(option.flag)' alone, or leave it out",
      command: command.name)
  }

  /// The failure for a value. `source` is the flag or the variable that it came from.
  static func wrongValue(
    _ text: String, for kind: ValueKind, from source: String, _ command: Subcommand
  ) -> UsageFailure {
    UsageFailure(
      "'\(source)' wants \(kind.wanted), found \(quoted(text))", help: kind.help(for: text, source),
      command: command.name)
  }

  static func wrongSwitch(_ text: String, from variable: String, _ command: Subcommand)
    -> UsageFailure
  {
    UsageFailure("'\(variable)' wants 1 or 0, found \(quoted(text))", command: command.name)
  }

  static func undecodable(_ argument: TextDecodingFailure) -> UsageFailure {
    UsageFailure("the argument '\(argument.shown)' is not UTF-8", help: forBytes)
  }

  static func undecodable(_ value: TextDecodingFailure, of variable: String) -> UsageFailure {
    UsageFailure("'\(variable)' is not UTF-8, found '\(value.shown)'", help: forBytes)
  }

  static func unnamable(directory: String) -> UsageFailure {
    UsageFailure(
      "the path of the current directory is not UTF-8: it contains '\(directory)'",
      help: "rename that directory: steps would get another path")
  }

  private static let forBytes = "pass bytes that are not UTF-8 in a file, or in Base64"

  static func missingOperand(of command: Subcommand) -> UsageFailure {
    let wanted = command.operands.split(separator: " ").filter { !$0.hasPrefix("[") }
    return UsageFailure(
      "'oprun \(command.name)' needs \(wanted.joined(separator: " "))", command: command.name)
  }

  static func missingStep(of command: Subcommand) -> UsageFailure {
    UsageFailure("'oprun \(command.name)' needs a step", command: command.name)
  }

  static func severalTraced(_ word: String, _ first: String, _ other: String) -> UsageFailure {
    UsageFailure(
      "\(quoted(word)) stands for several steps, each with its own 'cache'",
      help: "name one of them, such as \(printable(first)) or \(printable(other))",
      command: Subcommand.trace.name)
  }

  static func tracedService(_ step: String) -> UsageFailure {
    UsageFailure(
      "\(quoted(step)) is a service, which cannot be cached: it has no result",
      help: "trace a step that ends", command: Subcommand.trace.name)
  }

  static func extraOperand(_ operand: String, of command: Subcommand) -> UsageFailure {
    let most = command.operands.filter { $0 != "[" && $0 != "]" }
    let wanted = most.isEmpty ? "no arguments" : "no more than \(most)"
    return UsageFailure(
      "'oprun \(command.name)' takes \(wanted), found \(quoted(operand))",
      command: command.name)
  }

  /// The failure for a step that is not in the pipeline, or not among the selected ones.
  static func unknownStep(
    _ id: String, for option: Option, among ids: some Sequence<String>
  ) -> UsageFailure {
    UsageFailure(
      "'\(option.flag)' wants the id of a step that runs, found \(quoted(id))",
      help: didYouMean(suggestion(for: id, among: ids)),
      command: Subcommand.run.name)
  }

  /// The failure for a step that has instances, or the steps of another pipeline.
  static func severalStatuses(_ id: String, for option: Option) -> UsageFailure {
    UsageFailure(
      "'\(option.flag)' wants a step with one command, but \(quoted(id)) stands for several",
      command: Subcommand.run.name)
  }

  /// The failure for a descriptor that is not open. `words` is the value of `--events`.
  static func closedEventDescriptor(_ words: String) -> UsageFailure {
    UsageFailure(
      "'--events' wants a descriptor that is open, found \(quoted(words))",
      help: "in a shell: oprun FILE --events fd:3 3>events.ndjson", command: Subcommand.run.name)
  }

  static func unwritableEventDescriptor(_ words: String) -> UsageFailure {
    UsageFailure(
      "'--events' wants a descriptor to write to, but \(quoted(words)) is open for reading only",
      command: Subcommand.run.name)
  }

  static let eventsAmongMessages = UsageFailure(
    "'--events' cannot use standard error, where messages go", help: "use a file, '-' or 'fd:3'",
    command: Subcommand.run.name)

  static func eventsAmongOutput(_ mode: String) -> UsageFailure {
    UsageFailure(
      "'--output \(mode)' and '--events' cannot both write to standard output",
      help: "write the events to a file, or leave '--output' out", command: Subcommand.run.name)
  }

  static let standardInputWatched = UsageFailure(
    "a pipeline from standard input cannot be watched", help: "put it in a file",
    command: Subcommand.watch.name)

  /// The failure for an unknown command. `file` is a pipeline here that has another name.
  static func unknownCommand(_ name: String, besides file: String?) -> UsageFailure {
    guard let close = closestCommand(to: name) else {
      return UsageFailure(
        "unknown command \(quoted(name)), and no step either: there is no 'oprun.yml' or 'pipeline.yml' here or in a "
          + "directory above",
        help: file.map { "name the file first: oprun \($0) \(printable(name))" })
    }
    return UsageFailure("unknown command \(quoted(name))", help: didYouMean("oprun \(close)"))
  }

  static func fileComesFirst(_ word: String, _ file: String, _ command: Subcommand) -> UsageFailure
  {
    UsageFailure(
      "\(quoted(word)) stands in the place of the file", help: fileFirst(file, word, command))
  }

  static func fileFirst(_ file: String, _ step: String, _ command: Subcommand) -> String {
    "the file comes before its steps: \(command.shortestCall) \(printable(file)) \(printable(step))"
  }

  /// The command that another tool's or a mistyped one means, in words after `oprun`.
  static func closestCommand(to name: String) -> String? {
    ForeignCommand.meaning(of: name) ?? suggestion(for: name, among: Subcommand.all.map(\.name))
  }

  static func unknownTopic(_ name: String) -> UsageFailure {
    let help =
      Invocation.isFileName(name)
      ? "'oprun \(printable(name)) --help' shows the parameters of a pipeline"
      : didYouMean(
        closestCommand(to: name).flatMap(Subcommand.named).map { "oprun help \($0.name)" })
    return UsageFailure("unknown command \(quoted(name))", help: help)
  }

  static func unknownShell(_ word: String, _ command: Subcommand) -> UsageFailure {
    let shells = CompletionShell.allCases.map(\.rawValue)
    return UsageFailure(
      "no completions for \(quoted(word)), only for \(inWords(shells, last: "and"))",
      help: didYouMean(suggestion(for: word, among: shells)),
      command: command.name)
  }

  /// The failure for a missing file. `file` is a pipeline here that has another name.
  static func noFile(_ command: Subcommand, besides file: String?) -> UsageFailure {
    UsageFailure(
      "no 'oprun.yml' or 'pipeline.yml' here or in a directory above",
      help: file.map { "name the file, as in '\(command.shortestCall) \($0)'" }
        ?? "'oprun init' writes a first one; name another file, as in '\(command.shortestCall) ci/build.yml'",
      command: command.name)
  }

  static func neitherFileNorStep(
    _ word: String, _ command: Subcommand, besides file: String?
  ) -> UsageFailure {
    UsageFailure(
      "\(quoted(word)) is neither a file nor a step in an 'oprun.yml' or 'pipeline.yml' here or in a "
        + "directory above",
      help: file.map { "name the file first: \(command.shortestCall) \($0) \(printable(word))" },
      command: command.name)
  }

  /// The failure for a file in a directory above, which the command line does not name.
  static func foreignFile(_ path: String) -> UsageFailure {
    UsageFailure(
      "\(quoted(path)) belongs to another user and is run only if it is named",
      help: "if you trust it, name it: oprun \(printable(path))")
  }
}
