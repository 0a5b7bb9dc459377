// The keys of the small maps inside a step. Defaults that are made from those of the code are
// constants: a row is made whenever a value is decoded.

import Diagnostics
import Plans

/// Keys of an item of `depends_on` that is a map.
package enum DependencyKey: UInt8, ObjectKey {
  case step, when, optional, match

  package var row: KeyRow {
    switch self {
    case .step:
      KeyRow(
        "step", .dependency, "Which step, or which instance of it.", example: "build",
        isRequired: true)
    case .when:
      KeyRow(
        "when", .choice(["ok", "succeeded", "failed", "done", "ready"]),
        "The outcomes that let this step run: ok means succeeded, skipped or an allowed failure; done means "
          + "any. Of a service, ready (which is the default there) means that it is ready.",
        default: "ok")
    case .optional:
      KeyRow(
        "optional", .boolean, "The edge counts only if that step is in the selected graph.",
        default: "false")
    case .match:
      KeyRow(
        "match", .choice(["matrix"]),
        "Each instance waits for the instances whose axes are equal as far as both have them.")
    }
  }

  static let table = KeyTable<DependencyKey>()
}

/// Keys of `retry`.
package enum RetryKey: UInt8, ObjectKey {
  case limit, delay, backoff, maxDelay, jitter, on

  package var row: KeyRow {
    switch self {
    case .limit:
      KeyRow(
        "limit", .early(.integer(0...1_000_000)), "Extra attempts; required.", example: "3",
        isRequired: true)
    case .delay:
      KeyRow(
        "delay", .durationOrZero, "Delay before the second attempt.", default: "0s", example: "1s")
    case .backoff:
      KeyRow(
        "backoff", .factor, "The factor by which each further delay grows; 1 to 1000.",
        default: "1")
    case .maxDelay: KeyRow("max_delay", .duration, "The longest delay.", example: "1m")
    case .jitter:
      KeyRow(
        "jitter", .choice(["none", "full"]),
        "full picks each delay at random between 0 and its full length.",
        default: "none")
    case .on:
      KeyRow(
        "on", .filledList(trigger), "Which failures are retried.", default: "[failed, timeout]",
        example: "[signal, exit 75]")
    }
  }

  static let table = KeyTable<RetryKey>()
}

/// The triggers that are one word, by that word.
let triggerWords: [(word: String, trigger: RetryTrigger)] = [
  ("failed", .failed), ("timeout", .timedOut), ("signal", .signal),
]

private let trigger = ValueType.pattern(
  inWords(triggerWords.map(\.word) + ["'exit N'"]),
  matching: "^(\(triggerWords.map(\.word).joined(separator: "|"))"
    + "|exit \\+?0*([1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5]))$")

/// The signals for `stop`, without those that do not end a program.
let stopSignals = ["HUP", "INT", "QUIT", "ABRT", "KILL", "USR1", "USR2", "ALRM", "TERM"]

private let nameOfSignal = ValueType.pattern(
  "a signal such as TERM",
  matching: "^(SIG)?(\(stopSignals.joined(separator: "|")))$")

/// Keys of `stop`.
package enum StopKey: UInt8, ObjectKey {
  case signal, grace

  package var row: KeyRow {
    switch self {
    case .signal:
      KeyRow(
        "signal", .either([nameOfSignal, .integer(1...64)]),
        "Signal that is sent first, to the command's process group.", default: Self.defaultSignal)
    case .grace: KeyRow("grace", .durationOrZero, "Until KILL.", default: Self.defaultGrace)
    }
  }

  /// `stop` as it is without the key: `{signal: TERM, grace: 5s}`.
  static let defaultMap = "{signal: \(defaultSignal), grace: \(defaultGrace)}"
  private static let defaultSignal = String(signalName(StopSequence().signal).dropFirst(3))
  private static let defaultGrace = exactDuration(StopSequence().grace)

  static let table = KeyTable<StopKey>()
}

/// Keys of `allow_failure`.
package enum AllowFailureKey: UInt8, ObjectKey {
  case exitCodes

  package var row: KeyRow {
    KeyRow(
      "exit_codes", .filledList(.integer(1...255)), "The only exit statuses that are allowed.",
      example: "[1, 75]", isRequired: true)
  }

  static let table = KeyTable<AllowFailureKey>()
}

/// Keys of an item of `wait_for`.
package enum WaitKey: UInt8, ObjectKey {
  case file, tcp, http, command, every, timeout

  package var row: KeyRow {
    switch self {
    case .file: KeyRow("file", .filledTemplate, "Waits until the file exists.", example: "ready")
    case .tcp:
      KeyRow(
        "tcp", .filledTemplate,
        "`host:port`, or `[IPv6]:port`; waits until the port accepts a connection.",
        example: "localhost:5432")
    case .http:
      KeyRow(
        "http", .filledTemplate, "Waits until the URL answers with a status below 400.",
        example: "http://localhost:8080/health")
    case .command:
      KeyRow(
        "command", .command, "Waits until the command exits with status 0.",
        example: "./is-ready.sh")
    case .every:
      KeyRow("every", .duration, "Time between two checks.", default: Self.defaultInterval)
    case .timeout:
      KeyRow("timeout", .duration, "How long to wait before the step times out.", example: "1m")
    }
  }

  /// The kind of condition that the key makes it; nil if conditions of each kind may have the key.
  var kind: ProbeModel.Kind? {
    switch self {
    case .file: .file
    case .tcp: .tcp
    case .http: .http
    case .command: .command
    case .every, .timeout: nil
    }
  }

  /// The keys of which a condition has exactly one.
  static let kinds = allCases.filter { $0.kind != nil }
  private static let defaultInterval = exactDuration(ProbeModel.defaultInterval)

  static let table = KeyTable<WaitKey>()
}

