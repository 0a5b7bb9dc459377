// The commands, and the operands and options of each.

import Plans

/// A command of oprun.
struct Subcommand: Sendable {
  let name: String
  /// The operands after the options: `FILE [STEP…]`.
  let operands: String
  let operandCount: ClosedRange<Int>
  let summary: String
  /// Further lines of help.
  let details: String
  let options: [Option]
  /// The placeholder for the words after `--`, if they are not operands: `SBATCH-OPTION…`.
  var rest: String?
  /// Performs the command; returns the exit status.
  let perform: @Sendable (Tool) -> (Invocation) throws(UsageFailure) -> Int32

  /// The synopsis: `run [OPTION…] FILE [STEP…]`.
  var synopsis: String {
    let words = [
      name, options.isEmpty ? "" : "[OPTION…]", operands, rest.map { "[-- \($0)]" } ?? "",
    ]
    return words.filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// The placeholder for words after `--` that are for the commands of the pipeline.
  static let arguments = "ARGUMENT…"
  /// The placeholder for words after `--` that are for sbatch.
  static let batchOptions = "SBATCH-OPTION…"

  static let run = Subcommand(
    name: "run", operands: "[FILE] [STEP…]", operandCount: 0...Int.max,
    summary: "run a pipeline, or some of its steps and everything they need",
    details: """
      FILE is a pipeline file, or - for standard input. 'oprun FILE' means the same. Without FILE it is
      oprun.yml or pipeline.yml, here or in the nearest directory above, and runs in its directory.
      Without STEP, the steps that 'default' in the file names run, or every step that is not 'manual'.
      A signal such as INT or TERM ends the run: steps get TERM, then KILL after their grace period;
      a second signal kills at once. Jobs in Slurm go on after HUP: 'oprun resume' waits
      for them. After a second signal, oprun no longer waits for its jobs.
      'oprun run FILE --help' also lists the parameters of the pipeline. ARGUMENTs are for the
      parameter that says 'rest: true'.
      """,
    options: [
      Options.param, Options.jobs, Options.dryRun, Options.verbose, Options.exitCode,
      Options.failFast, Options.failurePolicy,
      Options.strict, Options.timeout, Options.exitCodeFrom, Options.output, Options.events,
      Options.junit, Options.report, Options.summary, Options.trace,
      Options.outputs, Options.ci, Options.color, Options.ascii, Options.stateDirectory,
      Options.durable, Options.lock, Options.noWait, Options.noCache, Options.refresh,
      Options.showCached, Options.cacheURL, Options.sharedCache, Options.resume, Options.affected,
      Options.jobserver, Options.executor, Options.detach,
    ], rest: arguments, perform: Tool.run)

  private static let someRun = """
    RUN is a run as 'oprun history' lists it, the beginning or the end of its name, or 'last'.
    Without RUN it is the last one.
    """
  private static let stepFirst =
    "The first word is a step if the last run has it, unless it is 'last' or begins with a digit."

  static let resume = Subcommand(
    name: "resume", operands: "[RUN]", operandCount: 0...1,
    summary: "run what failed or did not run in an earlier run, and keep what succeeded",
    details: """
      \(someRun)
      A step is kept, with its outputs, if it succeeded, is unchanged in the file, and nothing that
      it depends on runs again. What is kept and what runs is shown first. Parameters and named steps
      are those of the run; --param changes parameters.
      If the run succeeded, nothing runs.
      """,
    options: [
      Options.from, Options.only, Options.until, Options.skip, Options.failed,
    ] + run.options.filter { $0.name != Options.resume.name && $0.name != Options.affected.name },
    perform: Tool.resume)

  static let submit = Subcommand(
    name: "submit", operands: "[FILE] [STEP…]", operandCount: 0...Int.max,
    summary: "run a pipeline as one job of Slurm, on all nodes of the job",
    details: """
      The pipeline is checked, and submitted with the options of sbatch after '--', which say how many
      nodes, processors and hours the job gets. Steps are processes on these nodes. A job that Slurm
      starts again, after a node has failed for example, resumes the run. 'oprun status', 'logs' and
      'cancel' work from every machine that sees the state directory.
      """,
    options: SubmittedRun.passed + [Options.submitNothing, Options.stateDirectory],
    rest: batchOptions,
    perform: Tool.submit)

  static let doctor = Subcommand(
    name: "doctor", operands: "", operandCount: 0...0,
    summary: "check whether this machine, or a cluster, has what runs need",
    details: """
      With '--executor slurm' the commands of Slurm, its controller and its limits are examined, and a
      small job is submitted with the options of sbatch after '--'. It shows whether nodes see the state
      directory and can run oprun. The exit status is 1 if something has failed.
      """,
    options: [Options.examined, Options.json, Options.stateDirectory], rest: batchOptions,
    perform: Tool.doctor)

  static let history = Subcommand(
    name: "history", operands: "", operandCount: 0...0,
    summary: "list runs, the newest first",
    details: "",
    options: [Options.limit, Options.json, Options.stateDirectory],
    perform: Tool.history)

  static let show = Subcommand(
    name: "show", operands: "[RUN] [STEP…]", operandCount: 0...Int.max,
    summary: "show how a run went, or some of its steps with their attempts and outputs",
    details: someRun + "\n" + stepFirst,
    options: [Options.json, Options.stateDirectory],
    perform: Tool.show)

  static let logs = Subcommand(
    name: "logs", operands: "[RUN] [STEP…]", operandCount: 0...Int.max,
    summary: "print what the steps of a run, or some of them, have printed",
    details: """
      \(someRun)
      \(stepFirst)
      With --json, the files are listed instead.
      """,
    options: [Options.follow, Options.json, Options.stateDirectory],
    perform: Tool.logs)

  static let report = Subcommand(
    name: "report", operands: "[RUN]", operandCount: 0...1,
    summary: "write a report of a run to standard output",
    details: """
      \(someRun)
      html is one page that needs no network, trace is for Perfetto and Chrome, otlp is for a
      collector of OpenTelemetry, prometheus is for the textfile collector of the node exporter.
      The graph is that of the pipeline as its file is now.
      """,
    options: [Options.recordFormat, Options.stateDirectory],
    perform: Tool.report)

  static let analyze = Subcommand(
    name: "analyze", operands: "[RUN]", operandCount: 0...1,
    summary: "show where the time of a run went, and what would shorten it",
    details: """
      \(someRun)
      It shows the critical path and what each second saved there is worth, what ready steps waited
      for, and steps that fail now and then. The other options ask what would be different: the run is
      repeated in virtual time with the durations that were measured.
      """,
    options: [
      Options.otherJobs, Options.queueWidth, Options.without, Options.faster, Options.json,
      Options.stateDirectory,
    ],
    perform: Tool.analyze)

  static let prune = Subcommand(
    name: "prune", operands: "", operandCount: 0...0,
    summary: "remove old runs, with their logs",
    details: """
      Without --keep, --older-than or --max-size, 1,000 runs, 90 days and 5 GiB of logs are kept. Runs
      also prune by themselves now and then. A run in progress is never removed.
      Results of cached steps are kept for 30 days after their last use, and up to 10 GiB of them;
      --older-than applies to them, too.
      """,
    options: [
      Options.keep, Options.olderThan, Options.maxSize, Options.removeNothing, Options.json,
      Options.stateDirectory,
    ],
    perform: Tool.prune)

  /// Performs a command that asks a run in progress to change.
  private static func asking(
    _ verb: ControlRequest.Verb
  ) -> @Sendable (Tool) -> (Invocation) throws(UsageFailure) -> Int32 {
    { tool in
      { invocation throws(UsageFailure) in try tool.control(verb, invocation) }
    }
  }

  private static let runInProgress = """
    RUN is a run in progress: its name, the beginning or the end of it, or 'last'. Without RUN it is
    the only one in progress.
    """

  static let status = Subcommand(
    name: "status", operands: "[RUN]", operandCount: 0...1,
    summary: "show the progress of a run",
    details: runInProgress,
    options: [
      Options.followRun, Options.json, Options.color, Options.ascii, Options.stateDirectory,
    ],
    perform: Tool.status)

  static let pause = Subcommand(
    name: "pause", operands: "[RUN]", operandCount: 0...1,
    summary: "start nothing new in a run, or in one of its queues; running steps continue",
    details: runInProgress,
    options: [Options.queue, Options.json, Options.stateDirectory],
    perform: asking(.pause))

  static let proceed = Subcommand(
    name: "continue", operands: "[RUN]", operandCount: 0...1,
    summary: "continue a paused run, or release a queue that starts suspended",
    details: runInProgress,
    options: [Options.queue, Options.json, Options.stateDirectory],
    perform: asking(.proceed))

  static let cancel = Subcommand(
    name: "cancel", operands: "[RUN] [STEP]", operandCount: 0...2,
    summary: "end a run in progress, or one of its steps",
    details: runInProgress + """

      STEP is a step, an instance, or a group with all that is in it. One word that does not begin with a
      digit is a step. Cancelling the run a second time kills what is still running, and
      waits for no job in Slurm.
      """,
    options: [Options.cancelledQueue, Options.json, Options.stateDirectory],
    perform: asking(.cancel))

  static let retry = Subcommand(
    name: "retry", operands: "[RUN] STEP", operandCount: 1...2,
    summary: "run a failed step again while its run continues",
    details: runInProgress + """

      What was blocked because of the step waits for it again. A step that waits for its next attempt
      starts at once. 'oprun resume' does the same for a run that has ended.
      """,
    options: [Options.json, Options.stateDirectory],
    perform: asking(.retry))

  static let set = Subcommand(
    name: "set", operands: "[RUN] NAME=VALUE [STEP]", operandCount: 1...3,
    summary: "change how many steps run at once in a run, or which goes first",
    details: runInProgress + """

      'max_parallel=N' is for the default queue, or for the one that --queue names; 'auto' is the number
      of processors. 'priority=high STEP' puts a step, and what it needs, before others; it is a name or
      a number as in the file.
      """,
    options: [Options.queue, Options.json, Options.stateDirectory],
    perform: asking(.set))

  static let trace = Subcommand(
    name: "trace", operands: "[FILE] STEP", operandCount: 1...2,
    summary: "run a step, watch which files it uses, and propose its 'cache'",
    details: """
      What the step depends on runs first, as in 'oprun run FILE STEP'. The step itself runs in any
      case, and is not confined. It may not be a service, which would not end. What it prints goes to
      standard error, the proposal to standard output.
      """,
    options: [
      Options.param, Options.jobs, Options.json, Options.color, Options.ascii,
      Options.stateDirectory,
    ], rest: arguments, perform: Tool.trace)
  static let why = Subcommand(
    name: "why", operands: "[FILE] [STEP…]", operandCount: 0...Int.max,
    summary: "show whether cached steps would run, and which part of their keys has changed",
    details: """
      Files, variables, the command, tools and results of other cached steps are compared with those
      of the last time that the step succeeded or was up to date. Without STEP, all cached steps.
      """,
    options: [Options.param, Options.unfolded, Options.json, Options.stateDirectory],
    rest: arguments,
    perform: Tool.why)

  static let watch = Subcommand(
    name: "watch", operands: "[FILE] [STEP…]", operandCount: 0...Int.max,
    summary: "run a pipeline, and run again what file changes affect",
    details: """
      A step is affected by its inputs, as 'cache' in the file declares them; one that declares none, by
      every file here that git does not ignore. What depends on an affected step runs, too.
      The pipeline is read again when its file changes. Ctrl-C ends it, with the run in progress.
      """,
    options: [
      Options.param, Options.jobs, Options.onBusy, Options.unfolded, Options.failFast,
      Options.failurePolicy, Options.strict, Options.timeout, Options.output, Options.color,
      Options.ascii, Options.stateDirectory, Options.noCache, Options.cacheURL,
      Options.sharedCache, Options.jobserver,
    ], rest: arguments, perform: Tool.watch)

  static let graph = Subcommand(
    name: "graph", operands: "[FILE] [STEP…]", operandCount: 0...Int.max,
    summary: "show how the steps depend on each other",
    details: "",
    options: [
      Options.param, Options.affectedGraph, Options.graphFormat, Options.ascii, Options.color,
    ], rest: arguments, perform: Tool.graph)

  static let validate = Subcommand(
    name: "validate", operands: "[FILE…]", operandCount: 0...Int.max,
    summary: "check pipeline files without running anything",
    details: """
      All errors in a file are shown at once. 'json' writes one object per line, 'github' writes
      annotations for GitHub Actions, which shows only ten of them.
      """,
    options: [Options.reportFormat, Options.color],
    perform: Tool.validate)

  static let test = Subcommand(
    name: "test", operands: "[FILE…]", operandCount: 0...Int.max,
    summary: "rehearse pipelines, and compare what happens with what is expected",
    details: """
      FILE is a file with tests, such as release.test.yml, or the pipeline beside it, release.yml.
      Nothing is started: commands do what the file says of them, and time passes at once.
      """,
    options: [
      Options.allCases, Options.update, Options.testJUnit, Options.json, Options.color,
    ],
    perform: Tool.test)

  static let format = Subcommand(
    name: "fmt", operands: "[FILE…]", operandCount: 0...Int.max,
    summary: "format pipeline files, without changing what they mean",
    details: """
      Indentation, spaces and blank lines change; comments, quotes, the order of keys and the text of
      scripts do not. A file with errors is left alone. An included file is formatted if the pipeline
      that includes it is named, too. With -, standard input is formatted to standard output.
      """,
    options: [Options.check],
    perform: Tool.format)

  static let list = Subcommand(
    name: "list", operands: "[FILE]", operandCount: 0...1,
    summary: "list the steps of a pipeline in file order",
    details: "",
    options: [Options.param, Options.json],
    rest: arguments,
    perform: Tool.list)

  static let schema = Subcommand(
    name: "schema", operands: "", operandCount: 0...0,
    summary: "write the JSON schema of pipeline files, for editors",
    details: "",
    options: [Options.schemaOfTests],
    perform: Tool.writeSchema)

  static let explain = Subcommand(
    name: "explain", operands: "WORD", operandCount: 1...1,
    summary: "explain a key, a function, an outcome, an exit status, an option or a variable",
    details: """
      WORD stands in a pipeline file, on a command line or in the output of a run: retry, retry.delay,
      hashFiles, blocked, 124, kept, --affected. Terms of other tools, such as needs, are explained, too.
      """,
    options: [],
    perform: Tool.explain)

  static let initialize = Subcommand(
    name: "init", operands: "[FILE]", operandCount: 0...1,
    summary: "write a first pipeline for the project here",
    details: """
      The steps depend on what is here: Package.swift, Cargo.toml, go.mod, package.json, a makefile
      and the like. FILE is oprun.yml by default. No file is overwritten.
      """,
    options: [Options.preview],
    perform: Tool.initialize)

  static let completions = Subcommand(
    name: "completions", operands: CompletionShell.allCases.map(\.rawValue).joined(separator: "|"),
    operandCount: 1...1,
    summary: "write a script that lets a shell complete command lines of oprun",
    details: """
      bash: source <(oprun completions bash), in ~/.bashrc
      zsh:  source <(oprun completions zsh), in ~/.zshrc after compinit
      fish: oprun completions fish > ~/.config/fish/completions/oprun.fish
      Commands, options and their values, files, steps, parameters and runs are completed.
      """,
    options: [],
    perform: Tool.writeCompletions)

  static let help = Subcommand(
    name: "help", operands: "[COMMAND]", operandCount: 0...1,
    summary: "show the help of oprun or of one of its commands",
    details: "", options: [],
    perform: { tool in
      { _ in
        tool.writeHelp(of: nil)
        return ExitStatus.success
      }
    })
}
