// The messages about options that a command does not have.

import Diagnostics

extension UsageFailure {
  /// `value` is the word after it, if it may belong to it.
  static func unknownOption(
    _ flag: String, value: String? = nil, of command: Subcommand
  ) -> UsageFailure {
    let known = (command.options + [Options.help, Options.version]).map(\.flag)
    let meant = suggestion(for: flag, among: known) ?? onlyFlag(beginningWith: flag, among: known)
    var failure = UsageFailure(
      "unknown option \(quoted(flag))",
      help: didYouMean(meant) ?? ForeignOption.help(for: flag, in: command)
        ?? ownersHelp(flag) ?? commandOfThatName(flag)
        ?? parameterHelp(flag, value, command),
      command: command.name)
    if Subcommand.run.options.contains(where: { $0.isWritten(flag) }) { failure.optionOfRun = flag }
    return failure
  }

  /// `--dry` can only mean `--dry-run`.
  private static func onlyFlag(beginningWith flag: String, among known: [String]) -> String? {
    let fewest = 5
    let found = known.filter { $0.hasPrefix(flag) }
    return flag.utf8.count >= fewest && found.count == 1 ? found[0] : nil
  }

  /// Other commands have it.
  private static func ownersHelp(_ flag: String) -> String? {
    let owners = Subcommand.all.filter { other in
      other.options.contains { $0.isWritten(flag) }
    }
    guard !owners.isEmpty else { return nil }
    return "it is an option of \(inWords(owners.map { "'oprun \($0.name)'" }, last: "and"))"
  }

  /// `-dry-run`, with one dash.
  static func missingDash(_ word: String, of command: Subcommand) -> UsageFailure {
    UsageFailure(
      "unknown option \(quoted(word))", help: didYouMean("-\(word)"), command: command.name)
  }

  /// `--watch`, where the command `watch` is meant.
  private static func commandOfThatName(_ flag: String) -> String? {
    guard flag.hasPrefix("--"),
      let meant = Subcommand.all.first(where: { $0.name == flag.dropFirst(2) })
    else { return nil }
    return didYouMean("oprun \(meant.name)")
  }

  private static func parameterHelp(
    _ flag: String, _ value: String?, _ command: Subcommand
  ) -> String? {
    let name = flag.dropFirst(2)
    guard command.takesParameters, flag.hasPrefix("--"), isParameterName(name) else { return nil }
    return settingParameter("\(name)=\(value ?? "VALUE")")
  }

  private static func settingParameter(_ assignment: String) -> String {
    let shown = assignment.contains(" ") ? quoted(assignment) : printable(assignment)
    return "set a parameter with --param \(shown)"
  }

  /// The failure for `name=value` in the place of a step, because no step id has that form.
  static func parameterAsOperand(_ text: String, of command: Subcommand) -> UsageFailure {
    UsageFailure(
      "\(quoted(text)) is not a step", help: settingParameter(text), command: command.name)
  }

  /// Whether a word is `name=value`.
  static func isAssignment(_ text: String) -> Bool {
    text.firstIndex(of: "=").map { isParameterName(text[..<$0]) } ?? false
  }

  private static func isParameterName(_ text: some StringProtocol) -> Bool {
    guard let first = text.unicodeScalars.first, first.properties.isAlphabetic || first == "_"
    else { return false }
    return text.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || $0 == "-" || ("0"..."9" ~= $0))
    }
  }

  /// A file name that was forgotten makes the next argument one.
  static func overwritesPipeline(
    _ path: String, _ option: Option, _ command: Subcommand
  ) -> UsageFailure {
    UsageFailure(
      "'\(option.flag)' wants a file to write, but \(quoted(path)) looks like a pipeline",
      help: "name the file to write, too: \(option.flag) FILE \(printable(path))",
      command: command.name)
  }

  static func overwritesSource(
    _ path: String, _ option: Option, _ command: Subcommand
  ) -> UsageFailure {
    UsageFailure(
      "'\(option.flag)' wants a file to write, but \(quoted(path)) is one that was read",
      help: "name another file", command: command.name)
  }

  static func sameFile(_ path: String, _ first: Option, _ second: Option) -> UsageFailure {
    UsageFailure(
      "'\(first.flag)' and '\(second.flag)' cannot both write \(quoted(path))",
      help: "name two files", command: Subcommand.run.name)
  }
}

/// An option of other tools, and what it is called here.
private struct ForeignOption {
  let flags: [String]
  /// The option with the same meaning, and its value.
  var option: Option?
  var value = ""
  /// What to do where no option has that meaning.
  var advice = ""

  private static let all = [
    ForeignOption(
      flags: ["--quiet", "--silent", "-q", "-s"], option: Options.output, value: "quiet"),
    ForeignOption(flags: ["--no-color", "--no-colour"], option: Options.color, value: "never"),
    ForeignOption(
      flags: ["--parallel", "--parallelism", "--concurrency", "--max-parallel", "--workers"],
      option: Options.jobs, value: "N"),
    ForeignOption(
      flags: ["--var", "--vars", "--set", "--arg", "-D"], option: Options.param, value: "NAME=VALUE"
    ),
    ForeignOption(
      flags: ["--force", "--always-make", "--always", "-B"], option: Options.refresh),
    ForeignOption(
      flags: ["--just-print", "--recon", "--simulate", "--plan"], option: Options.dryRun),
    ForeignOption(flags: ["--json"], option: Options.graphFormat, value: "json"),
    ForeignOption(flags: ["--json"], option: Options.output, value: "json"),
    ForeignOption(flags: ["-V"], option: Options.version),
    ForeignOption(
      flags: ["--keep-going", "-k", "-i", "--ignore-errors"],
      advice: "a run continues after a failure; '--fail-fast' ends it"),
    ForeignOption(
      flags: ["--directory", "--chdir", "--cwd", "--working-directory", "-C"],
      advice: "change the directory first: cd DIR && oprun"),
    ForeignOption(
      flags: ["--file", "--makefile", "--justfile", "--taskfile", "-f"],
      advice: "the pipeline file is the first argument: oprun FILE"),
    ForeignOption(flags: ["-l"], advice: didYouMean("oprun list")),
    ForeignOption(flags: ["-w"], advice: didYouMean("oprun watch")),
    ForeignOption(
      flags: ["--env", "-e"], advice: "set the variable for oprun: NAME=VALUE oprun FILE"),
  ]

  static func help(for flag: String, in command: Subcommand) -> String? {
    let known = command.options + [Options.help, Options.version]
    for foreign in all where foreign.flags.contains(flag) {
      guard let option = foreign.option else {
        if command.takesFile { return foreign.advice }
        continue
      }
      guard known.contains(where: { $0.flag == option.flag && $0.takes(foreign.value) }) else {
        continue
      }
      let value = foreign.value.isEmpty ? "" : " " + foreign.value
      return didYouMean("\(option.flag)\(value)")
    }
    return nil
  }
}

extension Option {
  /// Whether the option accepts a value; anything where it is not one of a few words.
  fileprivate func takes(_ word: String) -> Bool {
    guard case .choice(let words) = value else { return true }
    return words.contains(word)
  }
}
