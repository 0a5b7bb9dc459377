// The keys of a step.

import Plans
import Scheduling

/// Keys of an item of `steps`, and of `defaults` as far as they make sense for several steps.
package enum StepKey: UInt8, ObjectKey {
  case id, run, dependsOn, name, uses, with, condition, priority, queue, mutex, resources, env
  case workingDir, shell, stdin, timeout, retry, allowFailure, stop, logLimit, nice, expected
  case tty, untrustedOutput, orphans, jobserver, matrix, maxParallel, failFast, outputs, cache,
    waitFor
  case background, executor, slurm
  case onSuccess, onFailure, onCancel, onComplete, manual, description
  case steps, sequence

  package var row: KeyRow {
    switch self {
    case .id: IdentityRows.id
    case .run: IdentityRows.run
    case .uses: IdentityRows.uses
    case .steps: IdentityRows.steps
    case .sequence: IdentityRows.sequence
    case .with: IdentityRows.with
    case .dependsOn: IdentityRows.dependsOn
    case .name: IdentityRows.name
    case .condition: IdentityRows.condition
    case .manual: IdentityRows.manual
    case .description: IdentityRows.description
    case .priority: SchedulingRows.priority
    case .queue: SchedulingRows.queue
    case .mutex: SchedulingRows.mutex
    case .resources: SchedulingRows.resources
    case .expected: SchedulingRows.expected
    case .env: CommandRows.env
    case .workingDir: CommandRows.workingDir
    case .shell: CommandRows.shell
    case .stdin: CommandRows.stdin
    case .nice: CommandRows.nice
    case .logLimit: CommandRows.logLimit
    case .tty: CommandRows.tty
    case .untrustedOutput: CommandRows.untrustedOutput
    case .timeout: EndRows.timeout
    case .retry: EndRows.retry
    case .allowFailure: EndRows.allowFailure
    case .stop: EndRows.stop
    case .orphans: EndRows.orphans
    case .jobserver: CommandRows.jobserver
    case .matrix: LaterRows.matrix
    case .maxParallel: LaterRows.maxParallel
    case .failFast: LaterRows.failFast
    case .outputs: LaterRows.outputs
    case .cache: LaterRows.cache
    case .waitFor: LaterRows.waitFor
    case .background: LaterRows.background
    case .executor: SchedulingRows.executor
    case .slurm: SchedulingRows.slurm
    case .onSuccess: hookRow(.onSuccess, "After the step succeeded.")
    case .onFailure: hookRow(.onFailure, "After the step failed or timed out.")
    case .onCancel: hookRow(.onCancel, "After the step was cancelled.")
    case .onComplete: hookRow(.onComplete, "After the step ended in any way, last.")
    }
  }

  /// True if `defaults` may contain the key.
  package var hasDefault: Bool {
    switch self {
    case .id, .run, .uses, .with, .steps, .sequence, .dependsOn, .name, .condition, .matrix,
      .maxParallel, .failFast, .outputs, .cache, .waitFor, .background, .manual, .description,
      .slurm:
      false
    case .priority, .queue, .mutex, .resources, .env, .workingDir, .shell, .stdin, .timeout, .retry,
      .allowFailure, .stop, .logLimit, .nice, .expected, .tty, .untrustedOutput, .orphans,
      .jobserver, .executor, .onSuccess,
      .onFailure, .onCancel, .onComplete:
      true
    }
  }

  /// True if a step that stands for the steps of a pipeline may have the key, which then applies to
  /// all of them.
  package var isOfPipelineUse: Bool {
    switch self {
    case .id, .name, .uses, .with, .steps, .sequence, .dependsOn, .condition, .matrix, .failFast,
      .env, .workingDir, .timeout, .allowFailure, .queue, .run, .manual, .description,
      .outputs, .maxParallel, .background:
      true
    case .priority, .mutex, .resources, .shell, .stdin, .retry, .stop, .logLimit, .nice, .expected,
      .tty, .untrustedOutput, .orphans, .jobserver, .cache, .waitFor, .executor, .slurm,
      .onSuccess, .onFailure,
      .onCancel, .onComplete:
      false
    }
  }

  static let table = KeyTable<StepKey>()
}

