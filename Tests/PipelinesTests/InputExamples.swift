// Examples of the keys for inputs and outputs: parameters, files, conditions, matrices, nested
// pipelines.

import Pipelines

/// Files that the examples name.
let exampleFiles = [
  "other.yml": "params: {n: 1, word: a}\nsteps: [{id: q, run: x}]\n",
  "common.yml": "env: {COMMON: 1}\nsteps: [{id: c, run: x}]\n",
  ".env": "A=b\n",
]

private let text = "must be a string, not"
private let list = "must be a list of strings, not"

let topLevelInputs: [String: KeyExamples] = [
  "params": KeyExamples(
    [
      "{}", "{a: b}", "{a: 1, b: 1.5, c: true, d: [x, 1, [y]], e-f: ''}",
      "{a: {}}", "{a: {type: int, default: 3}}", "{a: {type: list, default: []}}",
      "{a: {type: string, enum: [1, true, x], default: x}}", "{a: {default: 5}}",
    ],
    refused: [
      ("[a]", "'params' must be a map of names to plain values or maps, not a list"),
      ("a", "'params' must be a map of names to plain values or maps, not 'a'"),
      ("{a: }", "'a' must be a plain value or a map with 'type', not nothing"),
      ("{a b: 1}", "'a b' cannot be the name of a parameter"),
      ("{a: '${{ run.id }}'}", "'a' cannot contain an expression: it must be known before the run"),
      (
        "{a: ['${{ run.id }}']}",
        "'a' cannot contain an expression: it must be known before the run"
      ),
      ("{a: {typ: int}}", "unknown key 'typ' in parameter 'a'"),
      ("{a-b: 1, a_B: 2}", "two parameters would be set by the variable 'OPRUN_PARAM_A_B'"),
      ("{a: 1.50}", "1.50 is read as the number 1.5"),
      ("{a: {default: x, enum: [y]}}", "the default must be one of 'y', not 'x'"),
    ]),
  "dotenv": KeyExamples(
    ["[]", "[.env]", "[.env, 'none.env?']"],
    refused: [
      (".env", "'dotenv' \(list) '.env'"), ("[[.env]]", "each item of 'dotenv' \(text) a list"),
      ("['']", "'dotenv' must not be empty"), ("[none]", ".env file 'none' does not exist"),
    ]),
  "include": KeyExamples(
    ["[]", "[common.yml]", "[./common.yml, other.yml]"],
    refused: [
      ("common.yml", "'include' \(list) 'common.yml'"),
      ("[{a: b}]", "each item of 'include' \(text) a map"),
      ("['']", "'include' must not be empty"),
      ("[none.yml]", "included file 'none.yml' does not exist"),
    ]),
  "outputs": KeyExamples(
    ["{}", "{a: b, c: 5, d: '${{ run.id }}'}"],
    refused: [
      ("[a]", "'outputs' must be a map of names to strings, not a list"),
      ("{a: }", "'a' \(text) nothing"), ("{a b: c}", "'a b' cannot be the name of an output"),
    ]),
]

