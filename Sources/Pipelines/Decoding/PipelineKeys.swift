// The keys at the top level of a pipeline file, and of its queues.

/// Keys of the file itself. Keys that begin with `x-` and `$schema` are allowed besides.
package enum PipelineKey: UInt8, ObjectKey {
  case version, name, description, params, env, dotenv, secrets, maxParallel, queues, resources
  case defaults, failurePolicy, timeout, shell, workingDir, sequence, include, mutex, steps
  case onSuccess, onFailure, onCancel, onComplete, schema, outputs

  package var row: KeyRow {
    switch self {
    case .version: KeyRow("version", .integer(1...1), "Format of the file.", default: "1")
    case .name: KeyRow("name", .text, "For people; the file's name if not given.")
    case .description: KeyRow("description", .text, "For people.")
    case .params:
      KeyRow("params", .map(.anything), "Typed inputs, set by `--param`.")
    case .env: KeyRow("env", .map(.text), "Environment variables for every step.")
    case .dotenv:
      KeyRow(
        "dotenv", .list(.text),
        "Files of variables, under `env`. A name that ends in `?` need not be there.")
    case .secrets:
      KeyRow(
        "secrets", .list(.object("maps")), "Values that are masked in everything oprun prints.")
    case .maxParallel:
      KeyRow(
        "max_parallel", .either([.integer(0...1_000_000), .choice(["auto"])]),
        "How many steps of the default queue run at once; `auto` is the number of processors, "
          + "0 starts nothing.", default: "auto")
    case .queues:
      KeyRow("queues", .map(.object("a map of queue settings")), "More lanes for steps, by name.")
    case .resources:
      KeyRow("resources", .map(.amount), "Pools that steps take shares of, by name.")
    case .defaults:
      KeyRow(
        "defaults", .object("a map of step keys"), "For every step that does not set the key.")
    case .failurePolicy:
      KeyRow(
        "failure_policy", .choice(["continue", "stop", "cancel"]),
        "After a failure: everything not downstream goes on, nothing new starts, or running steps "
          + "are cancelled too.", default: "continue")
    case .timeout: KeyRow("timeout", .duration, "For the whole run.")
    case .shell:
      KeyRow("shell", .either([.text, .list(.text)]), "What runs the scripts.", default: "sh")
    case .workingDir:
      KeyRow("working_dir", .text, "Directory of the steps, from where oprun was started.")
    case .sequence:
      KeyRow("sequence", .boolean, "Every step waits for the one before it.", default: "false")
    case .include: KeyRow("include", .list(.text), "Files that are merged in.")
    case .mutex: KeyRow("mutex", .choice(["pipeline"]), "One run of this file at a time.", .notYet)
    case .steps: KeyRow("steps", .list(.object("maps")), "What to run; at least one.")
    case .onSuccess: hookRow("on_success", "After a run in which every step is ok.")
    case .onFailure: hookRow("on_failure", "After a run in which a step failed or timed out.")
    case .onCancel: hookRow("on_cancel", "After a run that was cancelled.")
    case .onComplete: hookRow("on_complete", "After every run, last.")
    case .schema: KeyRow("$schema", .text, "For editors.")
    case .outputs: KeyRow("outputs", .map(.text), "What a step that uses this file offers.")
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
    case .name: KeyRow("name", .identifier, "Required; with `from: env` also the variable's name.")
    case .from:
      KeyRow("from", .choice(["env", "file"]), "Where the value is.", default: "env")
    case .path:
      KeyRow("path", .text, "The file, from where oprun was started; only with `from: file`.")
    case .required:
      KeyRow("required", .boolean, "Nothing runs without it.", default: "true")
    }
  }

  static let table = KeyTable<SecretKey>()
}

/// Hooks of steps and of runs have one form.
func hookRow(_ name: StaticString, _ when: String) -> KeyRow {
  KeyRow(
    name, hookType,
    when + " Text is a script; a list of texts is one argument vector; a list that holds lists or "
      + "maps with `run` is several commands.")
}

private let hookType = ValueType.either([.text, .list(.text), .object("a map with 'run'")])