extension StepKey {
  private enum IdentityRows {
    static var id: KeyRow {
      KeyRow(
        "id", .stepID, "Unique name: a letter or `_`, then also digits, `-`, `.` and `:`.",
        example: "build", isRequired: true)
    }
    static var run: KeyRow {
      KeyRow(
        "run", .command,
        "A string is a script for the shell; a list is an argument vector, run without a shell.",
        example: "make test")
    }
    static var dependsOn: KeyRow {
      KeyRow(
        "depends_on", .list(.either([.dependency, .object(.dependency)])),
        "Steps that must end before this one starts.", example: "[fetch, {step: lint, when: done}]")
    }
    static var name: KeyRow {
      KeyRow(
        "name", .filledTemplate, "Label for people; the id by default.", example: "Unit tests")
    }
    static var uses: KeyRow {
      KeyRow(
        "uses", .uses, "A built-in step, another pipeline file, or `#` and the name of a pipeline.",
        example: "./release.yml")
    }
    static var steps: KeyRow {
      KeyRow(
        "steps", .filledList(.object(.step)),
        "A group: steps that run in the place of this one, and share its keys.",
        example: "[{id: unit, run: make unit}]")
    }
    static var sequence: KeyRow {
      KeyRow(
        "sequence", .boolean,
        "Every step in `steps` waits for the one before it; as in what the group stands in by default.",
        example: "true")
    }
    static var with: KeyRow {
      KeyRow("with", .map(.anything), "Inputs of `uses`.", example: "{target: prod}")
    }
    static var description: KeyRow {
      KeyRow(
        "description", .filledText, "What the step is for.", example: "Runs all tests.")
    }
    static var manual: KeyRow {
      KeyRow(
        "manual", .boolean, "Runs only when it is named, or needed by a step that runs.",
        default: "false")
    }
    static var condition: KeyRow {
      KeyRow(
        "if", .condition, "Runs the step only if the expression is true.",
        example: "params.target == 'prod'")
    }
  }

  private enum SchedulingRows {
    static var priority: KeyRow {
      KeyRow(
        "priority",
        .early(
          .either([
            .choice(["very_low", "low", "normal", "high", "very_high"]), .integer(-1000...1000),
          ])),
        "Among the ready steps of a queue, higher first; the names mean -8, -4, 0, 4 and 8.",
        default: "normal")
    }
    static var queue: KeyRow {
      KeyRow("queue", .early(.identifier), "The queue it runs in.", default: "default")
    }
    static var mutex: KeyRow {
      KeyRow(
        "mutex", .either([.filledTemplate, .object(.mutex)]),
        "At most one step with the same value runs at a time.",
        example: "database")
    }
    static var resources: KeyRow {
      KeyRow(
        "resources", .map(.early(.quantity), names: .identifier),
        "Amounts taken from the pools, all at once, or asked of Slurm: `cpus`, `memory`, `gpus`, `time`, "
          + "`tmp`.",
        example: "{memory: 2.5}")
    }
    static var executor: KeyRow {
      KeyRow(
        "executor", .choice(StepExecutor.allCases.map(\.rawValue)),
        "Where the command runs: here, or as a job of Slurm.", default: "local")
    }
    static var slurm: KeyRow {
      KeyRow(
        "slurm", .object(.stepSlurm), "What its job asks of Slurm, besides `resources`.",
        example: "{partition: gpu}")
    }
    static var expected: KeyRow {
      KeyRow(
        "expected", .early(.duration),
        "How long it usually takes, for ordering and estimates until it has succeeded once.",
        example: "2m30s")
    }
  }