let stepInputs: [String: KeyExamples] = [
  "uses": KeyExamples(
    ["./other.yml", "other.yml"],
    refused: [
      ("", "'uses' \(text) nothing"), ("''", "'uses' must not be empty"),
      ("[a]", "'uses' \(text) a list"), ("./none.yml", "pipeline 'none.yml' does not exist"),
      ("await", "unknown built-in step 'await'"), ("'#none'", "unknown pipeline '#none'"),
      (
        "./${{ run.id }}.yml",
        "'uses' cannot contain an expression: it must be known before the run"
      ),
    ]),
  "with": KeyExamples(
    ["{}", "{n: 2}", "{word: '${{ run.id }}', n: 5}"],
    refused: [
      ("[a]", "'with' must be a map of names to anything, not a list"),
      ("n", "'with' must be a map of names to anything, not 'n'"),
    ]),
  "if": KeyExamples(
    ["true", "${{ false }}", "run.id == 'x'", "\"'a' in ['a']\"", "success()"],
    refused: [
      ("", "'if' \(text) nothing"), ("[true]", "'if' \(text) a list"),
      ("{a: b}", "'if' \(text) a map"),
    ]),
  "matrix": KeyExamples(
    [
      "{os: [linux, mac]}", "{a: [1, 2], b: [true], c-d: []}", "{include: [{a: b}]}",
      "{a: [x, y], exclude: [{a: x}], include: [{a: z, b: 1}]}",
    ],
    refused: [
      ("[a]", "'matrix' must be a map of names to lists, not a list"),
      ("{}", "'matrix' must not be empty"), ("{exclude: []}", "'matrix' must not be empty"),
      ("{a: b}", "'a' must be a list or an expression in ${{ }}, not 'b'"),
      ("{a b: [1]}", "'a b' cannot be the name of an axis"),
      (
        "{a: [1], include: x}",
        "'include' must be a list of maps or an expression in ${{ }}, not 'x'"
      ),
      ("{a: [1], exclude: [x]}", "'exclude' must be a list of maps, not 'x'"),
    ]),
  "max_parallel": KeyExamples(
    ["1", "1000000"],
    refused: [
      ("0", "'max_parallel' must be a whole number of at least 1, not the number 0"),
      ("auto", "'max_parallel' must be a whole number of at least 1, not 'auto'"),
    ]),
  "fail_fast": KeyExamples(
    ["true", "false"],
    refused: [("1", "'fail_fast' must be true or false, not the number 1")]),
  "wait_for": KeyExamples(
    ["[]", "[{file: ready}, {tcp: 'localhost:5432', every: 1s}]", "[{command: [test, -e, x]}]"],
    refused: [
      ("{file: x}", "'wait_for' must be a list of maps, not a map"),
      ("[ready]", "'wait_for' must be a list of maps, not 'ready'"),
      ("[{}]", "a condition has one of 'file', 'tcp', 'http' and 'command'"),
      ("[{file: a, tcp: 'b:1'}]", "a condition has one of 'file', 'tcp', 'http' and 'command'"),
      ("[{every: 1s}]", "a condition has one of 'file', 'tcp', 'http' and 'command'"),
    ]),
  "background": KeyExamples(
    ["true", "false", "{ready: []}", "{ready: [{tcp: 'localhost:80', timeout: 1m}, {file: x}]}"],
    refused: [
      ("yes", "'background' must be true or false or a map with 'ready', not 'yes'"),
      ("[{file: x}]", "'background' must be true or false or a map with 'ready', not a list"),
      ("{}", "'ready' is missing in 'background'"),
      ("{ready: [{}]}", "a condition has one of 'file', 'tcp', 'http' and 'command'"),
    ]),
  "cache": KeyExamples(
    ["{inputs: []}", "{inputs: [src, '!src/a'], outputs: [b], env: [CC], enforce: false}"],
    refused: [
      ("true", "'cache' must be a map with 'inputs', not true"),
      ("[a]", "'cache' must be a map with 'inputs', not a list"),
      ("{}", "'inputs' is missing in 'cache'"),
      ("{outputs: [a]}", "'inputs' is missing in 'cache'"),
    ]),
]

