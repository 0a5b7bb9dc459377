// The keys of `slurm`, at top level and of a step.

import Diagnostics
import Plans

/// Keys of `slurm`. A step may override those that are about its job.
package enum SlurmKey: UInt8, ObjectKey {
  case mode
  case partition, account, qos, reservation, constraint, extra
  case onNodeFailure, infrastructureRetries
  case maxQueued, submitRate, poll, fileWait

  package var row: KeyRow {
    switch self {
    case .mode:
      KeyRow(
        "mode", .choice(SlurmPlan.Mode.allCases.map(\.rawValue)),
        "Whether each step is a job, or steps run on the nodes of the job that oprun itself is in; `auto`: "
          + "the latter inside of a job.", default: "auto")
    case .partition:
      KeyRow("partition", .filledText, "Partition of the jobs.", example: "short")
    case .account:
      KeyRow("account", .filledText, "Account that the jobs are charged to.", example: "physics")
    case .qos: KeyRow("qos", .filledText, "Quality of service.", example: "normal")
    case .reservation:
      KeyRow("reservation", .filledText, "Reservation to use.", example: "course")
    case .constraint:
      KeyRow(
        "constraint", .filledText, "Features that nodes must have.", example: "'avx2&ib'")
    case .extra:
      KeyRow(
        "extra", .list(sbatchOption), "Further options of `sbatch`, in their long form.",
        example: "[--exclusive, '--licenses=matlab:1']")
    case .onNodeFailure:
      KeyRow(
        "on_node_failure", .choice(SlurmRequest.NodeFailure.allCases.map(\.rawValue)),
        "Whether a step whose node has failed runs again, or fails.", default: "retry")
    case .infrastructureRetries:
      KeyRow(
        "infrastructure_retries", .integer(0...1000),
        "How often a step is submitted again if its job ended without a result through no fault of the "
          + "step; not counted against `retry`.", default: "3")
    case .maxQueued:
      KeyRow(
        "max_queued", .integer(1...1_000_000), "How many jobs may be in Slurm's queue at once.",
        default: "200")
    case .submitRate:
      KeyRow(
        "submit_rate", rate, "How many jobs are submitted at most per second or minute.",
        default: "10/s")
    case .poll:
      KeyRow("poll", .duration, "The least time between two looks at the queue.", default: "5s")
    case .fileWait:
      KeyRow(
        "file_wait", .durationOrZero,
        "How long the files of a job that has ended may take to be seen here.", default: "60s")
    }
  }

  /// True if a step may override the key; the others are those of the run.
  package var isOfStep: Bool {
    switch self {
    case .partition, .account, .qos, .reservation, .constraint, .extra, .onNodeFailure,
      .infrastructureRetries:
      true
    case .mode, .maxQueued, .submitRate, .poll, .fileWait: false
    }
  }

  static let table = KeyTable<SlurmKey>()
}

private let rate = ValueType.pattern(
  "a rate such as 10/s or 30/m", matching: "^(?=0*[1-9])[0-9]{1,6}/[sm]$")

private let sbatchOption = ValueType.pattern(
  "a long option of sbatch such as --exclusive",
  matching: #"^--[a-z][a-z0-9-]*(=[^\u0000-\u001f\u007f]*)?$"#)

/// The options of `sbatch` that `extra` must not contain, with what to write instead.
enum RefusedOptions {
  /// The help for a refused option, given by its name without the dashes; nil if the option may be
  /// used. `sbatch` accepts abbreviated names, so these are refused, too.
  static func help(for name: String) -> String? {
    if let help = keys[name] ?? ofJobs[name] { return help }
    let all = Array(keys.keys) + Array(ofJobs.keys)
    guard let whole = all.sorted().first(where: { $0.hasPrefix(name) }) else { return nil }
    return "\(quotedOption(name)) may mean \(quotedOption(whole)): write whole names"
  }

  private static func quotedOption(_ name: String) -> String { "'--\(name)'" }

  private static let keys = [
    "partition": "write the key 'partition'", "account": "write the key 'account'",
    "qos": "write the key 'qos'", "reservation": "write the key 'reservation'",
    "constraint": "write the key 'constraint'",
    "requeue": "write 'on_node_failure: retry'", "no-requeue": "write 'on_node_failure: fail'",
    "cpus-per-task": "write 'cpus' under 'resources'", "mem": "write 'memory' under 'resources'",
    "gpus": "write 'gpus' under 'resources'", "time": "write 'time' under 'resources'",
    "tmp": "write 'tmp' under 'resources'", "nice": "write 'priority'",
    "chdir": "write 'working_dir'",
    "dependency": "write 'depends_on'", "array": "write 'matrix'", "begin": "write 'wait_for'",
  ]

  private static let ofJobs: [String: String] = {
    let names = [
      "job-name", "comment", "parsable", "output", "error", "input", "open-mode", "export",
      "export-file", "wrap", "hold", "wait", "test-only", "kill-on-invalid-dep", "get-user-env",
      "clusters", "cluster", "cluster-constraint", "help", "usage", "version", "quiet", "verbose",
      "uid", "gid", "ignore-pbs", "bb", "bbf",
    ]
    return Dictionary(
      uniqueKeysWithValues: names.map {
        ($0, "remove the option: oprun must know what its jobs are")
      })
  }()
}
