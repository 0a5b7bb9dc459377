// Values of a pipeline that would be commands to a CI runner, or to a terminal, at the beginning of
// a line, in every position where one can appear.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Values that are commands to others` {
  private static let values = [
    "::error::x", "##teamcity[x]", "##vso[task.setvariable]x", "---", "\t::warning::x", "+++",
    "\r::error::x", "\n::error::x", "\u{1b}[2K\r::error::x", "\u{85}::error::x",
    "\u{2028}::error::x",
  ]

  @Test(
    arguments: values, ["run", "run -n -v", "graph", "list", "validate", "run --output prefixed"])
  func `never begin a line of ours`(value: String, command: String) throws {
    let workspace = try Workspace(named: "work", holding: [])
    try workspace.write(pipeline(with: value), to: "pipeline.yml")
    let words = command.split(separator: " ").map(String.init)
    let line = ["oprun", words[0], "pipeline.yml"] + words.dropFirst()
    let end = try workspace.run(line.joined(separator: " "))
    let fails = command.hasPrefix("run") && !command.contains("-n")
    #expect(end.status == (fails ? 1 : 0), "\(end.errors)")
    expectHarmless(end)
  }

  @Test(arguments: values)
  func `never begin a line of an error`(value: String) throws {
    let workspace = try Workspace(named: "work", holding: [])
    let text = jsonText(value)
    try workspace.write(
      """
      \(text): x
      params: {p: {type: int, pattern: \(text), default: \(text), enum: [\(text)]}, \(text): 1}
      env: {\(text): x}
      queues: {\(text): {max_parallel: \(text)}}
      secrets: [{name: \(text)}, {name: S, from: file, path: \(text)}]
      dotenv: [\(text)]
      include: [\(text)]
      steps:
        - {id: \(text), run: x}
        - {id: a, run: [\(text), x], queue: \(text), depends_on: [\(text)], timeout: \(text)}
        - {id: b, uses: \(text), with: {\(text): \(text)}}
        - {id: c, run: x, if: \(text), resources: {\(text): 1}, priority: \(text), shell: \(text)}
        - {id: d, run: "${{ params[\(text.replacing("\"", with: "\\\""))] }}", matrix: {\(text): 1}}
        - {id: e, run: x, retry: {limit: 1, on: [\(text)]}, stop: {signal: \(text)}}
      """, to: "pipeline.yml")
    for line in ["run pipeline.yml", "validate --format short pipeline.yml"] {
      let end = try workspace.run("oprun \(line)")
      #expect(end.status == 3, "\(end.errors)")
      expectHarmless(end)
    }
  }

  @Test(arguments: values)
  func `never begin a line about the command line`(value: String) throws {
    let workspace = try Workspace(named: "work", holding: [])
    try workspace.write("params: {n: 1}\nsteps: [{id: a, run: 'true'}]", to: "pipeline.yml")
    let word = "'" + value + "'"
    for line in [
      "validate \(word)", "run \(word)", "run pipeline.yml \(word)", "run pipeline.yml --\(word)",
      "run pipeline.yml --param \(word)", "run pipeline.yml --param n=\(word)", "\(word)",
      "run pipeline.yml --param \(word)=1", "run pipeline.yml --exit-code-from \(word)",
      "run pipeline.yml --jobs \(word)", "run pipeline.yml --state-dir /dev/null/\(word)",
      "cp pipeline.yml \(word)x.yml; oprun run \(word)x.yml; oprun validate \(word)x.yml",
      "printf x >\(word)y.yml; oprun run \(word)y.yml; oprun run \(word)x.yml --help",
    ] {
      let end = try workspace.run(
        line.hasPrefix("cp") || line.hasPrefix("printf") ? line : "oprun \(line)")
      expectHarmless(end)
    }
  }

  /// Runs, with a failure of each kind. `stdin` and scripts reach their programs as they are.
  private func pipeline(with value: String) -> String {
    let text = jsonText(value)
    return """
      name: \(text)
      description: \(text)
      params: {p: {default: \(text), description: \(text)}}
      env: {TOP: \(text)}
      failure_policy: continue
      on_failure: [[\(text)]]
      steps:
        - {id: named, name: \(text), run: [printf, "%s", x]}
        - {id: program, run: [\(text)]}
        - {id: folder, run: 'true', working_dir: \(text)}
        - {id: variables, run: 'true', env: {A: \(text)}, mutex: \(text), stdin: \(text)}
        - id: script
          run: \(jsonText("true\n" + value + "\ntrue"))
          allow_failure: true
        - {id: instances, run: ['true'], matrix: {m: [\(text), x]}}
        - {id: hooked, run: 'false', on_failure: [[\(text)], \(text)], retry: {limit: 1}}
        - {id: waits, run: 'true', wait_for: [{file: \(text), timeout: 10ms, every: 1ms}]}
        - {id: gives, run: "echo \\"v=$OPRUN_PARAM_P\\" >$OPRUN_OUTPUT"}
        - id: late
          depends_on: [gives]
          if: steps.gives.outputs.v != \(expressionText(value))
          run: ["${{ steps.gives.outputs.v }}", --, "${{ params.p }}"]
          name: "${{ params.p }}"
      """
  }

  private func jsonText(_ text: String) -> String {
    "\""
      + text.unicodeScalars.map {
        $0.value < 0x20 || $0.value > 0x7e || $0 == "\"" || $0 == "\\"
          ? "\\u" + String(String(0x10000 + $0.value, radix: 16).dropFirst()) : String($0)
      }.joined() + "\""
  }

  private func expressionText(_ text: String) -> String { "'\(text.filter { $0 == "x" })'" }

  /// Messages of a shell about a script are the step's own output, which is not changed.
  private func expectHarmless(
    _ end: Workspace.End, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let lines = (end.output + end.errors).split(separator: "\n")
    for line in lines {
      let start = line.drop { $0.isWhitespace || $0 == "␍" }
      #expect(
        !["::", "##", "---", "+++", "^^^", "␛[2K"].contains { start.hasPrefix($0) }, "\(line)",
        sourceLocation: sourceLocation)
    }
    // Control characters are replaced by symbols here; standard output has those of steps.
    #expect(
      !end.errors.contains { "␍␛\u{85}\u{2028}".contains($0) }, sourceLocation: sourceLocation)
  }
}
