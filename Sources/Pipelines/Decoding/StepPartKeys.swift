// The keys of the small maps inside a step.

/// Keys of an item of `depends_on` that is a map.
package enum DependencyKey: UInt8, ObjectKey {
  case step, when, optional, match

  package var row: KeyRow {
    switch self {
    case .step: KeyRow("step", .identifier, "Which step.")
    case .when:
      KeyRow(
        "when", .choice(["ok", "succeeded", "failed", "done"]),
        "The ends that let this step run: ok is succeeded, skipped or an allowed failure; done is "
          + "any.", default: "ok")
    case .optional:
      KeyRow(
        "optional", .boolean, "Counts only if that step is in the selected graph.",
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
    case .limit: KeyRow("limit", .integer(0...1_000_000), "Extra attempts; required.")
    case .delay: KeyRow("delay", .duration, "Before the second attempt.", default: "0s")
    case .backoff:
      KeyRow(
        "backoff", .amount, "Each further delay is this many times the last; 1 to 1000.",
        default: "1")
    case .maxDelay: KeyRow("max_delay", .duration, "No delay is longer.")
    case .jitter:
      KeyRow(
        "jitter", .choice(["none", "full"]), "full draws each delay evenly from 0 to itself.",
        default: "none")
    case .on:
      KeyRow(
        "on", .list(.pattern("failed, timeout, signal or 'exit N'")), "What is retried.",
        default: "[failed, timeout]")
    }
  }

  static let table = KeyTable<RetryKey>()
}

/// Keys of `stop`.
package enum StopKey: UInt8, ObjectKey {
  case signal, grace

  package var row: KeyRow {
    switch self {
    case .signal:
      KeyRow(
        "signal", .either([.pattern("a signal such as TERM"), .integer(1...64)]),
        "Sent first, to the command's process group.", default: "TERM")
    case .grace: KeyRow("grace", .duration, "Until KILL.", default: "5s")
    }
  }

  static let table = KeyTable<StopKey>()
}

/// Keys of `allow_failure`.
package enum AllowFailureKey: UInt8, ObjectKey {
  case exitCodes

  package var row: KeyRow {
    KeyRow("exit_codes", .list(.integer(1...255)), "Only these are allowed.")
  }

  static let table = KeyTable<AllowFailureKey>()
}

/// Keys of an item of `wait_for`. One of the first four is there.
package enum WaitKey: UInt8, ObjectKey {
  case file, tcp, http, command, every, timeout

  package var row: KeyRow {
    switch self {
    case .file: KeyRow("file", .text, "Until the file exists.")
    case .tcp: KeyRow("tcp", .pattern("host:port"), "Until the port accepts a connection.")
    case .http: KeyRow("http", .pattern("a URL"), "Until the URL answers with a status below 400.")
    case .command:
      KeyRow("command", .either([.text, .list(.text)]), "Until the command ends with status 0.")
    case .every: KeyRow("every", .duration, "Between two looks.", default: "1s")
    case .timeout: KeyRow("timeout", .duration, "Then the step has timed out.")
    }
  }

  static let table = KeyTable<WaitKey>()
}

/// Keys of a parameter that is a map.
package enum ParamKey: UInt8, ObjectKey {
  case type, defaultValue, choices, pattern, required, description

  package var row: KeyRow {
    switch self {
    case .type:
      KeyRow(
        "type", .choice(["string", "int", "number", "bool", "list"]), "What it must be.",
        default: "string")
    case .defaultValue: KeyRow("default", .anything, "Its value unless one is given.")
    case .choices: KeyRow("enum", .list(.anything), "The only values that are allowed.")
    case .pattern:
      KeyRow(
        "pattern", .text, "A POSIX extended regular expression that the whole value must match.")
    case .required:
      KeyRow(
        "required", .boolean, "Without a default: whether a value must be given.", default: "true")
    case .description: KeyRow("description", .text, "For people.")
    }
  }

  static let table = KeyTable<ParamKey>()
}

/// Keys of a hook that is a map.
package enum HookCommandKey: UInt8, ObjectKey {
  case run, uses, with

  package var row: KeyRow {
    switch self {
    case .run: KeyRow("run", .either([.text, .list(.text)]), "As `run` of a step.")
    case .uses: KeyRow("uses", .text, "A built-in step.")
    case .with: KeyRow("with", .map(.anything), "Inputs of `uses`.")
    }
  }

  static let table = KeyTable<HookCommandKey>()
}
