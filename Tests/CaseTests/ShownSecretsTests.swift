// A secret is shown nowhere, whatever characters it has and wherever it is planted, and every format stays what its
// readers expect, even if the secret is a word or a number of it.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct ShownSecretsTests {
  /// Secrets that formats escape, each in its own way.
  private static let awkward = [
    "s3<cr>et&Tok", "it's <b>\"q\"</b>&\\n%2F", "abc\tdefgh-x", "tés\u{200b}t-pass",
    "päss\u{feff}word1", "ab\u{8}cd\"\tef\u{1}gh", "a;b`c$(d)=*_[x](y)|~#@:",
    "two\nlines <& \t\u{200b}é",
  ]

  /// Secrets that formats say, too.
  private static let words = [
    "4711", "time", "step", "true", "null", "const", "testcase", "0.00", "oprun",
  ]

  @Test(arguments: awkward + words)
  func `a secret is shown nowhere, and every format is valid`(secret: String) throws {
    let place = try Workspace(named: "shown", holding: [])
    try place.write(pipeline(secret), to: "pipeline.yml")
    try place.write(Self.nested, to: "nested.yml")
    let checker = repository.appending(path: "Tests/Secrets/shown_secrets.py").path
    let end = try place.run(Self.commands(checker), environment: ["TOKEN": secret])
    #expect(end.output == "", "\(secret.debugDescription)")
    #expect(end.errors == "", "\(secret.debugDescription)")
  }

  /// Everything that a pipeline says about itself, and what its steps print and publish.
  private func pipeline(_ secret: String) -> String {
    let planted = literal("at:" + secret)
    let script = literal("printf '%s\\n' \(shellQuoted("at:" + secret))")
    let failing = literal("printf '%s\\n' \"$TOKEN\"; : \(shellQuoted("at:" + secret)); exit 3")
    return """
      name: \(planted)
      description: \(planted)
      secrets: [{name: TOKEN}]
      params: {t: ""}
      env: {T: \(planted)}
      outputs: {plain: "${{ steps.out.outputs.plain }}", list: "${{ steps.out.outputs.list }}"}
      steps:
        - {id: many, run: "printf '%4711s' ''"}
        - id: status
          depends_on: [known, named, service]
          run: oprun status "$OPRUN_RUN_ID" >written/status.txt; oprun status "$OPRUN_RUN_ID" --json >written/status.json
        - {id: service, name: \(planted), background: {ready: [{command: \(literal(": " + shellQuoted("at:" + secret)))}]}, run: exec sleep 60}
        - {id: named, name: \(planted), description: \(planted), run: \(script)}
        - {id: given, name: "given ${{ params.t }}", env: {P: "${{ params.t }}"}, run: 'echo "$P"'}
        - {id: broken, run: \(failing), allow_failure: true, on_failure: \(failing)}
        - {id: red, run: \(failing), retry: 1, on_complete: \(failing)}
        - {id: blocked, depends_on: [red], run: \(script)}
        - {id: missing, run: [\(literal("./at:" + secret)), x], allow_failure: true}
        - {id: nowhere, working_dir: \(literal("/nowhere/at:" + secret)), run: "true", allow_failure: true}
        - {id: skipped, if: \(literal("params.t == 'at:" + secret.replacing("'", with: "''") + "!'")), run: \(script)}
        - {id: waits, wait_for: [{command: \(literal(": " + shellQuoted("at:" + secret)))}], run: "true"}
        - {id: held, mutex: \(planted), run: "true"}
        - {id: known, matrix: {x: [\(planted), \(literal("at:" + secret + " 2"))]}, run: "true"}
        - {id: after, depends_on: [known], run: "true"}
        - {id: out, env: {V: \(planted)}, run: 'python3 out.py'}
        - {id: late, depends_on: [out], name: "late ${{ steps.out.outputs.plain }}", if: "steps.out.outputs.plain != ''", matrix: {x: "${{ steps.out.outputs.list }}"}, env: {X: "${{ matrix.x }}"}, run: 'echo "$X"; exit 1', allow_failure: true}
        - {id: cached, cache: {inputs: [pipeline.yml], outputs: []}, env: {C: \(planted)}, run: "true"}
        - {id: used, uses: ./nested.yml, with: {p: \(planted)}}
      on_failure: \(failing)
      on_complete: \(failing)
      """
  }

  private static let nested = """
    params: {p: ""}
    steps: [{id: inner, name: "inner ${{ params.p }}", env: {P: "${{ params.p }}"}, run: 'echo "$P"'}]
    """

  /// Has oprun write everything that it can write, each format into a file of its own.
  private static func commands(_ checker: String) -> String {
    """
    cat >out.py <<'END'
    import json, os
    with open(os.environ["OPRUN_OUTPUT"], "w") as file:
        value = os.environ["V"]
        print("plain:json=" + json.dumps(value), file=file)
        print("list:json=" + json.dumps([value, value + " 2"]), file=file)
        print("map:json=" + json.dumps({value: {"v": value}}), file=file)
        print("number:json=4711", file=file)
    END
    mkdir written
    run() { name=$1; shift; "$@" >written/$name 2>>written/errors.txt; }
    set -- pipeline.yml --param "t=at:$TOKEN"
    run dry.txt oprun run "$@" --dry-run --verbose
    run list.txt oprun list "$@"
    run list.json oprun list "$@" --json
    for format in tree dot mermaid; do run graph.$format.txt oprun graph "$@" --format $format; done
    run graph.json oprun graph "$@" --format json
    run help.txt oprun run pipeline.yml --help
    run validate.txt oprun validate pipeline.yml
    run why.txt oprun why "$@"
    run why.json oprun why "$@" --json
    run run.txt oprun run "$@" -j 1 --verbose --events written/events.ndjson --junit written/junit.xml \\
      --report written/page.html --summary written/summary.txt --trace written/trace.json --outputs written/outputs.txt
    for format in html markdown.txt junit.xml trace.json otlp.json prometheus.prom; do
      run report.$format oprun report --format ${format%.*}
    done
    run events-2.ndjson oprun run "$@" --output json
    run prefixed.txt oprun run "$@" --output prefixed
    GITHUB_ACTIONS=true run github.txt oprun run "$@" -j 1
    run resumed.txt oprun resume last
    run show.txt oprun show
    run show.json oprun show --json
    run history.txt oprun history
    run history.json oprun history --json
    run logs.txt oprun logs last
    run logs.json oprun logs last --json
    run analyze.txt oprun analyze
    run analyze.json oprun analyze --json
    printf '%s\\n' 'steps: [{id: a, run: "true", depends_on: ["at:b"]}]' >bad.yml
    python3 - <<'END'
    import json, os
    token = "at:" + os.environ["TOKEN"]
    with open("bad.yml", "w") as file:
        print("secrets: [{name: TOKEN}]", "steps:", "  - {id: a, run: x, depends_on: [" + json.dumps(token) + "]}", sep="\\n", file=file)
    END
    run bad.txt oprun validate bad.yml
    run bad.ndjson oprun validate bad.yml --format json
    run bad-run.ndjson oprun run bad.yml --output json
    sqlite3 .oprun/state.db .dump >written/state.txt
    ls -R .oprun >written/files.txt
    cat .oprun/runs/*/* >written/logs-of-runs.txt 2>/dev/null
    test -s written/page.html && test -s written/events.ndjson && test -s written/analyze.json
    # A GitHub runner is told what it must mask.
    sed -i '/^::add-mask::/d' written/github.txt
    python3 '\(checker)' "$TOKEN" written/*
    """
  }

  private func literal(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"": "\\\""
      case "\\": "\\\\"
      case "\u{200b}", "\u{feff}", "\0"..."\u{1f}": "\\u" + String(format: "%04x", scalar.value)
      default: String(scalar)
      }
    }
    return "\"" + escaped.joined() + "\""
  }

  private func shellQuoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
