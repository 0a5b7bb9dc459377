// docs/outcomes.md: the tables of variables are what the code says, and what commands and oprun do.

import Foundation
import Plans
import Scheduling
import TestSupport
import Testing

@testable import oprun

@Suite(.blocking) struct `The tables of variables` {
  @Test func `commands have these and no others`() throws {
    let workspace = try Workspace(named: "work", holding: [])
    let names = "env | sed -n 's/^\\(OPRUN[A-Z_]*\\)=.*/\\1/p' | sort | tr '\\n' ' ' >>"
    try workspace.write(
      """
      params: {tint: red}
      on_complete: \(names)run-hook
      steps:
        - id: a
          run: \(names)step
          on_success: \(names)step-hook
          wait_for:
            - command: \(names)probe
      """, to: "pipeline.yml")
    let inherited = OprunVariable.allCases.filter(\.isOfCommand).map { ($0.rawValue, "old") }
    let end = try workspace.run(
      "oprun pipeline.yml",
      environment: Dictionary(inherited, uniquingKeysWith: { first, _ in first })
        .merging(["OPRUN_STEP_COOKIE": ""]) { $1 })
    #expect(end.status == 0, "\(end.errors)")
    func wanted(_ audiences: [OprunVariable.Audience]) -> String {
      let names = OprunVariable.allCases.filter { audiences.contains($0.audience) }.map(\.rawValue)
      return (names + ["OPRUN_PARAM_TINT"]).sorted().joined(separator: " ") + " "
    }
    #expect(try workspace.run("cat probe").output == wanted([.commands]))
    #expect(try workspace.run("cat step").output == wanted([.commands]))
    #expect(try workspace.run("cat step-hook").output == wanted([.commands, .hooks]))
    #expect(try workspace.run("cat run-hook").output == wanted([.commands, .hooks, .runHooks]))
  }