  private enum CommandRows {
    static var env: KeyRow {
      KeyRow(
        "env", .variables,
        "Environment variables; they override those of the pipeline.",
        example: "{CFLAGS: -O2}")
    }
    static var workingDir: KeyRow {
      KeyRow(
        "working_dir", .filledTemplate, "Directory of the command, relative to the pipeline's.",
        example: "src")
    }
    static var shell: KeyRow {
      KeyRow("shell", .shell, "The shell that runs the script.", example: "bash")
    }
    static var stdin: KeyRow {
      KeyRow("stdin", .template, "Standard input of the command; empty by default.", example: "yes")
    }
    static var nice: KeyRow {
      KeyRow("nice", .integer(-20...19), "Processor priority of its processes.", default: "0")
    }
    static var logLimit: KeyRow {
      KeyRow(
        "log_limit", .size,
        "How much of a longer output its log keeps from the beginning; the last 1M are kept, too.",
        default: "1G")
    }
    static var tty: KeyRow {
      KeyRow(
        "tty", .boolean, "Runs the command in a terminal of its own.", default: "false",
        example: "true")
    }
    static var untrustedOutput: KeyRow {
      KeyRow(
        "untrusted_output", .boolean, "Its output cannot give commands to the CI runner.",
        default: "false", example: "true")
    }
    static var jobserver: KeyRow {
      KeyRow(
        "jobserver", .boolean,
        "Whether make, ninja and cargo in the step share the slots of the run, instead of multiplying "
          + "them. Without it, they do if oprun was started by a make that shares its own.",
        example: "true")
    }
  }

  private enum EndRows {
    static var timeout: KeyRow {
      KeyRow("timeout", .early(.duration), "Time limit of each attempt.", example: "10m")
    }
    static var retry: KeyRow {
      KeyRow(
        "retry", .either([.early(.integer(0...1_000_000)), .object(.retry)]),
        "Extra attempts after a failure.",
        default: "0", example: "{limit: 3, delay: 1s, backoff: 2}")
    }
    static var allowFailure: KeyRow {
      KeyRow(
        "allow_failure", .either([.boolean, .expression, .object(.allowFailure)]),
        "The run stays green if the step fails; the failure is still shown.", default: "false",
        example: "{exit_codes: [75]}")
    }
    static var stop: KeyRow {
      KeyRow(
        "stop", .object(.stop), "How a running command is stopped.",
        default: StopKey.defaultMap)
    }
    static var orphans: KeyRow {
      KeyRow(
        "orphans", .choice(["kill", "warn", "allow"]),
        "What happens to processes that outlive the command.", default: "kill")
    }
  }

  private enum LaterRows {
    static var matrix: KeyRow {
      KeyRow(
        "matrix", .matrix, "Lists of values by name; one instance runs for each combination.",
        example: "{os: [linux, mac], mode: [debug, release]}")
    }
    static var maxParallel: KeyRow {
      KeyRow(
        "max_parallel", .early(.integer(1...1_000_000)),
        "How many instances of `matrix` run at once.",
        example: "4")
    }
    static var failFast: KeyRow {
      KeyRow(
        "fail_fast", .boolean, "A failed instance of `matrix` cancels the others.",
        default: "false")
    }
    static var outputs: KeyRow {
      KeyRow(
        "outputs", .stepOutputs,
        "Types of the values for other steps; without it, any output is allowed. Of a group, the values.",
        example: "{tag: string, targets: list}")
    }
    static var cache: KeyRow {
      KeyRow(
        "cache", .object(.cache),
        "What the result depends on and consists of: the step does not run if nothing has changed.",
        example: "{inputs: ['src/*.c'], outputs: [app]}")
    }
    static var waitFor: KeyRow {
      KeyRow(
        "wait_for", .list(.object(.wait)),
        "Conditions besides dependencies, polled without taking a slot of the queue.",
        example: "[{tcp: 'localhost:5432', timeout: 1m}]")
    }
    static var background: KeyRow {
      KeyRow(
        "background", .either([.boolean, .object(.background)]),
        "Makes the step a service: what depends on it starts when it is ready, and it is stopped when "
          + "that has ended. The services of a group in the background are stopped when what depends on "
          + "the group has ended.", default: "false",
        example: "{ready: [{tcp: 'localhost:5432'}]}")
    }
  }
}
