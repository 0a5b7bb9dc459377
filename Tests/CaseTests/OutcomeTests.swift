// docs/outcomes.md: the tables of outcomes are what the code says, and each row is what a real run does.

import Foundation
import Plans
import Scheduling
import TestSupport
import Testing

/// A row of the table of steps.
struct StepRow: Sendable, CustomTestStringConvertible {
  let words: String
  let ending: Ending
  /// Whether it has run, and so has hooks.
  var hasRun = true
  /// Of a run in which nothing else happened.
  let status: Int32
  /// The steps that make it so; `HOOKS` stands for the hooks of the one that the row is about.
  let steps: String
  var target = "x"
  /// True if the same has run before.
  var isPrepared = false

  var testDescription: String { words }

  private static let failFast =
    "- {id: x, matrix: {n: [1, 2, 3]}, max_parallel: 2, fail_fast: true, "
    + "run: [sh, -c, 'if [ $0 = 1 ]; then until [ -e up ]; do sleep 0.01; done; exit 1; fi; "
    + "touch up; exec sleep 900', \"${{ matrix.n }}\"], HOOKS}"

  static let all = [
    StepRow(
      words: "succeeded", ending: Ending(.succeeded), status: 0,
      steps: "- {id: x, run: \"true\", HOOKS}"),
    StepRow(
      words: "cached", ending: Ending(.cached), hasRun: false, status: 0,
      steps: "- {id: x, run: \"true\", cache: {inputs: []}, HOOKS}", isPrepared: true),
    StepRow(
      words: "failed", ending: Ending(.failed), status: 1, steps: "- {id: x, run: exit 3, HOOKS}"),
    StepRow(
      words: "failed, allowed", ending: Ending(.failed, isAllowed: true), status: 0,
      steps: "- {id: x, run: exit 3, allow_failure: true, HOOKS}"),
    StepRow(
      words: "timed out", ending: Ending(.timedOut), status: 1,
      steps: "- {id: x, run: [sleep, '900'], timeout: 50ms, HOOKS}"),
    StepRow(
      words: "timed out, allowed", ending: Ending(.timedOut, isAllowed: true), status: 0,
      steps: "- {id: x, run: [sleep, '900'], timeout: 50ms, allow_failure: true, HOOKS}"),
    StepRow(
      words: "cancelled while it ran, by `fail_fast`", ending: Ending(.cancelled), status: 1,
      steps: failFast, target: "x[n=2]"),
    StepRow(
      words: "cancelled before it started, by `fail_fast`", ending: Ending(.cancelled),
      hasRun: false, status: 1, steps: failFast, target: "x[n=3]"),
    StepRow(
      words: "skipped: its `if` is false", ending: Ending(.skipped), hasRun: false, status: 0,
      steps: "- {id: x, if: 1 == 2, run: \"true\", HOOKS}"),
    StepRow(
      words: "skipped: its matrix is empty", ending: Ending(.skipped), hasRun: false, status: 0,
      steps: "- {id: x, matrix: {n: []}, run: \"true\", HOOKS}"),
    StepRow(
      words: "skipped: an edge", ending: Ending(.skipped), hasRun: false, status: 0,
      steps: """
        - {id: fine, run: "true"}
          - {id: x, depends_on: [{step: fine, when: failed}], run: "true", HOOKS}
        """),
    StepRow(
      words: "blocked", ending: Ending(.blocked), hasRun: false, status: 1,
      steps: """
        - {id: broken, run: "false"}
          - {id: x, depends_on: [broken], run: "true", HOOKS}
        """),
  ]

  var hooks: [HookKind] { hasRun ? ending.outcome.hooks : [] }
}

/// A row of the table of runs.
struct RunRow: Sendable, CustomTestStringConvertible {
  let words: String
  let outcome: Outcome
  let status: Int32
  var shownStatus: String?
  let pipeline: String
  var options = ""

  var testDescription: String { words }

  static let all = [
    RunRow(
      words: "every step is ok, allowed failures included", outcome: .succeeded, status: 0,
      pipeline: "steps: [{id: a, run: exit 3, allow_failure: true}, {id: b, run: \"true\"}]"),
    RunRow(
      words: "the same with `--strict`, and a failure was allowed", outcome: .failed, status: 1,
      pipeline: "steps: [{id: a, run: exit 3, allow_failure: true}]", options: "--strict"),
    RunRow(
      words: "a step failed or timed out", outcome: .failed, status: 1,
      pipeline: "steps: [{id: a, run: exit 3}, {id: b, run: \"true\"}]"),
    RunRow(
      words: "somebody cancelled a step (`oprun cancel STEP`)", outcome: .failed, status: 1,
      pipeline: "steps: [{id: a, run: 'oprun cancel \"$OPRUN_RUN_ID\" a; exec sleep 900'}]"),
    RunRow(
      words: "a failure stopped the run (`failure_policy`)", outcome: .failed, status: 1,
      pipeline: "failure_policy: stop\nmax_parallel: 1\n"
        + "steps: [{id: a, run: exit 3}, {id: b, run: \"true\"}]"),
    RunRow(
      words: "its `timeout` has passed", outcome: .timedOut, status: 124,
      pipeline: "timeout: 100ms\nsteps: [{id: a, run: [sleep, '900']}]"),
    RunRow(
      words: "signal N stopped it", outcome: .cancelled, status: 143, shownStatus: "128 + N",
      pipeline: "steps: [{id: a, run: \"kill -TERM $PPID; exec sleep 900\"}]"),
    RunRow(
      words: "somebody cancelled it (`oprun cancel`)", outcome: .cancelled, status: 143,
      pipeline: "steps: [{id: a, run: 'oprun cancel \"$OPRUN_RUN_ID\"; exec sleep 900'}]"),
    RunRow(
      words: "nothing may start: `max_parallel` is 0", outcome: .cancelled,
      status: 1, pipeline: "max_parallel: 0\nsteps: [{id: a, run: \"true\"}]"),
    RunRow(
      words: "logs or state cannot be kept", outcome: .cancelled, status: 74,
      pipeline: "steps: [{id: a, run: rm -rf .oprun}]"),
  ]
}

