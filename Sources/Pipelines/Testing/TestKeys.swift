// The keys of a file with tests of a pipeline.

import Plans
import Scheduling

/// Keys at top level.
package enum TestFileKey: UInt8, ObjectKey {
  case pipeline, cases

  package static var allowsExtensions: Bool { true }

  package var row: KeyRow {
    switch self {
    case .pipeline:
      KeyRow(
        "pipeline", .filledText,
        "The pipeline, relative to this file; by default `NAME.yml` beside `NAME.test.yml`.",
        example: "release.yml")
    case .cases:
      KeyRow(
        "cases", .filledList(.object(.testCase)), "Runs that are rehearsed.",
        example: "[{name: all is well, expect: {exit: 0}}]", isRequired: true)
    }
  }

  static let table = KeyTable<TestFileKey>()
}

/// Keys of a case.
package enum TestCaseKey: UInt8, ObjectKey {
  case name, params, env, select, jobs, steps, expect

  package var row: KeyRow {
    switch self {
    case .name:
      KeyRow(
        "name", .filledText, "What the case shows.", example: "a failed test blocks the release",
        isRequired: true)
    case .params:
      KeyRow(
        "params", .map(.text), "Values of parameters, as with `--param`.", example: "{target: prod}"
      )
    case .env:
      KeyRow(
        "env", .map(.text), "The only variables that the run inherits.", example: "{CI: 'true'}")
    case .select:
      KeyRow(
        "select", .list(.text), "The steps to run, as on the command line.", example: "[build]")
    case .jobs:
      KeyRow(
        "jobs", .integer(0...1_000_000), "The width of the default queue, as with `-j`.",
        example: "1")
    case .steps:
      KeyRow(
        "steps", .map(.either([.choice(TestStubKey.words), .object(.testStub)])),
        "What commands do, by the id of the step; `a.on_failure` is a hook of it, `a.wait_for` a "
          + "condition, `on_failure` a hook of the run. The others succeed.",
        example: "{unit: failed, build: {duration: 20s, outputs: {tag: v1}}}")
    case .expect:
      KeyRow(
        "expect", .object(.testExpectation), "The expected result.",
        example: "{exit: 1, outcomes: {deploy: blocked}}")
    }
  }

  static let table = KeyTable<TestCaseKey>()
}

/// Keys of a stub.
package enum TestStubKey: UInt8, ObjectKey {
  case exit, signal, duration, failures, outputs

  static let signals = [
    "ABRT", "ALRM", "BUS", "FPE", "HUP", "ILL", "INT", "KILL", "PIPE", "QUIT", "SEGV", "TERM",
    "USR1", "USR2",
  ]

  /// The words that may be written instead of a map.
  static let words = ["succeeded", "failed"]

  package var row: KeyRow {
    switch self {
    case .exit:
      KeyRow(
        "exit", .integer(0...255), "Its exit status; 0, or 1 with `failures`, if it is not given.",
        example: "75")
    case .signal:
      KeyRow(
        "signal", .choice(Self.signals), "The signal that ends it.", example: "KILL")
    case .duration:
      KeyRow(
        "duration", .durationOrZero,
        "How long it runs; `expected` of the step, or a second, if it is not given. Hooks and "
          + "conditions take no time, and a service goes on.",
        example: "20s")
    case .failures:
      KeyRow(
        "failures", .integer(1...1_000_000),
        "How many times it ends like this before it succeeds; always, if it is not given.",
        example: "2")
    case .outputs:
      KeyRow(
        "outputs", .map(.anything, names: .identifier), "What it writes to `OPRUN_OUTPUT`.",
        example: "{tag: v1}")
    }
  }

  static let table = KeyTable<TestStubKey>()
}

/// Keys of `expect`.
package enum ExpectationKey: UInt8, ObjectKey {
  case exit, error, outcomes, order, blockedBy, hooks, attempts, commands, env, outputs, longest

  package var row: KeyRow {
    switch self {
    case .exit: KeyRow("exit", .integer(0...255), "The exit status of oprun.", example: "1")
    case .error:
      KeyRow(
        "error", .filledText, "Words of the error that prevents the run.",
        example: "must match")
    case .outcomes:
      KeyRow(
        "outcomes", .map(.choice(Outcome.allCases.map(\.word))), "How steps ended.",
        example: "{unit: failed, deploy: blocked}")
    case .order:
      KeyRow(
        "order", .list(.text), "These steps start one after the other.", example: "[build, deploy]")
    case .blockedBy:
      KeyRow(
        "blocked_by", .map(.text), "The step because of which another one is blocked.",
        example: "{deploy: unit}")
    case .hooks:
      KeyRow(
        "hooks", .list(.text), "All hooks that ran, in order.",
        example: "[deploy.on_failure, on_complete]")
    case .attempts:
      KeyRow(
        "attempts", .map(.integer(0...1_000_000)), "How often steps were started.",
        example: "{unit: 3}")
    case .commands:
      KeyRow(
        "commands", .map(.text), "The commands of steps, with all values inserted.",
        example: "{deploy: ./deploy.sh prod}")
    case .env:
      KeyRow(
        "env", .map(.map(.text)), "Variables that steps get.", example: "{deploy: {TAG: v1}}")
    case .outputs:
      KeyRow(
        "outputs", .map(.anything), "Outputs of the pipeline.", example: "{tag: v1}")
    case .longest:
      KeyRow(
        "longest", .duration, "The run takes no longer, in the time of the stubs.", example: "1m")
    }
  }

  static let table = KeyTable<ExpectationKey>()
}