/// Keys of `background`.
package enum BackgroundKey: UInt8, ObjectKey {
  case ready

  package var row: KeyRow {
    KeyRow(
      "ready", .list(.object(.wait)),
      "The service is ready once these hold, one after the other.",
      example: "[{tcp: 'localhost:5432', timeout: 1m}]", isRequired: true)
  }

  static let table = KeyTable<BackgroundKey>()
}

/// Keys of `mutex`.
package enum MutexKey: UInt8, ObjectKey {
  case name, scope

  package var row: KeyRow {
    switch self {
    case .name:
      KeyRow(
        "name", .filledTemplate, "At most one step with the same value runs at a time.",
        example: "database", isRequired: true)
    case .scope:
      KeyRow(
        "scope", .choice(["run", "host"]),
        "Among which steps: those of the run, or those of all runs of the user on the machine.",
        default: "run", example: "host")
    }
  }

  static let table = KeyTable<MutexKey>()
}

/// Keys of `cache`.
package enum CacheKey: UInt8, ObjectKey {
  case inputs, outputs, env, tools, scratch, enforce

  package var row: KeyRow {
    switch self {
    case .inputs:
      KeyRow(
        "inputs", .list(.filledTemplate),
        "Patterns of the files that the command reads; `!` in front excludes files.",
        example: "['src/**', '!src/old/**']", isRequired: true)
    case .outputs:
      KeyRow(
        "outputs", .list(.filledTemplate),
        "Patterns of the files and directories that the command creates.",
        example: "[build/app]")
    case .env:
      KeyRow(
        "env", .list(variableName),
        "The inherited variables that the command gets; no other is passed on.",
        example: "[CC]")
    case .tools:
      KeyRow(
        "tools", .list(.filledText), "Commands whose output the result depends on.",
        example: "[cc --version]")
    case .scratch:
      KeyRow(
        "scratch", .list(.filledTemplate),
        "Patterns of files that the command may use freely, and no other step relies on.",
        example: "[build/tmp]")
    case .enforce:
      KeyRow(
        "enforce", .boolean, "In the workspace, the command can reach only what is declared.",
        default: "true")
    }
  }

  static let table = KeyTable<CacheKey>()
}

private let variableName = ValueType.pattern(
  "the name of a variable", matching: "^[A-Za-z_][A-Za-z0-9_]*$")

/// Keys of a parameter that is a map.
package enum ParamKey: UInt8, ObjectKey {
  case type, defaultValue, choices, pattern, required, rest, description

  package var row: KeyRow {
    switch self {
    case .type:
      KeyRow(
        "type", .choice(["string", "int", "number", "bool", "list"]),
        "Type of the value; without it that of the default, or a string if there is none.",
        example: "int")
    case .defaultValue:
      KeyRow(
        "default", .constant, "The value if none is given; it must match the type.", example: "dev")
    case .choices:
      KeyRow(
        "enum", .filledList(.constant), "The only values allowed; they must match the type.",
        example: "[dev, prod]")
    case .pattern:
      KeyRow(
        "pattern", .filledText,
        "A regular expression (PCRE2) that the whole value must match.",
        example: "'v[0-9.]+'")
    case .required:
      KeyRow(
        "required", .boolean, "Whether a value must be given if there is no default.",
        default: "true")
    case .rest:
      KeyRow(
        "rest", .boolean,
        "The list holds the arguments that follow `--` on the command line; one parameter of a file can.",
        default: "false")
    case .description:
      KeyRow("description", .text, "What the parameter is for.", example: "Where it goes.")
    }
  }

  static let table = KeyTable<ParamKey>()
}

/// Keys of a hook that is a map.
package enum HookCommandKey: UInt8, ObjectKey {
  case run, uses, with, timeout

  package var row: KeyRow {
    switch self {
    case .run: KeyRow("run", .command, "Like `run` of a step.", example: "./notify.sh")
    case .uses: KeyRow("uses", .builtIn, "A built-in step.", example: "wait")
    case .with: KeyRow("with", .map(.anything), "Inputs of `uses`.", example: "{file: ready}")
    case .timeout:
      KeyRow(
        "timeout", .duration, "Time limit of the command.", default: Self.defaultTimeout,
        example: "30s")
    }
  }

  private static let defaultTimeout = exactDuration(HookCommand.defaultTimeout)

  static let table = KeyTable<HookCommandKey>()
}
