// The keys of a step.

import Plans

/// Keys of an item of `steps`, and of `defaults` as far as they are no step's own.
package enum StepKey: UInt8, ObjectKey {
  case id, run, dependsOn, name, uses, with, condition, priority, queue, mutex, resources, env
  case workingDir, shell, stdin, timeout, retry, allowFailure, stop, logLimit, nice, expected
  case tty, untrustedOutput, orphans, matrix, maxParallel, failFast, outputs, cache, waitFor
  case onSuccess, onFailure, onCancel, onComplete

  package var row: KeyRow {
    switch self {
    case .id, .run, .dependsOn, .name, .uses, .with, .condition: identityRow
    case .priority, .queue, .mutex, .resources, .expected: schedulingRow
    case .env, .workingDir, .shell, .stdin, .nice, .logLimit, .tty, .untrustedOutput: commandRow
    case .timeout, .retry, .allowFailure, .stop, .orphans: endRow
    case .matrix, .maxParallel, .failFast, .outputs, .cache, .waitFor: laterRow
    case .onSuccess: hookRow("on_success", "After the step succeeded.")
    case .onFailure: hookRow("on_failure", "After the step failed or timed out.")
    case .onCancel: hookRow("on_cancel", "After the step was cancelled.")
    case .onComplete: hookRow("on_complete", "After the step ended in any way, last.")
    }
  }

  /// Whether `defaults` may hold the key.
  package var hasDefault: Bool {
    switch self {
    case .id, .run, .uses, .with, .dependsOn, .name, .condition, .matrix, .maxParallel, .failFast,
      .outputs, .cache, .waitFor:
      false
    default: true
    }
  }

  /// Whether a step that uses a pipeline file may have the key.
  package var isOfNested: Bool {
    !hasDefault && ![.outputs, .waitFor, .maxParallel].contains(self)
  }

  static let table = KeyTable<StepKey>()
}

extension StepKey {
  private var identityRow: KeyRow {
    switch self {
    case .id:
      KeyRow(
        "id", .identifier, "Unique name: a letter or `_`, then also digits and `-`.",
        example: "build", isRequired: true)
    case .run:
      KeyRow(
        "run", .command,
        "A string is a script for the shell; a list is an argument vector, run without a shell.",
        example: "make test")
    case .dependsOn:
      KeyRow(
        "depends_on", .list(.either([.dependency, .object(.dependency)])),
        "Steps that must end before this one starts.", example: "[fetch, {step: lint, when: done}]")
    case .name:
      KeyRow(
        "name", .filledTemplate, "Label for people; the id by default.", example: "Unit tests")
    case .uses:
      KeyRow(
        "uses", .uses, "A built-in step, or another pipeline file.", example: "./release.yml")
    case .with:
      KeyRow("with", .map(.anything), "Inputs of `uses`.", example: "{target: prod}")
    default:
      KeyRow(
        "if", .condition, "Runs the step only if the expression is true.",
        example: "params.target == 'prod'")
    }
  }

  private var schedulingRow: KeyRow {
    switch self {
    case .priority:
      KeyRow(
        "priority",
        .either([
          .choice(["very_low", "low", "normal", "high", "very_high"]), .integer(-1000...1000),
        ]),
        "Among the ready steps of a queue, higher first; the names mean -8, -4, 0, 4 and 8.",
        default: "normal")
    case .queue: KeyRow("queue", .identifier, "The queue it runs in.", default: "default")
    case .mutex:
      KeyRow(
        "mutex", .filledTemplate, "At most one step with the same value runs at a time.",
        example: "database")
    case .resources:
      KeyRow(
        "resources", .map(.amount, names: .identifier),
        "Amounts taken from the pools, all at once.",
        example: "{memory: 2.5}")
    default:
      KeyRow(
        "expected", .duration, "How long it usually takes, for ordering and estimates.",
        example: "2m30s")
    }
  }

  private var commandRow: KeyRow {
    switch self {
    case .env:
      KeyRow(
        "env", .map(.template, names: .variable),
        "Environment variables; they override those of the pipeline.",
        example: "{CFLAGS: -O2}")
    case .workingDir:
      KeyRow(
        "working_dir", .filledTemplate, "Directory of the command, relative to the pipeline's.",
        example: "src")
    case .shell: KeyRow("shell", .shell, "The shell that runs the script.", example: "bash")
    case .stdin:
      KeyRow("stdin", .template, "Standard input of the command; empty by default.", example: "yes")
    case .nice:
      KeyRow("nice", .integer(-20...19), "Processor priority of its processes.", default: "0")
    case .logLimit:
      KeyRow(
        "log_limit", .size, "Maximum size of a log; a marker replaces the middle of a longer one.",
        default: "1G")
    case .tty: KeyRow("tty", .boolean, "Runs the command in a pseudo-terminal.", .notYet)
    default:
      KeyRow(
        "untrusted_output", .boolean, "Its output cannot issue commands to the CI runner.", .notYet)
    }
  }

  private var endRow: KeyRow {
    switch self {
    case .timeout: KeyRow("timeout", .duration, "Time limit of each attempt.", example: "10m")
    case .retry:
      KeyRow(
        "retry", .either([.integer(0...1_000_000), .object(.retry)]),
        "Extra attempts after a failure.",
        default: "0", example: "{limit: 3, delay: 1s, backoff: 2}")
    case .allowFailure:
      KeyRow(
        "allow_failure", .either([.boolean, .expression, .object(.allowFailure)]),
        "The run stays green if the step fails; the failure is still shown.", default: "false",
        example: "{exit_codes: [75]}")
    case .stop:
      KeyRow(
        "stop", .object(.stop), "How a running command is stopped.",
        default: "{signal: TERM, grace: 5s}")
    default:
      KeyRow(
        "orphans", .choice(["kill", "warn", "allow"]),
        "What happens to processes that outlive the command.", default: "kill")
    }
  }

  private var laterRow: KeyRow {
    switch self {
    case .matrix:
      KeyRow(
        "matrix", .matrix, "Lists of values by name; one instance runs for each combination.",
        example: "{os: [linux, mac], mode: [debug, release]}")
    case .maxParallel:
      KeyRow("max_parallel", .integer(1...1_000_000), "How many instances of `matrix` run at once.")
    case .failFast:
      KeyRow(
        "fail_fast", .boolean, "A failed instance of `matrix` cancels the others.",
        default: "false")
    case .outputs:
      KeyRow(
        "outputs", .map(.choice(OutputType.allCases.map(\.rawValue)), names: .identifier),
        "Types of the values for other steps; without it, any output is allowed.",
        example: "{tag: string, targets: list}")
    case .cache:
      KeyRow("cache", .map(.anything), "When the step does not need to run again.", .notYet)
    default:
      KeyRow(
        "wait_for", .list(.object(.wait)),
        "Conditions besides dependencies, polled without taking a slot of the queue.",
        example: "[{tcp: 'localhost:5432', timeout: 1m}]")
    }
  }
}
