// The messages about options that a command does not have.

import Diagnostics

extension UsageFailure {
  /// The failure for an unknown option. `value` is the word after it, if that may belong to it.
  static func unknownOption(
    _ flag: String, value: String? = nil, of command: Subcommand
  ) -> UsageFailure {
    let known = (command.options + [Options.help, Options.version]).map(\.flag)
    let meant = suggestion(for: flag, among: known) ?? onlyFlag(beginningWith: flag, among: known)
    var failure = UsageFailure(
      "unknown option \(quoted(flag))",
      help: didYouMean(meant) ?? batchHelp(flag, command)
        ?? ForeignOption.help(for: flag, in: command)
        ?? ownersHelp(flag) ?? commandOfThatName(flag)
        ?? parameterHelp(flag, value, command),
      command: command.name)
    if Subcommand.run.options.contains(where: { $0.isWritten(flag) }) { failure.optionOfRun = flag }
    return failure
  }

  /// The help for an option that is probably one of `sbatch`, because no other command has it.
  private static func batchHelp(_ flag: String, _ command: Subcommand) -> String? {
    guard command.rest == Subcommand.batchOptions, ownersHelp(flag) == nil else { return nil }
    return "options of sbatch come after '--': -- \(printable(flag))"
  }

  /// The only flag that begins like this: `--dry-run` for `--dry`.
  private static func onlyFlag(beginningWith flag: String, among known: [String]) -> String? {
    let fewest = 5
    let found = known.filter { $0.hasPrefix(flag) }
    return flag.utf8.count >= fewest && found.count == 1 ? found[0] : nil
  }

  /// The help for an option that other commands have.
  private static func ownersHelp(_ flag: String) -> String? {
    let owners = Subcommand.all.filter { other in
      other.options.contains { $0.isWritten(flag) }
    }
    guard !owners.isEmpty else { return nil }
    let names = owners.map { "'oprun \($0.name)'" }
    let few = 6
    return "it is an option of "
      + (names.count > few ? firstNames(of: names, most: 3) : inWords(names, last: "and"))
  }

  /// The failure for an option with one dash too few: `-dry-run`.
  static func missingDash(_ word: String, of command: Subcommand) -> UsageFailure {
    UsageFailure(
      "unknown option \(quoted(word))", help: didYouMean("-\(word)"), command: command.name)
  }

  /// The command that is meant by an option of its name: `watch` for `--watch`.
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

  /// The failure for `name=value` in place of a step, because no step id has that form.
  static func parameterAsOperand(_ text: String, of command: Subcommand) -> UsageFailure {
    UsageFailure(
      "\(quoted(text)) is not a step", help: settingParameter(text), command: command.name)
  }

  /// True if a word is `name=value`.
  static func isAssignment(_ text: String) -> Bool {
    text.firstIndex(of: "=").map { isParameterName(text[..<$0]) } ?? false
  }

  static func isParameterName(_ text: some StringProtocol) -> Bool {
    guard let first = text.unicodeScalars.first, first.properties.isAlphabetic || first == "_"
    else { return false }
    return text.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || $0 == "-" || ("0"..."9" ~= $0))
    }
  }

  /// The failure for an option whose file is a pipeline: its file name was forgotten, so it took
  /// the next argument.
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
