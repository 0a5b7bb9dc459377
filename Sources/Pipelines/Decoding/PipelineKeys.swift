// The keys at the top level of a pipeline file, and of its queues.

import Plans

/// Keys of the file itself. Keys that begin with `x-` and `$schema` are allowed besides.
package enum PipelineKey: UInt8, ObjectKey {
  case version, name, description, params, env, dotenv, secrets, maxParallel, queues, resources
  case defaults, failurePolicy, timeout, shell, workingDir, sequence, include, mutex, steps
  case onSuccess, onFailure, onCancel, onComplete, schema, outputs

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
        "env", .map(.template, names: .variable), "Environment variables for every step.",
        example: "{LC_ALL: C, VERBOSE: 1}")
    case .dotenv:
      KeyRow(
        "dotenv", .list(.filledText),
        "`.env` files, which `env` overrides. A file whose name ends in `?` may be missing.",
        example: "[.env, local.env?]")
    case .secrets:
      KeyRow(
        "secrets", .list(.object(.secret)), "Values that are masked in everything oprun prints.",
        example: "[{name: DEPLOY_TOKEN}]")
    case .maxParallel:
      KeyRow(
        "max_parallel", .either([.integer(0...1_000_000), .choice(["auto"])]),
        "How many steps of the default queue run at once; `auto` is the number of processors, "
          + "0 starts nothing.", default: "auto")
    case .queues:
      KeyRow(
        "queues", .map(.object(.queue), names: .queue), "Further queues for steps, by name.",
        example: "{network: {max_parallel: 16}}")
    case .resources:
      KeyRow(
        "resources", .map(.amount, names: .identifier),
        "Sizes of the pools that steps share, by name.", example: "{memory: 8, gpu: 0.5}")
    case .defaults:
      KeyRow(
        "defaults", .object(.defaults), "Keys for every step that does not set them itself.",
        example: "{timeout: 10m, retry: 1}")
    case .failurePolicy:
      KeyRow(
        "failure_policy", .choice(["continue", "stop", "cancel"]),
        "After a failure: steps that do not depend on it go on, nothing new starts, or running steps "
          + "are cancelled too.", default: "continue")
    case .timeout: KeyRow("timeout", .duration, "Time limit of the whole run.", example: "1h")
    case .shell:
      KeyRow(
        "shell", .shell, "The shell that runs the scripts.", default: "sh", example: "[bash, -eux]")
    case .workingDir:
      KeyRow(
        "working_dir", .filledTemplate,
        "Directory of the steps, relative to where oprun was started.",
        example: "src")
    case .sequence:
      KeyRow("sequence", .boolean, "Every step waits for the one before it.", default: "false")
    case .include:
      KeyRow(
        "include", .list(.filledText), "Files to merge into this one.", example: "[common.yml]")
    case .mutex: KeyRow("mutex", .choice(["pipeline"]), "One run of this file at a time.", .notYet)
    case .steps:
      KeyRow(
        "steps", .filledList(.object(.step)), "The steps to run; at least one.",
        example: "[{id: hello, run: echo hello}]", isRequired: true)
    case .onSuccess: hookRow("on_success", "After a run in which every step is ok.")
    case .onFailure: hookRow("on_failure", "After a run in which a step failed or timed out.")
    case .onCancel: hookRow("on_cancel", "After a run that was cancelled.")
    case .onComplete: hookRow("on_complete", "After every run, last.")
    case .schema:
      KeyRow(
        "$schema", .text, "For editors.", example: "./schema/pipeline.schema.json")
    case .outputs:
      KeyRow(
        "outputs", .map(.template, names: .identifier), "Outputs of a step that uses this file.",
        example: "{tag: '${{ steps.version.outputs.tag }}'}")
    }
  }

  package static var allowsExtensions: Bool { true }

  static let table = KeyTable<PipelineKey>()
}

/// Keys of one queue under `queues`.
package enum QueueKey: UInt8, ObjectKey {
  case maxParallel, startSuspended

  package var row: KeyRow {
    switch self {
    case .maxParallel:
      KeyRow(
        "max_parallel", .either([.integer(0...1_000_000), .choice(["auto"])]),
        "How many of its steps run at once.", default: "auto")
    case .startSuspended:
      KeyRow("start_suspended", .boolean, "Starts nothing until it is resumed.", default: "false")
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

/// Hooks of steps and of runs have one form.
func hookRow(_ name: StaticString, _ when: String) -> KeyRow {
  KeyRow(
    name, .hook,
    when
      + " A string is a script; a list of strings is one argument vector; a list that contains lists or "
      + "maps with `run` is several commands.", example: "[{run: ./unlock.sh}, echo bye]")
}
