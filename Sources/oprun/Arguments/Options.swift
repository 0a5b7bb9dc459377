// All options.

import Diagnostics
import Plans
import Reporting
import Scheduling

enum Options {
  static let jobs = Option(
    "jobs", "j", .count(atLeast: 1), summary: "run at most N steps of the default queue at once")
  static let jobserver = Option(
    "jobserver", nil, .choice(["on", "off"]),
    summary: "whether make, ninja and cargo in steps share the slots of the run")
  static let executor = Option(
    "executor", nil, .choice(StepExecutor.allCases.map(\.rawValue)),
    summary: "run steps here, or as jobs of Slurm, in place of what the file says")
  static let detach = Option(
    "detach", summary: "exit once only Slurm jobs remain; 'oprun resume' continues")
  static let examined = Option(
    "executor", nil, .choice(StepExecutor.allCases.map(\.rawValue)),
    summary: "what to examine: this machine, by default, or Slurm")
  static let dryRun = Option(
    "dry-run", "n", summary: "show what would run, in which order and why; change nothing")
  static let unfolded = Option("verbose", "v", summary: "show all instances")
  static let verbose = Option(
    "verbose", "v",
    summary: "show all instances; with --dry-run, whole commands and all settings")
  static let exitCode = Option(
    // OPRUN_EXIT_CODE is the variable in which a hook finds the exit status of its step.
    "exit-code", variable: "OPRUN_DRY_RUN_EXIT_CODE", needs: dryRun.flag,
    summary: "with --dry-run, exit with status 1 if something would run")
  static let failFast = Option(
    "fail-fast", excludes: failurePolicy.flag,
    summary: "after a failure, cancel running steps (--failure-policy cancel)")
  static let failurePolicy = Option(
    "failure-policy", nil, .choice(FailurePolicy.allCases.map(\.word)),
    summary: "after a failure, continue, start no step, or cancel running ones too")
  static let strict = Option(
    "strict", summary: "exit with status 1 after allowed failures, too")
  static let timeout = Option(
    "timeout", nil, .duration, summary: "time limit of the whole run, such as 90s or 1h30m")
  static let exitCodeFrom = Option(
    "exit-code-from", nil, .text("STEP", wanted: "the id of a step"),
    summary: "exit with the status of this step's command")
  static let param = Option(
    "param", nil, .assignment, variable: "OPRUN_PARAM_<NAME>", isRepeatable: true,
    summary: "set a parameter of the pipeline; may be repeated")
  static let output = Option(
    "output", nil,
    .choice(OutputMode.allCases.map(\.rawValue)),
    // OPRUN_OUTPUT is the variable in which a step finds the file for its outputs.
    variable: "OPRUN_OUTPUT_MODE",
    summary:
      "how to show the run; live by default on a terminal, else grouped")
  static let events = Option(
    "events", nil, .text("FILE", wanted: "a file, '-' or 'fd:N'"),
    summary: "write events as JSON to FILE, fd:N or -")
  static let junit = Option(
    "junit", nil, .text("FILE", wanted: "a file"), summary: "write a JUnit report to FILE")
  static let trace = Option(
    "trace", nil, .text("FILE", wanted: "a file"),
    summary: "write a trace for Perfetto or Chrome to FILE")
  static let report = Option(
    "report", nil, .text("FILE", wanted: "a file"), summary: "write a report in HTML to FILE")
  static let summary = Option(
    "summary", nil, .text("FILE", wanted: "a file"), summary: "write a summary in Markdown to FILE")
  static let ci = Option(
    "ci", nil, .choice(CIChoice.allCases.map(\.rawValue)),
    summary: "which CI runner reads the output; detected by default")
  static let outputs = Option(
    "outputs", nil, .text("FILE", wanted: "a file"),
    // OPRUN_OUTPUT is the file for the outputs of a step.
    variable: "OPRUN_OUTPUTS_FILE",
    summary: "append the outputs of the pipeline to FILE, such as \"$GITHUB_OUTPUT\"")
  static let color = Option(
    "color", nil, .choice(ColorChoice.allCases.map(\.rawValue)),
    summary: "whether to use colour; auto by default")
  static let ascii = Option(
    "ascii", summary: "draw marks, lines and bars in ASCII")
  static let stateDirectory = Option(
    "state-dir", nil, .text("DIR", wanted: "a directory"),
    summary: "where to keep runs and logs; .oprun by default")
  static let durable = Option(
    "durable", summary: "wait for the disk whenever a success is recorded, for power failures")
  static let lock = Option(
    "lock", summary: "wait until no other run of this pipeline has its lock")
  static let noWait = Option(
    "no-wait", summary: "exit with status 5 instead of waiting for the lock of the pipeline")
  static let resume = Option(
    "resume",
    summary: "resume the last run of this file, unless it succeeded")
  static let affected = Option(
    "affected", nil, .text("REF", wanted: "a commit"), usually: "HEAD", excludes: resume.flag,
    summary: "run only what changed since REF (HEAD), and what depends on it")
  static let affectedGraph = Option(
    "affected", nil, .text("REF", wanted: "a commit"), usually: "HEAD",
    summary: "show only what changed since REF (HEAD), and what depends on it")
  static let onBusy = Option(
    "on-busy", nil, .choice(WatchMachine.BusyPolicy.allCases.map(\.rawValue)),
    variable: "OPRUN_WATCH_ON_BUSY",
    summary: "cancel a run that a change affects, or wait for its end")
  static let noCache = Option(
    "no-cache", excludes: refresh.flag,
    summary: "run cached steps as if they were not cached, and keep no results")
  static let refresh = Option(
    "refresh", summary: "run cached steps, or the named ones, even if up to date")
  static let showCached = Option(
    "show-cached", summary: "show again what up-to-date cached steps printed")
  static let cacheURL = Option(
    "cache-url", nil, .text("URL", wanted: "a URL of http or https"),
    summary: "the server on which machines share results of cached steps")
  static let sharedCache = Option(
    "shared-cache", nil, .choice(SharedCacheUse.allCases.map(\.rawValue)),
    summary: "whether the shared cache is used; read stores nothing in it")
  static let from = Option(
    "from", nil, .text("STEP", wanted: "the id of a step"), variable: "OPRUN_RESUME_FROM",
    isRepeatable: true, excludes: "--only",
    summary: "run this step and all that depends on it again; may be repeated")
  static let only = Option(
    "only", nil, .text("STEP", wanted: "the id of a step"), variable: "OPRUN_RESUME_ONLY",
    isRepeatable: true, summary: "run this step again, and nothing else; may be repeated")
  static let until = Option(
    "until", nil, .text("STEP", wanted: "the id of a step"), variable: "OPRUN_RESUME_UNTIL",
    isRepeatable: true, summary: "run nothing but this step and what it needs; may be repeated")
  static let skip = Option(
    "skip", nil, .text("STEP", wanted: "the id of a step"), variable: "OPRUN_RESUME_SKIP",
    isRepeatable: true,
    summary: "leave this step out, as if its condition were false; may be repeated")
  static let failed = Option(
    "failed", variable: "OPRUN_RESUME_FAILED", summary: "run only what failed, and what that needs")
  static let limit = Option(
    "limit", nil, .count(atLeast: 0), variable: "OPRUN_HISTORY_LIMIT",
    summary: "list at most N runs; 20 by default, 0 for all")
  static let follow = Option(
    "follow", "f", variable: "OPRUN_LOGS_FOLLOW", excludes: json.flag,
    summary: "continue until the run ends")
  static let followRun = Option(
    "follow", "f", variable: "OPRUN_STATUS_FOLLOW", summary: "continue until the run ends")
  static let queue = Option(
    "queue", nil, .text("QUEUE", wanted: "the name of a queue"), variable: "OPRUN_CONTROL_QUEUE",
    summary: "the queue to change, such as 'default'")
  static let cancelledQueue = Option(
    "queue", nil, .text("QUEUE", wanted: "the name of a queue"), variable: "OPRUN_CONTROL_QUEUE",
    summary: "cancel everything that is left in this queue, such as 'default'")
  static let keep = Option(
    "keep", nil, .count(atLeast: 0), variable: "OPRUN_PRUNE_KEEP", summary: "keep the newest N runs"
  )
  static let olderThan = Option(
    "older-than", nil, .duration, variable: "OPRUN_PRUNE_OLDER_THAN",
    summary: "remove runs that started longer ago than TIME, such as 720h")
  static let maxSize = Option(
    "max-size", nil, .text("SIZE", wanted: "a size such as 500M or 2G"),
    variable: "OPRUN_PRUNE_MAX_SIZE", summary: "keep the newest runs, up to this size of all logs")
  static let removeNothing = Option(
    "dry-run", "n", summary: "show what would be removed; remove nothing")
  static let submitNothing = Option(
    "dry-run", "n", summary: "show what would be submitted; submit nothing")
  static let preview = Option(
    "dry-run", "n", summary: "print the pipeline; write nothing")
  static let graphFormat = Option(
    "format", nil, .choice(GraphFormat.allCases.map(\.rawValue)),
    variable: "OPRUN_GRAPH_FORMAT", summary: "format of the graph; tree by default")
  static let reportFormat = Option(
    "format", nil, .choice(DiagnosticFormat.allCases.map(\.rawValue)),
    variable: "OPRUN_VALIDATE_FORMAT", summary: "format of the report; human by default")
  static let recordFormat = Option(
    "format", nil, .choice(ReportFormat.allCases.map(\.rawValue)),
    variable: "OPRUN_REPORT_FORMAT", summary: "format of the report; html by default")
  static let testJUnit = Option(
    "junit", nil, .text("FILE", wanted: "a file"), variable: "OPRUN_TEST_JUNIT",
    summary: "write the results as a JUnit report to FILE")
  static let allCases = Option(
    "verbose", "v", summary: "show what happened in cases that are ok, too")
  static let update = Option(
    "update", variable: "OPRUN_TEST_UPDATE",
    summary: "replace what is expected with what happened")
  static let schemaOfTests = Option(
    "tests", variable: "OPRUN_SCHEMA_TESTS", summary: "the schema of files with tests instead")
  static let check = Option(
    "check", variable: "OPRUN_FMT_CHECK",
    summary: "show what would change, write nothing; exit with status 1 if anything would")
  static let queueWidth = Option(
    "queue", nil, .assignment, variable: "", isRepeatable: true,
    summary: "what if the queue NAME ran VALUE steps at once; may be repeated")
  static let without = Option(
    "without", nil, .text("STEP", wanted: "the id of a step"), variable: "",
    isRepeatable: true, summary: "what if this step took no time; may be repeated")
  static let faster = Option(
    "faster", nil, .text("STEP=FACTOR", wanted: "a step and a factor, as in test=2x"),
    variable: "", isRepeatable: true,
    summary: "what if a step were faster, such as test=2x; may be repeated")
  static let otherJobs = Option(
    "jobs", "j", .count(atLeast: 1), variable: "OPRUN_ANALYZE_JOBS",
    summary: "what if N steps of the default queue ran at once")
  static let json = Option(
    "json", summary: "write JSON")
  /// The names of options that are shown together, where a command has many.
  static let groups = [
    ("what runs", "param from only until skip failed resume affected dry-run verbose exit-code"),
    (
      "how it runs",
      "jobs fail-fast failure-policy strict timeout exit-code-from lock no-wait durable state-dir jobserver"
    ),
    ("what is shown", "output ci color ascii"),
    ("files to write", "events junit report summary trace outputs"),
    ("results of cached steps", "no-cache refresh show-cached cache-url shared-cache"),
    ("Slurm", "executor detach"),
  ]

  static let help = Option(
    "help", "h", summary: "show this help")
  static let version = Option(
    "version", summary: "show the version")
}