let inputPartExamples: [TableExamples] = [
  TableExamples(
    name: "param", rows: ParamKey.allCases.map(\.row),
    file: { "params:\n  p:\n    \($0)\nsteps:\n  - {id: z, run: x}\n" },
    keys: [
      "type": KeyExamples(
        ["string", "int", "number", "bool", "list"],
        refused: [
          ("text", "'type' must be one of string, int, number, bool, list, not 'text'")
        ]),
      "default": KeyExamples(
        ["a", "5", "true", "''", "[a]"],
        refused: [
          ("", "'default' must be a plain value, not nothing"),
          ("{a: b}", "'default' must be a plain value, not a map"),
          ("'${{ 1 }}'", "'default' cannot contain an expression: it must be known before the run"),
        ]),
      "enum": KeyExamples(
        ["[a]", "[a, 5, true]"],
        refused: [
          ("a", "'enum' must be a list of plain values, not 'a'"),
          ("[]", "'enum' must not be empty"),
          ("[[a]]", "'enum' \(text) a list"), ("[~]", "'enum' \(text) nothing"),
        ]),
      "pattern": KeyExamples(
        ["a+", "'^[0-9]{3}$'"],
        refused: [
          ("''", "'pattern' must not be empty"), ("[a]", "'pattern' \(text) a list"),
        ]),
      "required": KeyExamples(
        ["true", "false"], refused: [("yes", "'required' must be true or false, not 'yes'")]),
      "rest": KeyExamples(
        ["false", "true\n    type: list"],
        refused: [
          ("yes", "'rest' must be true or false, not 'yes'"),
          (
            "true",
            "'rest' needs the type 'list', not 'string': "
              + "each argument after '--' is an item"
          ),
        ]),
      "description": KeyExamples(["a b"], refused: [("[a]", "'description' \(text) a list")]),
    ]),
  TableExamples(
    name: "mutex", rows: MutexKey.allCases.map(\.row),
    file: {
      step("run: x\nmutex:\n  " + $0 + ($0.hasPrefix("name:") ? "" : "\n  name: m"))
    },
    keys: [
      "name": KeyExamples(
        ["database"],
        refused: [("''", "'name' must not be empty"), ("[a]", "'name' \(text) a list")]),
      "scope": KeyExamples(
        ["run", "host"],
        refused: [
          ("all", "'scope' must be one of run, host, not 'all'"),
          ("[host]", "'scope' must be one of run, host, not a list"),
        ]),
    ]),
  TableExamples(
    name: "background", rows: BackgroundKey.allCases.map(\.row),
    file: { step("run: x\nbackground:\n    " + $0) },
    keys: [
      "ready": KeyExamples(
        ["[]", "[{file: ready}]"],
        refused: [
          ("{file: x}", "'ready' must be a list of maps, not a map"),
          ("[ready]", "'ready' must be a list of maps, not 'ready'"),
        ])
    ]),
  TableExamples(
    name: "cache", rows: CacheKey.allCases.map(\.row),
    file: {
      step("run: x\ncache:\n  " + $0 + ($0.hasPrefix("inputs:") ? "" : "\n  inputs: []"))
    },
    keys: [
      "inputs": patterns("inputs"), "outputs": patterns("outputs"), "scratch": patterns("scratch"),
      "env": KeyExamples(
        ["[]", "[CC, _a1]"],
        refused: [
          ("CC", "'env' must be a list of items, each the name of a variable, not 'CC'"),
          ("[A-B]", "each item of 'env' must be the name of a variable, not 'A-B'"),
          ("[1a]", "each item of 'env' must be the name of a variable, not '1a'"),
          ("['']", "each item of 'env' must be the name of a variable, not the string ''"),
        ]),
      "tools": KeyExamples(
        ["[]", "[cc --version, ld -v]"],
        refused: [
          ("cc", "'tools' must be a list of strings, not 'cc'"),
          ("['']", "'tools' must not be empty"),
          ("[[cc, -v]]", "each item of 'tools' must be a string, not a list"),
        ]),
      "enforce": KeyExamples(
        ["true", "false"], refused: [("no", "'enforce' must be true or false, not 'no'")]),
    ]),
  TableExamples(
    name: "wait", rows: WaitKey.allCases.map(\.row),
    file: {
      let condition = $0.hasPrefix("every:") || $0.hasPrefix("timeout:") ? "\nfile: a" : ""
      return step("run: x\nwait_for:\n  -\n    " + ($0 + condition).replacing("\n", with: "\n    "))
    },
    keys: [
      "file": KeyExamples(
        ["ready", "'${{ run.id }}.txt'"],
        refused: [("''", "'file' must not be empty"), ("[a]", "'file' \(text) a list")]),
      "tcp": KeyExamples(["localhost:80"], refused: [("[a]", "'tcp' \(text) a list")]),
      "http": KeyExamples(["http://localhost/"], refused: [("{}", "'http' \(text) a map")]),
      "command": KeyExamples(
        ["./ready", "[test, -e, x]"],
        refused: [
          ("[]", "'command' must not be empty"),
          ("{a: b}", "'command' must be a string or a list of strings, not a map"),
        ]),
      "every": KeyExamples(
        ["100ms", "5s"],
        refused: [("5", "'every' must be a duration such as 30s, but the number 5 has no unit")]),
      "timeout": KeyExamples(
        ["1m"], refused: [("0s", "'timeout' must be a duration such as 30s, not '0s'")]),
    ]),
]

private func patterns(_ key: String) -> KeyExamples {
  KeyExamples(
    ["[]", "[a, 'src/**/*.c', '${{ run.id }}.txt']"],
    refused: [
      ("a", "'\(key)' must be a list of strings, not 'a'"),
      ("['']", "'\(key)' must not be empty"),
      ("[[a]]", "each item of '\(key)' must be a string, not a list"),
    ])
}
