// The keys at the top level of a pipeline file, and of its queues.

import Plans
import Scheduling

/// Keys of the file itself. Keys that begin with `x-`, and `$schema`, are also allowed.
package enum PipelineKey: UInt8, ObjectKey {
  case version, name, description, params, env, dotenv, secrets, maxParallel, queues, resources
  case defaults, failurePolicy, timeout, shell, workingDir, sequence, include, mutex, steps
  case onSuccess, onFailure, onCancel, onComplete, schema, outputs, `default`, pipelines, vars
  case executor, slurm, cacheURL, cacheSecret

  package var row: KeyRow {
    switch self {
    case .version: KeyRow("version", .integer(1...1), "Format of the file.", default: "1")
    case .name:
      KeyRow(
        "name", .filledText, "Label for people; the file's name by default.", example: "Gallery")
    case .description:
      KeyRow("description", .text, "What the pipeline is for.", example: "Builds and tests it.")
    case .params:
      KeyRow(
        "params", .map(.either([.constant, .object(.param)]), names: .identifier),
        "Typed inputs, set with `--param`: a default value, or a map that describes the parameter.",
        example: "{retries: 3, target: {type: string, enum: [dev, prod]}}")
    case .env:
      KeyRow(
        "env", .variables,
        "Environment variables for every step; of maps in a list, a later one wins.",
        example: "{LC_ALL: C, VERBOSE: 1}")
    case .dotenv:
      KeyRow(
        "dotenv", .list(.filledText),
        "`.env` files, which `env` overrides. A file whose name ends in `?` may be missing.",
        example: "[.env, local.env?]")
    case .secrets: Rows.secrets
    case .maxParallel:
      KeyRow(
        "max_parallel", .early(.either([.integer(0...1_000_000), .choice(["auto"])])),
        "How many steps of the default queue run at once; `auto` is the number of processors, "
          + "0 starts nothing.", default: "auto")
    case .queues: Rows.queues
    case .resources: Rows.resources
    case .defaults: Rows.defaults
    case .failurePolicy: Rows.failurePolicy
    case .timeout: Rows.timeout
    case .shell: Rows.shell
    case .workingDir: Rows.workingDir
    case .sequence: Rows.sequence
    case .default: Rows.default
    case .vars: Rows.vars
    case .include: Rows.include
    case .mutex: Rows.mutex
    case .cacheURL: Rows.cacheURL
    case .cacheSecret: Rows.cacheSecret
    case .steps: Rows.steps
    case .onSuccess: hookRow(.onSuccess, "After a run in which every step is ok.")
    case .onFailure: hookRow(.onFailure, "After a run in which a step failed or timed out.")
    case .onCancel: hookRow(.onCancel, "After a run that was cancelled.")
    case .onComplete: hookRow(.onComplete, "After every run, last.")
    case .schema: Rows.schema
    case .outputs: Rows.outputs
    case .pipelines: Rows.pipelines
    case .executor: Rows.executor
    case .slurm: Rows.slurm
    }
  }

  /// True if an item of `pipelines` may have the key; the others are those of a whole file or run.
  package var isOfSection: Bool {
    switch self {
    case .name, .description, .params, .vars, .env, .maxParallel, .defaults, .timeout, .shell,
      .workingDir, .sequence, .steps, .outputs, .failurePolicy, .onSuccess, .onFailure, .onCancel,
      .onComplete:
      true
    case .version, .dotenv, .secrets, .queues, .resources, .include, .mutex, .default, .schema,
      .pipelines, .executor, .slurm, .cacheURL, .cacheSecret:
      false
    }
  }

  package static var allowsExtensions: Bool { true }

  static let table = KeyTable<PipelineKey>()
}