  @Test func `have the values that are told`() throws {
    let workspace = try Workspace(named: "work", holding: [])
    let values =
      "echo \"$OPRUN $OPRUN_STEP $OPRUN_ATTEMPT $OPRUN_STATUS [$OPRUN_EXIT_CODE] [$OPRUN_SIGNAL] "
      + "${OPRUN_DURATION_MS%%[0-9]*} $OPRUN_FAILED_STEPS\" >>values"
    try workspace.write(
      """
      max_parallel: 1
      on_complete: '\(values)'
      steps:
        - {id: good, run: "true", on_success: '\(values)'}
        - {id: bad, run: exit 7, retry: 1, on_failure: '\(values)'}
        - {id: killed, run: kill -KILL $$, on_failure: '\(values)'}
        - {id: late, run: [sleep, '900'], timeout: 50ms, on_failure: '\(values)'}
        - {id: absent, run: [no-such-program], on_failure: '\(values)'}
        - {id: waits, run: "true", wait_for: [{file: none, every: 10ms, timeout: 20ms}], on_failure: '\(values)'}
        - {id: each, matrix: {n: [1]}, run: exit 1, allow_failure: true, on_complete: '\(values)'}
      """, to: "pipeline.yml")
    #expect(try workspace.run("oprun pipeline.yml").status == 1)
    let seen = try workspace.run("sort values").output
    #expect(
      seen == """
        1 @run 0 failed [1] []  bad killed late absent waits
        1 absent 1 failed [127] []  \n1 bad 2 failed [7] []  \n1 each[n=1] 1 failed [1] []  \n1 good 1 succeeded [0] []  \n1 killed 1 failed [137] [9]  \n1 late 1 timed_out [143] [15]  \n1 waits 0 timed_out [] []  \n
        """)
  }

  /// Linux refuses a variable of more than 128 KiB, and the command with it.
  @Test func `hold as many failed steps as a command can be given`() throws {
    let workspace = try Workspace(named: "work", holding: [])
    let long = String(repeating: "x", count: 120)
    let steps = (1...1500).map { "  - {id: \(long)\($0), run: [\"false\"]}\n" }.joined()
    try workspace.write(
      "on_failure: 'echo \"${#OPRUN_FAILED_STEPS} ${OPRUN_FAILED_STEPS##* }\" >said'\nsteps:\n"
        + steps, to: "pipeline.yml")
    #expect(try workspace.run("oprun --output quiet pipeline.yml").status == 1)
    let said = try workspace.run("cat said").output.split(separator: " ")
    #expect(said.count == 2)
    #expect(said.first.flatMap { Int($0) }.map { (60_000...65_536).contains($0) } == true)
    #expect(said.last?.wholeMatch(of: /x{120}[0-9]+\n/) != nil)
  }

  @Test func `are all read`() throws {
    let workspace = try Workspace(named: "work", holding: [])
    try workspace.write(
      """
      params: {tint: {default: red, enum: [red, blue]}}
      steps: [{id: a, run: exit 5}]
      """, to: "pipeline.yml")
    #expect(try workspace.run("oprun --output quiet pipeline.yml").status == 1)
    let aboutRuns = [
      "resume", "history", "show", "logs", "report", "analyze", "prune", "status", "pause",
      "continue", "cancel", "doctor",
    ]
    let operands = ["retry": "a", "set": "max_parallel=2", "trace": "pipeline.yml a"]
    for (option, commands) in flags() {
      for command in commands {
        let operand = operands[command] ?? (aboutRuns.contains(command) ? "" : "pipeline.yml")
        let line = "oprun \(command) \(operand)"
        switch option.value {
        case nil, .count, .duration, .choice:
          let end = try workspace.run(line, environment: [option.variable: "wrong"])
          #expect(end.status == 2, "\(option.variable) \(command)")
          #expect(end.errors.contains("'\(option.variable)' wants "), "\(end.errors)")
        case .text where option.name == "queue":
          // Only a run in progress knows its queues.
          let end = try workspace.run(line, environment: [option.variable: "none"])
          #expect(end.status == 4, "\(option.variable) \(command)")
        case .text:
          let end = try workspace.run(line, environment: [option.variable: "/dev/null/x"])
          // Without a state directory nothing is known of cached steps, which is no mistake.
          if command == "why" { continue }
          // It is one of its findings.
          if command == "doctor" { continue }
          #expect([2, 4, 74].contains(end.status), "\(option.variable) \(command)")
          #expect(end.errors.contains("/dev/null/x"), "\(end.errors)")
        case .assignment:
          let end = try workspace.run(line, environment: ["OPRUN_PARAM_TINT": "green"])
          // A resumed run keeps the parameters that it had, and says so.
          let isKept = command == "resume"
          #expect(end.status == (isKept ? 1 : 2), "\(command): \(end.errors)")
          #expect(end.errors.lowercased().contains("tint"), "\(command): \(end.errors)")
        }
      }
    }
  }
}

/// Each variable once, with the commands that read it.
private func flags() -> [(option: oprun.Option, commands: [String])] {
  var flags: [(option: oprun.Option, commands: [String])] = []
  for command in Subcommand.all {
    for option in command.options where !option.variable.isEmpty {
      if let known = flags.firstIndex(where: { $0.option.variable == option.variable }) {
        flags[known].commands.append(command.name)
      } else {
        flags.append((option, [command.name]))
      }
    }
  }
  return flags
}

func variableTable() -> String {
  table(
    ["variable", "for", "value"],
    OprunVariable.allCases.map { ["`\($0.rawValue)`", $0.audience.words, $0.meaning] } + [
      ["`OPRUN_PARAM_<NAME>`", "all commands", "the value of a parameter of the pipeline"],
      [
        "`OPRUN_WITH_<N>`, `OPRUN_INPUT_<N>`", "built-in steps",
        "inputs that hold a secret, which arguments would show",
      ],
    ])
}

func flagTable() -> String {
  table(
    ["variable", "option", "of"],
    flags().map { flag in
      [
        "`\(flag.option.variable)`", "`\(flag.option.flag)`",
        flag.commands.map { "`\($0)`" }.joined(separator: ", "),
      ]
    })
}
