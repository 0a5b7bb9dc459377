// Words of other tools: options and commands of make, ninja, just, task, cargo and the like, and
// their equivalents here.

import Diagnostics

/// An option of other tools, and its equivalent here.
struct ForeignOption {
  private let flags: [String]
  /// The option with the same meaning, and its value.
  private var option: Option?
  private var value = ""
  /// Advice where no option has that meaning, and the command that it is for; nil for those that
  /// read a pipeline.
  private var advice = ""
  private var command: String?

  private static let all = [
    ForeignOption(
      flags: ["--quiet", "--silent", "-q", "-s"], option: Options.output, value: "quiet"),
    ForeignOption(flags: ["--no-color", "--no-colour"], option: Options.color, value: "never"),
    ForeignOption(
      flags: [
        "--parallel", "--parallelism", "--concurrency", "--max-parallel", "--workers", "--cores",
        "-P",
      ], option: Options.jobs, value: "N"),
    ForeignOption(
      flags: ["--var", "--vars", "--set", "--arg", "-D"], option: Options.param, value: "NAME=VALUE"
    ),
    ForeignOption(
      flags: ["--force", "--always-make", "--always", "--rerun", "-B"], option: Options.refresh),
    ForeignOption(
      flags: ["--just-print", "--recon", "--simulate", "--plan"], option: Options.dryRun),
    ForeignOption(flags: ["-n", "--dry-run"], option: Options.check),
    ForeignOption(
      flags: ["-n", "--lines", "--max-count", "--last"], option: Options.limit, value: "N"),
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
    ForeignOption(
      flags: ["--target", "--task", "--step", "--only", "--until"],
      advice: "steps are named after the file, and run with what they need: oprun FILE STEP"),
    ForeignOption(flags: ["-l", "-a", "--list-all"], advice: didYouMean("oprun list")),
    ForeignOption(flags: ["-w"], advice: didYouMean("oprun watch")),
    ForeignOption(
      flags: ["-t"], advice: "tools are commands here: 'oprun graph', 'oprun list', 'oprun prune'"),
    ForeignOption(
      flags: ["-d", "--debug", "--explain"],
      advice: "'oprun --dry-run' and 'oprun why' say why a step would run"),
    ForeignOption(
      flags: ["--env", "-e"], advice: "set the variable for oprun: NAME=VALUE oprun FILE"),
    ForeignOption(
      flags: ["-n", "--tail", "--lines"], advice: "cut them: oprun logs STEP | tail -n N",
      command: "logs"),
  ]

  static func help(for flag: String, in command: Subcommand) -> String? {
    let known = command.options + [Options.help, Options.version]
    for foreign in all where foreign.flags.contains(flag) {
      guard let option = foreign.option else {
        if foreign.command.map({ $0 == command.name }) ?? command.takesFile {
          return foreign.advice
        }
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

/// Commands of other tools, and the words for them after `oprun`.
enum ForeignCommand {
  private static let all: [(words: [String], meaning: String)] = [
    (["check", "lint", "verify"], "validate"), (["ls", "tasks", "steps"], "list"),
    (["start", "exec", "execute"], "run"), (["plan", "dry-run"], "run --dry-run"),
    (["stop", "abort", "kill"], "cancel"), (["unpause"], "continue"), (["rerun"], "resume"),
    (["runs", "ps"], "history"), (["describe", "inspect"], "show"), (["format"], "fmt"),
    (["clean", "gc"], "prune"), (["new", "create"], "init"), (["version"], "--version"),
  ]

  static func meaning(of word: String) -> String? {
    all.first { $0.words.contains(word) }?.meaning
  }
}

extension Option {
  /// True if the option accepts a value: one of its words, or anything if it has none.
  fileprivate func takes(_ word: String) -> Bool {
    guard case .choice(let words) = value else { return true }
    return words.contains(word)
  }
}
