// The action for GitHub: its inputs, and what it makes of them.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct ActionTests {
  private func workspace() throws -> Workspace {
    let action = repository.appending(path: "Pipelines/action")
    let workspace = try Workspace(named: "action", holding: [action])
    try workspace.write(
      """
      params: {title: none, 'two-words': none}
      steps:
        - {id: a, run: [printf, '%s\\n', "$HOME"]}
        - {id: shows, run: 'printf "%s|\\n" "$OPRUN_PARAM_TITLE" "$OPRUN_PARAM_TWO_WORDS"'}
        - {id: other, run: exit 1, manual: true}
        - {id: inherits, run: '! env | grep ACTION_'}
      """, to: "oprun.yml")
    return workspace
  }

  @Test func `passes its inputs as they are`() throws {
    let workspace = try workspace()
    let end = try workspace.run(
      "action/run 2>&1",
      environment: [
        "OPRUN_ACTION_PATH": "action", "OPRUN_ACTION_FILE": "oprun.yml",
        "OPRUN_ACTION_PARAMS": "title=$(echo x) 'y' * \"z\" ; exit 7\n\ntwo-words=a b\r\n",
        "OPRUN_ACTION_OPTIONS": "  --jobs 1\n --output quiet ",
        "OPRUN_ACTION_STEPS": "shows\ninherits",
      ])
    #expect(end.status == 0, "\(end.output)")
    let log = try workspace.run("cat .oprun/runs/*/shows.1.log")
    #expect(log.output == "$(echo x) 'y' * \"z\" ; exit 7|\na b|\n")
  }

  @Test func `without inputs the usual file runs, and its status is the action's`() throws {
    let workspace = try workspace()
    let end = try workspace.run("action/run >log 2>&1; echo $?; ls .oprun/runs/*")
    #expect(end.output.contains("shows.1.log"))
    #expect(end.output.hasPrefix("0\n"))
    let failed = try workspace.run(
      "action/run >log 2>&1", environment: ["OPRUN_ACTION_STEPS": "other"])
    #expect(failed.status == 1)
  }

  /// No input stands in the text of a script, where it would be run.
  @Test func `reads every input from a variable, and the page names them all`() throws {
    let action = try String(
      contentsOf: repository.appending(path: "Pipelines/action/action.yml"), encoding: .utf8)
    let page = try String(contentsOf: repository.appending(path: "docs/ci.md"), encoding: .utf8)
    let names = action.matches(of: /\n  ([a-z-]+):\n    description:/).map { String($0.output.1) }
    #expect(names == ["file", "steps", "params", "options", "working-directory", "oprun"])
    for name in names { #expect(page.contains("| `\(name)` |")) }
    let uses = action.split(separator: "\n").filter { $0.contains("${{ inputs.") }
    #expect(uses.count == names.count)
    for line in uses {
      #expect(
        line.wholeMatch(
          of: /\s+(OPRUN_ACTION_[A-Z]+|working-directory): \$\{\{ inputs\.[a-z-]+ \}\}/)
          != nil)
    }
  }
}
