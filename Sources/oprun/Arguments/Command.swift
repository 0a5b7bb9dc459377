// The commands, and what each accepts.

/// A command of oprun.
struct Command: Sendable {
  let name: String
  /// The operands after the options: `FILE [STEP…]`.
  let operands: String
  let operandCount: ClosedRange<Int>
  let summary: String
  /// Further lines of help.
  let details: String
  let options: [Option]

  /// The synopsis: `run [OPTION…] FILE [STEP…]`.
  var synopsis: String {
    let words = [name, options.isEmpty ? "" : "[OPTION…]", operands]
    return words.filter { !$0.isEmpty }.joined(separator: " ")
  }

  static let run = Command(
    name: "run", operands: "[FILE] [STEP…]", operandCount: 0...Int.max,
    summary: "run a pipeline, or some of its steps and everything they need",
    details: """
      FILE is a pipeline file, or - for standard input. 'oprun FILE' means the same. Without FILE it is
      oprun.yml or pipeline.yml, here or in the nearest directory above, and runs in its directory.
      Without STEP, the steps that 'default' in the file names run, or every step that is not 'manual'.
      A signal such as INT or TERM ends the run: steps get TERM, then KILL after their grace period;
      a second signal kills at once.
      'oprun run FILE --help' also lists the parameters of the pipeline.
      """,
    options: [
      Options.param, Options.jobs, Options.dryRun, Options.verbose, Options.exitCode,
      Options.failFast, Options.failurePolicy,
      Options.strict, Options.timeout, Options.exitCodeFrom, Options.output, Options.events,
      Options.junit, Options.report, Options.summary, Options.trace,
      Options.outputs, Options.ci, Options.color, Options.ascii, Options.stateDirectory,
    ])

  static let graph = Command(
    name: "graph", operands: "[FILE] [STEP…]", operandCount: 0...Int.max,
    summary: "show how the steps depend on each other",
    details: "",
    options: [Options.param, Options.graphFormat, Options.ascii, Options.color])

  static let validate = Command(
    name: "validate", operands: "[FILE…]", operandCount: 0...Int.max,
    summary: "check pipeline files without running anything",
    details: """
      All errors in a file are shown at once. 'json' writes one object per line, 'github' writes
      annotations for GitHub Actions, which shows only ten of them.
      """,
    options: [Options.reportFormat, Options.color])

  static let list = Command(
    name: "list", operands: "[FILE]", operandCount: 0...1,
    summary: "list the steps of a pipeline in file order",
    details: "",
    options: [Options.param, Options.json])

  static let schema = Command(
    name: "schema", operands: "", operandCount: 0...0,
    summary: "write the JSON schema of pipeline files, for editors",
    details: "",
    options: [])

  static let help = Command(
    name: "help", operands: "[COMMAND]", operandCount: 0...1,
    summary: "show the help of oprun or of one of its commands",
    details: "", options: [])

  static let all = [run, graph, validate, list, schema, help]

  /// Commands that are known by name but do not exist yet.
  static let later = [
    "resume", "watch", "history", "show", "logs", "status", "pause", "continue", "cancel", "set",
    "prune", "why", "report", "init", "completions",
  ]

  var takesFile: Bool { operands.hasPrefix("[FILE") }

  var takesSteps: Bool { operands.hasSuffix("[STEP…]") }

  var takesParameters: Bool { options.contains { $0.name == Options.param.name } }

  static func named(_ name: String) -> Command? { all.first { $0.name == name } }
}