extension PipelineKey {
  private enum Rows {
    static var resources: KeyRow {
      KeyRow(
        "resources", .map(.early(.quantity), names: .identifier),
        "Sizes of the pools that steps share, by name.", example: "{memory: 8, gpu: 0.5}")
    }
    static var queues: KeyRow {
      KeyRow(
        "queues", .map(.object(.queue), names: .queue), "Further queues for steps, by name.",
        example: "{network: {max_parallel: 16}}")
    }
    static var defaults: KeyRow {
      KeyRow(
        "defaults", .object(.defaults), "Keys for every step that does not set them itself.",
        example: "{timeout: 10m, retry: 1}")
    }
    static var failurePolicy: KeyRow {
      KeyRow(
        "failure_policy", .choice(["continue", "stop", "cancel"]),
        "After a failure: steps that do not depend on it go on, nothing new starts, or running steps "
          + "are cancelled too.", default: "continue")
    }
    static var timeout: KeyRow {
      KeyRow("timeout", .early(.duration), "Time limit of the whole run.", example: "1h")
    }
    static var shell: KeyRow {
      KeyRow(
        "shell", .shell, "The shell that runs the scripts.", default: "sh", example: "[bash, -eux]")
    }
    static var workingDir: KeyRow {
      KeyRow(
        "working_dir", .filledTemplate,
        "Directory of the steps, relative to where oprun was started.",
        example: "src")
    }
    static var sequence: KeyRow {
      KeyRow("sequence", .boolean, "Every step waits for the one before it.", default: "false")
    }
    static var vars: KeyRow {
      KeyRow(
        "vars", .map(.anything, names: .identifier),
        "Values that are computed once, named in expressions as `vars.NAME`; a map with `run` is a "
          + "command that prints the value.",
        example: "{image: 'registry/app:${{ params.version }}'}")
    }
    static var `default`: KeyRow {
      KeyRow(
        "default", .filledList(.stepID),
        "Steps that run, with everything they need, when none is named; by default every step that "
          + "is not `manual`.", example: "[build, test]")
    }
    static var include: KeyRow {
      KeyRow(
        "include", .list(.filledText), "Files to merge into this one.", example: "[common.yml]")
    }
    static var mutex: KeyRow {
      KeyRow(
        "mutex", .choice(["pipeline"]),
        "`pipeline`: a run of this file waits until no other run of it is in progress.",
        example: "pipeline")
    }
    static var cacheURL: KeyRow {
      KeyRow(
        "cache_url", sharedCacheURL,
        "A server on which machines share the results of cached steps.",
        example: "https://cache.example.com/oprun")
    }
    static var cacheSecret: KeyRow {
      KeyRow(
        "cache_secret", .identifier,
        "The secret that gives access to it: a token, or `user:password`.",
        example: "CACHE_TOKEN")
    }
    static var steps: KeyRow {
      KeyRow(
        "steps", .filledList(.object(.step)), "The steps to run; at least one.",
        example: "[{id: hello, run: echo hello}]", isRequired: true)
    }
    static var schema: KeyRow {
      KeyRow(
        "$schema", .text, "For editors.", example: "./schema/pipeline.schema.json")
    }
    static var outputs: KeyRow {
      KeyRow(
        "outputs", .map(.template, names: .identifier), "Outputs of a step that uses this file.",
        example: "{tag: '${{ steps.version.outputs.tag }}'}")
    }
    static var secrets: KeyRow {
      KeyRow(
        "secrets", .list(.object(.secret)), "Values that are masked in everything oprun prints.",
        example: "[{name: DEPLOY_TOKEN}]")
    }
    static var executor: KeyRow {
      KeyRow(
        "executor", .choice(StepExecutor.allCases.map(\.rawValue)),
        "Where steps without their own `executor` run: here, or as jobs of Slurm.", default: "local"
      )
    }
    static var slurm: KeyRow {
      KeyRow(
        "slurm", .object(.slurm), "What jobs ask of Slurm, and how oprun deals with it.",
        example: "{partition: short, max_queued: 50}")
    }
    static var pipelines: KeyRow {
      KeyRow(
        "pipelines", .map(.object(.section), names: .identifier),
        "Pipelines of this file, for `uses: '#name'`.",
        example: "{lint: {steps: [{id: swift, run: make lint}]}}")
    }
  }
}

private let sharedCacheURL = ValueType.pattern(
  "a URL of http or https", matching: "^https?://[!-~]+$")

/// Keys of one queue under `queues`.
package enum QueueKey: UInt8, ObjectKey {
  case maxParallel, startSuspended

  package var row: KeyRow {
    switch self {
    case .maxParallel:
      KeyRow(
        "max_parallel", .early(.either([.integer(0...1_000_000), .choice(["auto"])])),
        "How many of its steps run at once.", default: "auto")
    case .startSuspended:
      KeyRow(
        "start_suspended", .boolean, "Starts nothing until 'oprun continue --queue'.",
        default: "false")
    }
  }

  static let table = KeyTable<QueueKey>()
}

/// Keys of one item of `secrets`.
package enum SecretKey: UInt8, ObjectKey {
  case name, from, path, required

  package var row: KeyRow {
    switch self {
    case .name:
      KeyRow(
        "name", .identifier, "Required; with `from: env` also the variable's name.",
        example: "DEPLOY_TOKEN", isRequired: true)
    case .from:
      KeyRow("from", .choice(["env", "file"]), "Where the value is read from.", default: "env")
    case .path:
      KeyRow(
        "path", .filledText,
        "The file, relative to where oprun was started; only with `from: file`.",
        example: "/run/secrets/signing-key")
    case .required:
      KeyRow("required", .boolean, "Whether nothing runs if it is missing.", default: "true")
    }
  }

  static let table = KeyTable<SecretKey>()
}

/// The row of a hook; hooks of steps and of runs have the same form.
func hookRow(_ kind: HookKind, _ when: String) -> KeyRow {
  KeyRow(
    kind.keyText, .hook, when,
    """
    A string is a script; a list of strings is one argument vector; a list that contains lists or \
    maps with `run` is several commands. Each has ten minutes, or what its `timeout` says.
    """,
    example: "[{run: ./unlock.sh, timeout: 30s}, echo bye]")
}

extension HookKind {
  var stepKey: StepKey {
    switch self {
    case .onSuccess: .onSuccess
    case .onFailure: .onFailure
    case .onCancel: .onCancel
    case .onComplete: .onComplete
    }
  }

  var pipelineKey: PipelineKey {
    switch self {
    case .onSuccess: .onSuccess
    case .onFailure: .onFailure
    case .onCancel: .onCancel
    case .onComplete: .onComplete
    }
  }
}