/// Those that a step may have that is no service.
private let conditions: [EdgeCondition] = [.ok, .succeeded, .failed, .done]

@Suite(.blocking) struct `The tables of outcomes` {
  @Test func `have every outcome`() {
    #expect(Set(StepRow.all.map(\.ending.outcome)) == Set(Outcome.allCases))
  }

  @Test(arguments: StepRow.all)
  func `of steps are true`(row: StepRow) throws {
    let workspace = try Workspace(named: "work", holding: [])
    let hooks = HookKind.allCases.map {
      "\($0.key): 'test \"$OPRUN_STEP\" != \"\(row.target)\" || echo \($0.key) $OPRUN_STATUS >>hooks'"
    }.joined(separator: ", ")
    let alone = "max_parallel: 4\nsteps:\n  \(row.steps.replacing("HOOKS", with: hooks))\n"
    try workspace.write(alone, to: "alone.yml")
    let dependents = conditions.map {
      "  - {id: \($0), depends_on: [{step: '\(row.target)', when: \($0)}], run: \"true\"}\n"
    }
    try workspace.write(alone + dependents.joined(), to: "all.yml")
    if row.isPrepared { _ = try workspace.run("oprun alone.yml") }
    try workspace.write("", to: "hooks")
    let end = try workspace.run("oprun alone.yml")
    #expect(end.status == row.status, "\(end.errors)")
    let ran = row.hooks.map { "\($0.key) \(row.ending.outcome.word)\n" }.joined()
    #expect(try workspace.run("cat hooks").output == ran)
    let all = try workspace.run("rm -f up; oprun all.yml")
    for condition in conditions {
      let line =
        switch condition.effect(of: row.ending) {
        case .runs: "\n✓ \(condition) "
        case .skips: "\n- \(condition) +skipped: "
        case .blocks: "\n- \(condition) +blocked: "
        }
      #expect(try all.errors.contains(Regex(line)), "\(condition): \(all.errors)")
    }
  }

  @Test(arguments: RunRow.all)
  func `of runs are true`(row: RunRow) throws {
    let workspace = try Workspace(named: "work", holding: [])
    let hooks = HookKind.allCases.map {
      "\($0.key): echo \($0.key) $OPRUN_STATUS $OPRUN_EXIT_CODE >>../hooks\n"
    }
    try workspace.write(hooks.joined() + row.pipeline, to: "pipeline.yml")
    let end = try workspace.run("oprun \(row.options) pipeline.yml")
    #expect(end.status == row.status, "\(end.errors)")
    let ran = row.outcome.hooks.map { "\($0.key) \(row.outcome.word) \(row.status)\n" }.joined()
    #expect(try workspace.run("cat ../hooks").output == ran)
  }

  @Test(arguments: [
    ("true", "exit 9", "failed", Int32(1)), ("true", "exec sleep 900", "failed", 1),
    ("true", "kill -INT $PPID; exec sleep 900", "cancelled", 130),
    ("exit 3", "exit 9", "failed", 1),
    ("exit 3", "kill -INT $PPID; exec sleep 900", "failed", 130),
  ])
  func `of hooks are true`(command: String, hook: String, outcome: String, status: Int32) throws {
    let workspace = try Workspace(named: "work", holding: [])
    // A signal that comes after the time limit would find nothing to do.
    let limit = hook.hasPrefix("exec") ? "200ms" : "15m"
    try workspace.write(
      """
      steps:
        - id: a
          run: \(command)
          on_success: {run: "\(hook)", timeout: \(limit)}
          on_failure: {run: "\(hook)", timeout: \(limit)}
          on_complete: echo $OPRUN_STATUS
      """, to: "pipeline.yml")
    let end = try workspace.run("oprun pipeline.yml")
    #expect(end.status == status, "\(end.errors)")
    #expect(end.output == outcome + "\n", "\(end.errors)")
    #expect(!end.errors.contains("memory"), "\(end.errors)")
  }
}

extension EdgeEffect {
  fileprivate var words: String {
    switch self {
    case .runs: "runs"
    case .skips: "skipped"
    case .blocks: "blocked"
    }
  }
}

private func inWords(_ hooks: [HookKind]) -> String {
  hooks.isEmpty ? "none" : hooks.map { "`\($0.key)`" }.joined(separator: ", ")
}

func stepTable() -> String {
  let conditions: [EdgeCondition] = [.ok, .succeeded, .failed, .done]
  return table(
    ["a step"] + conditions.map { "`\($0)`" } + ["hooks", "status"],
    StepRow.all.map { row in
      [row.words] + conditions.map { $0.effect(of: row.ending).words }
        + [inWords(row.hooks), "\(row.status)"]
    })
}

func runTable() -> String {
  table(
    ["a run", "`OPRUN_STATUS`", "hooks", "status"],
    RunRow.all.map { row in
      [
        row.words, "`\(row.outcome.word)`", inWords(row.outcome.hooks),
        row.shownStatus ?? "\(row.status)",
      ]
    })
}
