// For each key of each table, values that are accepted and values that are refused, with the message.

import Pipelines

/// The examples of one table.
struct TableExamples: Sendable {
  let name: String
  let rows: [KeyRow]
  /// A file in which the line `key: value` stands in an object of the table.
  let file: @Sendable (String) -> String
  let keys: [String: KeyExamples]
}

struct KeyExamples: Sendable {
  let accepted: [String]
  /// Values, and the messages about them.
  let refused: [(String, String)]

  init(_ accepted: [String], refused: [(String, String)]) {
    self.accepted = accepted
    self.refused = refused
  }
}

private let otherStep = "steps:\n  - {id: z, run: x}\n"
private let text = "must be a string, not"
private let words = "must be a string or a list of strings, not"
private let hookWords = "must be a string, a list of strings or a map with 'run', not"
private let duration = "must be a duration such as 30s"
private let quantity = "must be a number, a size such as 2G or a duration such as 30m, not"
private let quantities = "numbers, sizes or durations"
private let factor = "must be a number from 1 to 1000, not"
private let width = "must be a whole number of at least 0 or 'auto', not"

private let allowances = "true or false, an expression in ${{ }} or a map with 'exit_codes'"
private let outputTypes = "one of string, int, number, bool, list, map, json"

private let commands = KeyExamples(
  [
    "echo a", "|\n      a\n      b", "[make, -j, 2]", "['sh', \"-c\", x]", "true", "5",
  ],
  refused: [
    ("", "'run' \(words) nothing"), ("''", "'run' must not be empty"),
    ("{a: b}", "'run' \(words) a map"), ("[]", "'run' must not be empty"),
    ("[a, [b]]", "item 2 of 'run' must be a string, not a list"),
    ("[a, ~]", "item 2 of 'run' must be a string, not nothing"),
    ("['', a]", "the first item of 'run' must be the name of a program, not empty"),
  ])

private let shells = KeyExamples(
  ["sh", "bash", "/usr/bin/zsh", "python3", "[bash, -x]"],
  refused: [
    ("bash -x", "'shell' must be one word or a list, not 'bash -x'"),
    ("[]", "'shell' must not be empty"), ("{a: b}", "'shell' \(words) a map"),
    ("''", "'shell' must not be empty"),
  ])

private let variables = KeyExamples(
  [
    "{A: b, c: 1, D: true, E: '', F: 1.50}", "{}", "[]", "[{A: b}, {A: c, D: e}]",
    "\n        - {A: b}\n        - {}",
  ],
  refused: [
    ("[A=b]", "each item of 'env' must be a map of names to strings, not 'A=b'"),
    ("A=b", "'env' must be a map of names to strings or a list of maps, not 'A=b'"),
    ("[{A: b}, [c]]", "each item of 'env' must be a map of names to strings, not a list"),
    ("[{A: b, A: c}]", "key 'A' is written twice in 'env'"),
    ("{A: [b]}", "'A' \(text) a list"), ("{A: }", "'A' \(text) nothing"),
    ("{A=B: c}", "'A=B' cannot be the name of an environment variable"),
    ("{'': c}", "'' cannot be the name of an environment variable"),
    ("{A: b, A: c}", "key 'A' is written twice in 'env'"),
  ])

private let directories = KeyExamples(
  ["src", "/tmp", "../x y"],
  refused: [("[a]", "'working_dir' \(text) a list"), ("''", "'working_dir' must not be empty")])

private let timeouts = KeyExamples(
  ["30s", "250ms", "1h30m", "2d", "1d2h3m4s5ms", "'5m'"],
  refused: [
    ("30", "'timeout' \(duration), but the number 30 has no unit"),
    ("1.5", "'timeout' \(duration), but the number 1.5 has no unit"),
    ("1.5h", "'timeout' \(duration), not '1.5h'"), ("5min", "'timeout' \(duration), not '5min'"),
    ("30m1h", "'timeout' \(duration), not '30m1h'"), ("1s1s", "'timeout' \(duration), not '1s1s'"),
    ("-5s", "'timeout' \(duration), not '-5s'"), ("5S", "'timeout' \(duration), not '5S'"),
    ("s", "'timeout' \(duration), not 's'"), ("''", "'timeout' \(duration), not the string ''"),
    ("0s", "'timeout' \(duration), not '0s'"), ("[1s]", "'timeout' \(duration), not a list"),
    ("999999999d", "'timeout' \(duration), not '999999999d'"),
    ("", "'timeout' \(duration), not nothing"),
  ])

private func hooks(_ key: String) -> KeyExamples {
  KeyExamples(
    [
      "echo a", "[echo, a]", "{run: echo a}", "{run: [echo, a]}",
      "[[echo, a], [echo, b]]", "[{run: a}, echo b, [echo, c]]", "{run: a, timeout: 1m}",
      "[{uses: wait, with: {file: a}, timeout: 30s}, {timeout: 1h, run: [echo, b]}]",
    ],
    refused: [
      ("", "'\(key)' \(hookWords) nothing"), ("''", "'\(key)' must not be empty"),
      ("[]", "'\(key)' must not be empty"), ("{}", "'run' is missing in a hook"),
      ("{rum: x}", "unknown key 'rum' in a hook"), ("[[], a]", "'\(key)' must not be empty"),
      ("[{run: a}, ~]", "'\(key)' \(hookWords) nothing"),
      ("{timeout: 5s}", "'run' is missing in a hook"),
      (
        "[echo a, echo b]",
        "a list of strings contains the words of one command, and no program is called 'echo a'"
      ),
      (
        "[echo a]", "a list contains the words of one command, and no program is called 'echo a'"
      ),
    ])
}

private func booleans(_ key: String) -> KeyExamples {
  KeyExamples(
    ["true", "false"],
    refused: [
      ("yes", "'\(key)' must be true or false, not 'yes'"),
      ("'true'", "'\(key)' must be true or false, not the string 'true'"),
      ("1", "'\(key)' must be true or false, not the number 1"),
      ("True", "'\(key)' must be true or false, not 'True'"),
    ])
}

private func widths(_ key: String) -> KeyExamples {
  KeyExamples(
    ["0", "1", "64", "auto", "+2"],
    refused: [
      ("-1", "'\(key)' \(width) '-1'"), ("1.5", "'\(key)' \(width) the number 1.5"),
      ("'4'", "'\(key)' \(width) the string '4'"), ("many", "'\(key)' \(width) 'many'"),
      ("0x10", "'\(key)' \(width) '0x10'"), ("[]", "'\(key)' \(width) a list"),
      ("99999999999999999999", "'\(key)' \(width) '99999999999999999999'"),
    ])
}

private let executors = KeyExamples(
  ["local", "slurm"],
  refused: [
    ("here", "'executor' must be one of local, slurm, not 'here'"),
    ("[]", "'executor' must be one of local, slurm, not a list"),
  ])

private func slurmTexts(_ key: String) -> KeyExamples {
  KeyExamples(
    ["a", "'a&b'", "5"],
    refused: [("''", "'\(key)' must not be empty"), ("[a]", "'\(key)' \(text) a list")])
}

private let slurmExamples: [String: KeyExamples] = [
  "partition": slurmTexts("partition"), "account": slurmTexts("account"),
  "qos": slurmTexts("qos"), "reservation": slurmTexts("reservation"),
  "constraint": slurmTexts("constraint"),
  "extra": KeyExamples(
    ["[]", "[--exclusive]", "['--licenses=a:1', --mem-bind=local]"],
    refused: [
      (
        "--exclusive",
        "'extra' must be a list of items, each a long option of sbatch such as --exclusive, not "
          + "'--exclusive'"
      ),
      (
        "[-p]", "each item of 'extra' must be a long option of sbatch such as --exclusive, not '-p'"
      ),
      ("[--mem=4G]", "oprun sets the option '--mem' itself"),
      ("[--job=x]", "oprun sets the option '--job' itself"),
      ("[--wrap=x]", "oprun sets the option '--wrap' itself"),
    ]),
  "on_node_failure": KeyExamples(
    ["retry", "fail"],
    refused: [("ignore", "'on_node_failure' must be one of retry, fail, not 'ignore'")]),
  "infrastructure_retries": KeyExamples(
    ["0", "1000"],
    refused: [
      (
        "1001",
        "'infrastructure_retries' must be a whole number from 0 to 1000, not the number 1001"
      )
    ]),
  "mode": KeyExamples(
    ["auto", "job", "allocation"],
    refused: [
      ("jobs", "'mode' must be one of auto, job, allocation, not 'jobs'")
    ]),
  "max_queued": KeyExamples(
    ["1", "5000"],
    refused: [("0", "'max_queued' must be a whole number of at least 1, not the number 0")]),
  "submit_rate": KeyExamples(
    ["10/s", "1/m"],
    refused: [
      ("10", "'submit_rate' must be a rate such as 10/s or 30/m, not the number 10"),
      ("0/s", "'submit_rate' must be a rate such as 10/s or 30/m, not '0/s'"),
      ("5/h", "'submit_rate' must be a rate such as 10/s or 30/m, not '5/h'"),
    ]),
  "poll": KeyExamples(
    ["5s", "1m"], refused: [("0s", "'poll' \(duration), not '0s'")]),
  "file_wait": KeyExamples(
    ["0s", "1m"],
    refused: [("60", "'file_wait' \(duration), but the number 60 has no unit")]),
]

let topLevelExamples = TableExamples(
  name: "top level", rows: PipelineKey.allCases.map(\.row), file: { $0 + "\n" + otherStep },
  keys: [
    "version": KeyExamples(
      ["1"],
      refused: [
        ("2", "'version' must be 1, not the number 2"),
        ("'1'", "'version' must be 1, not the string '1'"),
      ]),
    "name": KeyExamples(
      ["a b", "5"],
      refused: [("[a]", "'name' \(text) a list"), ("", "'name' \(text) nothing")]),
    "description": KeyExamples(["|\n  a\n  b"], refused: [("{}", "'description' \(text) a map")]),
    "$schema": KeyExamples(["https://x/y.json"], refused: [("[]", "'$schema' \(text) a list")]),
    "env": variables, "shell": shells, "working_dir": directories, "timeout": timeouts,
    "max_parallel": widths("max_parallel"),
    "sequence": booleans("sequence"),
    "vars": KeyExamples(
      [
        "{a: b, c: [1, {d: e}], f: '${{ vars.a }}', g: }", "{}",
        "{a: {run: pwd}, b: {run: [echo, x]}}",
      ],
      refused: [
        ("[a]", "'vars' must be a map of names to anything, not a list"),
        ("{1a: b}", "'1a' cannot be the name of a derived value"),
        ("{a: b, a: c}", "key 'a' is written twice in 'vars'"),
        ("{a: 1.50}", "1.50 is read as the number 1.5"),
      ]),
    "default": KeyExamples(
      ["[z]", "[z, z]"],
      refused: [
        ("[]", "'default' must not be empty"),
        ("z", "'default' must be a list of ids, not 'z'"),
        ("{shell: bash}", "'default' must be a list of ids, not a map"),
        ("[{step: z}]", "'default' must be a list of ids, not a map"),
        ("[Z]", "'default' names 'Z', which does not exist"),
      ]),
    "queues": KeyExamples(
      ["{net: {max_parallel: 2}, b: {}}", "{}"],
      refused: [
        ("[a]", "'queues' must be a map of names to maps, not a list"),
        ("{a: 2}", "'a' must be a map with 'max_parallel', not the number 2"),
        ("{a b: {}}", "'a b' cannot be the name of a queue"),
        ("{default: {}}", "the queue 'default' already exists"),
        ("{a: {}, a: {}}", "key 'a' is written twice in 'queues'"),
        ("{a: {width: 2}}", "unknown key 'width' in queue 'a'"),
      ]),
    "executor": executors,
    "slurm": KeyExamples(
      ["{}", "{partition: a, poll: 5s}"],
      refused: [
        ("a", "'slurm' must be a map with 'partition', not 'a'"),
        ("{partion: a}", "unknown key 'partion' in 'slurm'"),
      ]),
    "resources": KeyExamples(
      ["{cpu: 4, gpu: 0.5, memory: 16000000000, none: 0}", "{memory: 16G, 'time': 90m}"],
      refused: [
        ("[cpu]", "'resources' must be a map of names to \(quantities), not a list"),
        ("{cpu: many}", "'cpu' \(quantity) 'many'"), ("{cpu: -1}", "'cpu' \(quantity) '-1'"),
        ("{cpu: '4'}", "'cpu' \(quantity) the string '4'"),
        ("{cpu: 0.0000001}", "'cpu' \(quantity) the number 0.0000001"),
        ("{cpu: 1.}", "'cpu' \(quantity) '1.'"),
        ("{1cpu: 4}", "'1cpu' cannot be the name of a resource"),
      ]),
    "defaults": KeyExamples(
      ["{timeout: 5m, env: {A: b}, retry: 1, on_failure: x}", "{}"],
      refused: [
        ("5", "'defaults' must be a map of step keys, not the number 5"),
        ("{id: a}", "'id' cannot be set in 'defaults': it belongs to a single step"),
        (
          "{depends_on: []}",
          "'depends_on' cannot be set in 'defaults': it belongs to a single step"
        ),
        ("{tiemout: 5m}", "unknown key 'tiemout' in 'defaults'"),
        ("{queue: nowhere}", "unknown queue 'nowhere'"),
        ("{matrix: {}}", "'matrix' cannot be set in 'defaults': it belongs to a single step"),
      ]),
    "secrets": KeyExamples(
      [
        "[]", "[{name: TOKEN}]", "[{name: A, from: env, required: false}]",
        "[{name: key, from: file, path: /run/secrets/key}, {name: k-2, path: k, from: file}]",
      ],
      refused: [
        ("TOKEN", "'secrets' must be a list of maps, not 'TOKEN'"),
        ("[TOKEN]", "'secrets' must be a list of maps, not 'TOKEN'"),
        ("[{}]", "'name' is missing in 'secrets'"),
        ("[{name: A, value: x}]", "unknown key 'value' in secret 'A'"),
        ("[{name: A, form: file}]", "unknown key 'form' in secret 'A'"),
        ("[{name: A}, {name: A}]", "secret 'A' is declared twice"),
        ("[{name: A, from: file}]", "'path' is missing in secret 'A'"),
        ("[{name: A, path: x}]", "'path' applies only to secrets with 'from: file'"),
      ]),
    "mutex": KeyExamples(
      ["pipeline"],
      refused: [
        ("host", "'mutex' must be 'pipeline', not 'host'"),
        ("true", "'mutex' must be 'pipeline', not true"),
      ]),
    "cache_url": KeyExamples(
      ["https://cache.example.com", "http://user:pw@localhost:8080/oprun/"],
      refused: [
        ("example.com", "'cache_url' must be a URL of http or https, not 'example.com'"),
        ("'https://'", "'cache_url' must be a URL of http or https, not the string 'https://'"),
        ("[a]", "'cache_url' must be a URL of http or https, not a list"),
      ]),
    "cache_secret": KeyExamples(
      ["KEY\nsecrets: [{name: KEY}]"],
      refused: [("[a]", "'cache_secret' must be an id, not a list")]),
    "failure_policy": KeyExamples(
      ["continue", "stop", "cancel"],
      refused: [
        ("halt", "'failure_policy' must be one of continue, stop, cancel, not 'halt'"),
        ("true", "'failure_policy' must be one of continue, stop, cancel, not true"),
      ]),
    "on_success": hooks("on_success"), "on_failure": hooks("on_failure"),
    "on_cancel": hooks("on_cancel"), "on_complete": hooks("on_complete"),
    "pipelines": KeyExamples(
      [
        "{}", "{a: {steps: [{id: x, run: y}]}}",
        "{a: {params: {n: 1}, max_parallel: 2, timeout: 1m, steps: [{id: x, run: y}]}}",
        "{a: {failure_policy: stop, on_failure: z, steps: [{id: x, run: y}]}}",
      ],
      refused: [
        ("[a]", "'pipelines' must be a map of names to maps, not a list"),
        ("{a: b}", "'a' must be a map with 'steps', not 'b'"),
        ("{a: {}}", "'steps' is missing in pipeline 'a'"),
        ("{a: {steps: []}}", "'steps' must not be empty"),
        ("{a b: {steps: [{id: x, run: y}]}}", "'a b' cannot be the name of a pipeline"),
        (
          "{a: {queues: {}, steps: [{id: x, run: y}]}}",
          "'queues' applies to a whole file, but this is one pipeline of it"
        ),
        ("{a: {stesp: [{id: x, run: y}]}}", "unknown key 'stesp' in pipeline 'a'"),
      ]),
  ].merging(topLevelInputs) { own, _ in own })

let stepExamples = TableExamples(
  name: "step", rows: StepKey.allCases.map(\.row),
  file: { line in
    let id = line.hasPrefix("id:") ? "" : "    id: a\n"
    let run =
      line.hasPrefix("run:") || line.hasPrefix("uses:")
      ? ""
      : line.hasPrefix("sequence:")
        ? "    steps: [{id: s, run: x}]\n"
        : line.hasPrefix("with:") ? "    uses: ./other.yml\n" : "    run: x\n"
    let isBound = line.hasPrefix("max_parallel:") || line.hasPrefix("fail_fast:")
    let matrix = isBound ? "    matrix: {m: [1, 2]}\n" : ""
    return "queues: {net: {}}\nresources: {cpu: 4}\nsteps:\n  - {id: z, run: x}\n  -\n"
      + "    \(line)\n" + id + run + matrix
  },
  keys: [
    "id": KeyExamples(
      [
        "a", "_a-B_9", "'quoted'", "\"quoted\"", "&anchor a", "ns:build.x86-64",
        String(repeating: "x", count: 128),
      ],
      refused: [
        ("a/b", "'a/b' cannot be the id of a step"), ("1", "'1' cannot be the id of a step"),
        ("-a", "'-a' cannot be the id of a step"), ("''", "'' cannot be the id of a step"),
        ("é", "'é' cannot be the id of a step"), ("[a]", "'id' must be an id, not a list"),
        ("", "'id' must be an id, not nothing"), ("z", "two steps have the id 'z'"),
        ("\"\\x61\"", "an id must be written literally, without escapes, on a single line"),
        (
          String(repeating: "x", count: 129),
          "'\(String(repeating: "x", count: 80))…' cannot be the id of a step"
        ),
      ]),
    "run": commands, "env": variables, "shell": shells, "working_dir": directories,
    "timeout": timeouts,
    "name": KeyExamples(["Some words"], refused: [("[a]", "'name' \(text) a list")]),
    "manual": booleans("manual"),
    "description": KeyExamples(
      ["Some words", "|\n      Two\n      lines"],
      refused: [("[a]", "'description' \(text) a list"), ("''", "'description' must not be empty")]),
    "depends_on": KeyExamples(
      ["[]", "[z]", "[{step: z}]", "\n      - z", "['z']"],
      refused: [
        ("z", "'depends_on' must be a list of ids or maps, not 'z'"),
        ("[[z]]", "'depends_on' must be a list of ids or maps, not a list"),
        ("[~]", "'depends_on' must be a list of ids or maps, not nothing"),
        ("[y]", "step 'a' depends on 'y', which does not exist"),
        ("[z, z]", "step 'a' lists 'z' twice in 'depends_on'"),
        ("[z, {step: z, when: done}]", "step 'a' lists 'z' twice in 'depends_on'"),
        ("[a]", "dependency cycle: a -> a"),
        ("[\"\\x7a\"]", "an id must be written literally, without escapes, on a single line"),
      ]),
    "priority": KeyExamples(
      ["very_low", "low", "normal", "high", "very_high", "-1000", "1000", "+5"],
      refused: [
        (
          "1001",
          "'priority' must be one of very_low, low, normal, high, very_high or a whole number "
            + "from -1000 to 1000, not the number 1001"
        ),
        (
          "hihg",
          "'priority' must be one of very_low, low, normal, high, very_high or a whole number "
            + "from -1000 to 1000, not 'hihg'"
        ),
        (
          "[1]",
          "'priority' must be one of very_low, low, normal, high, very_high or a whole number "
            + "from -1000 to 1000, not a list"
        ),
      ]),
    "queue": KeyExamples(
      ["net", "default"],
      refused: [("nte", "unknown queue 'nte'"), ("[net]", "'queue' must be an id, not a list")]),
    "mutex": KeyExamples(
      ["database", "any text", "{name: database}", "{name: db, scope: host}"],
      refused: [
        ("''", "'mutex' must not be empty"),
        ("[a]", "'mutex' must be a string or a map with 'name', not a list"),
        ("{}", "'name' is missing in 'mutex'"), ("{scope: host}", "'name' is missing in 'mutex'"),
        ("{name: a, scope: all}", "'scope' must be one of run, host, not 'all'"),
      ]),
    "executor": executors,
    "slurm": KeyExamples(
      ["{}", "{partition: a}"],
      refused: [
        ("[]", "'slurm' must be a map with 'partition', not a list"),
        ("{poll: 5s}", "'poll' applies to the whole run, not to a step"),
        ("{partion: a}", "unknown key 'partion' in 'slurm'"),
      ]),
    "resources": KeyExamples(
      [
        "{cpu: 4}", "{cpu: 1G}", "{memory: 1T, gpus: 4, time: 3d, tmp: 5M}",
        "{cpu: 0.000001}", "{cpu: 0}", "{}",
      ],
      refused: [
        ("{cpu: 4.5}", "'cpu' asks for 4.5, but the pool has 4"),
        ("{cup: 1}", "unknown resource 'cup'"),
        ("{cpu: x}", "'cpu' \(quantity) 'x'"),
        ("cpu", "'resources' must be a map of names to \(quantities), not 'cpu'"),
      ]),
    "stdin": KeyExamples(["a\\n", "''"], refused: [("{}", "'stdin' \(text) a map")]),
    "retry": KeyExamples(
      ["0", "3", "{limit: 2}"],
      refused: [
        ("-1", "'retry' must be a whole number of at least 0 or a map with 'limit', not '-1'"),
        ("[3]", "'retry' must be a whole number of at least 0 or a map with 'limit', not a list"),
        ("{delay: 1s}", "'limit' is missing in 'retry'"), ("{}", "'limit' is missing in 'retry'"),
      ]),
    "allow_failure": KeyExamples(
      ["true", "false", "{exit_codes: [1]}"],
      refused: [
        ("yes", "'allow_failure' must be \(allowances), not 'yes'"),
        ("[1]", "'allow_failure' must be \(allowances), not a list"),
        ("{}", "'exit_codes' is missing in 'allow_failure'"),
      ]),
    "stop": KeyExamples(
      ["{signal: INT}", "{}"],
      refused: [("INT", "'stop' must be a map with 'signal' and 'grace', not 'INT'")]),
    "log_limit": KeyExamples(
      ["512K", "2M", "1G", "1T", "0K"],
      refused: [
        ("100", "'log_limit' must be a size such as 2M, but the number 100 has no unit"),
        ("1MB", "'log_limit' must be a size such as 2M, not '1MB'"),
        ("1.5G", "'log_limit' must be a size such as 2M, not '1.5G'"),
        ("K", "'log_limit' must be a size such as 2M, not 'K'"),
        ("-1K", "'log_limit' must be a size such as 2M, not '-1K'"),
        ("9999999T", "'log_limit' must be a size such as 2M, not '9999999T'"),
      ]),
    "tty": KeyExamples(
      ["true", "false"], refused: [("yes", "'tty' must be true or false, not 'yes'")]),
    "nice": KeyExamples(
      ["-20", "19", "0"],
      refused: [("20", "'nice' must be a whole number from -20 to 19, not the number 20")]),
    "sequence": booleans("sequence"),
    "untrusted_output": booleans("untrusted_output"),
    "jobserver": booleans("jobserver"),
    "expected": KeyExamples(
      ["90s"], refused: [("90", "'expected' \(duration), but the number 90 has no unit")]),
    "orphans": KeyExamples(
      ["kill", "warn", "allow"],
      refused: [("klil", "'orphans' must be one of kill, warn, allow, not 'klil'")]),
    "outputs": KeyExamples(
      ["{}", "{a: string, b: int, c: number, d: bool, e: list, f-g: map, h: json}"],
      refused: [
        ("[version]", "'outputs' must be a map of names to \(outputTypes), not a list"),
        ("{a: text}", "'a' must be \(outputTypes), not 'text'"),
        ("{a b: string}", "'a b' cannot be the name of an output"),
        ("{a: string, a: int}", "key 'a' is written twice in 'outputs'"),
      ]),
    "on_success": hooks("on_success"), "on_failure": hooks("on_failure"),
    "on_cancel": hooks("on_cancel"), "on_complete": hooks("on_complete"),
  ].merging(stepInputs) { own, _ in own })

let partExamples: [TableExamples] = [
  TableExamples(
    name: "secret", rows: SecretKey.allCases.map(\.row),
    file: { line in
      let name = line.hasPrefix("name:") ? "" : "    name: A\n"
      let file = line.hasPrefix("path:") ? "    from: file\n" : ""
      let path = line.hasPrefix("from: file") ? "    path: key\n" : ""
      return "secrets:\n  -\n    \(line)\n" + name + file + path + otherStep
    },
    keys: [
      "name": KeyExamples(
        ["A", "a-b", "_1"],
        refused: [
          ("a b", "'a b' cannot be the name of a secret"),
          ("[A]", "'name' must be an id, not a list"),
        ]),
      "from": KeyExamples(
        ["env", "file"], refused: [("flie", "'from' must be one of env, file, not 'flie'")]),
      "path": KeyExamples(
        ["key", "/run/secrets/key"],
        refused: [("''", "'path' must not be empty"), ("[a]", "'path' \(text) a list")]),
      "required": booleans("required"),
    ]),
  TableExamples(
    name: "queue", rows: QueueKey.allCases.map(\.row),
    file: { "queues:\n  net:\n    \($0)\n" + otherStep },
    keys: [
      "max_parallel": widths("max_parallel"), "start_suspended": booleans("start_suspended"),
    ]),
  TableExamples(
    name: "dependency", rows: DependencyKey.allCases.map(\.row),
    file: {
      let matrix = $0.hasPrefix("match:") ? "    matrix: {m: [1, 2]}\n" : ""
      return "steps:\n  - id: z\n    run: x\n\(matrix)  - id: a\n    run: x\n\(matrix)"
        + "    depends_on:\n      - \($0)\n" + ($0.hasPrefix("step:") ? "" : "        step: z\n")
    },
    keys: [
      "step": KeyExamples(
        ["z"],
        refused: [
          ("y", "step 'a' depends on 'y', which does not exist"),
          ("[z]", "'step' must be an id, not a list"),
        ]),
      "when": KeyExamples(
        ["ok", "succeeded", "failed", "done"],
        refused: [
          ("success", "'when' must be one of ok, succeeded, failed, done, ready, not 'success'")
        ]
      ),
      "optional": booleans("optional"),
      "match": KeyExamples(
        ["matrix"], refused: [("all", "'match' must be 'matrix', not 'all'")]),
    ]),
  TableExamples(
    name: "named pipeline", rows: ObjectKind.section.rows,
    file: { line in
      let steps = line.hasPrefix("steps:") ? "" : "    steps: [{id: s, run: x}]\n"
      return "queues: {net: {}}\nresources: {cpu: 4}\n" + otherStep
        + "pipelines:\n  p:\n    \(line)\n" + steps
    },
    keys: topLevelExamples.keys.filter { key, _ in
      ObjectKind.section.rows.contains { $0.key == key }
    }.mapValues { examples in
      // Nobody uses the pipeline, so its queues are not looked up.
      KeyExamples(
        examples.accepted.contains { !$0.contains("\n") }
          ? examples.accepted.filter { !$0.contains("\n") }
          : examples.accepted.map { $0.replacing("\n", with: "\n    ") },
        refused: examples.refused.filter { !$0.1.hasPrefix("unknown queue") })
    }),
  TableExamples(
    name: "retry", rows: RetryKey.allCases.map(\.row),
    file: { step("run: x\nretry:\n  \($0)" + ($0.hasPrefix("limit:") ? "" : "\n  limit: 1")) },
    keys: [
      "limit": KeyExamples(
        ["0", "5"],
        refused: [("x", "'limit' must be a whole number of at least 0, not 'x'")]),
      "delay": KeyExamples(
        ["0s", "5s"], refused: [("5", "'delay' \(duration), but the number 5 has no unit")]),
      "backoff": KeyExamples(
        ["1", "2", "1.5", "1000"],
        refused: [
          ("0.5", "'backoff' \(factor) the number 0.5"), ("x", "'backoff' \(factor) 'x'"),
          ("1.0001", "'backoff' \(factor) the number 1.0001"),
        ]),
      "max_delay": KeyExamples(
        ["1m"], refused: [("0s", "'max_delay' \(duration), not '0s'")]),
      "jitter": KeyExamples(
        ["none", "full"],
        refused: [("half", "'jitter' must be one of none, full, not 'half'")]),
      "on": KeyExamples(
        ["[failed, timeout, signal, exit 75]"],
        refused: [
          (
            "failed",
            "'on' must be a list of items, each failed, timeout, signal or 'exit N', not 'failed'"
          ),
          (
            "[fialed]",
            "each item of 'on' must be failed, timeout, signal or 'exit N', not 'fialed'"
          ),
          (
            "[exit 0]",
            "each item of 'on' must be failed, timeout, signal or 'exit N', not 'exit 0'"
          ),
          (
            "[exit 256]",
            "each item of 'on' must be failed, timeout, signal or 'exit N', not 'exit 256'"
          ),
          (
            "[75]",
            "each item of 'on' must be failed, timeout, signal or 'exit N', not the number 75"
          ),
          ("[]", "'on' must not be empty"),
        ]),
    ]),
  TableExamples(
    name: "slurm", rows: SlurmKey.allCases.map(\.row), file: { "slurm:\n  \($0)\n" + otherStep },
    keys: slurmExamples),
  TableExamples(
    name: "slurm of a step", rows: ObjectKind.stepSlurm.rows,
    file: { step("run: x\nslurm:\n  \($0)") },
    keys: slurmExamples.filter { key, _ in
      ObjectKind.stepSlurm.rows.contains { $0.key == key }
    }),
  TableExamples(
    name: "stop", rows: StopKey.allCases.map(\.row),
    file: { step("run: x\nstop:\n  \($0)") },
    keys: [
      "signal": KeyExamples(
        ["TERM", "SIGTERM", "15", "USR1"],
        refused: [
          (
            "TREM",
            "'signal' must be a signal such as TERM or a whole number from 1 to 64, not 'TREM'"
          ),
          (
            "65",
            "'signal' must be a signal such as TERM or a whole number from 1 to 64, not the number 65"
          ),
        ]),
      "grace": KeyExamples(
        ["0s", "10s"], refused: [("10", "'grace' \(duration), but the number 10 has no unit")]),
    ]),
  TableExamples(
    name: "allow_failure", rows: AllowFailureKey.allCases.map(\.row),
    file: { step("run: x\nallow_failure:\n  \($0)") },
    keys: [
      "exit_codes": KeyExamples(
        ["[1, 255]"],
        refused: [
          ("1", "'exit_codes' must be a list of numbers, not the number 1"),
          (
            "[0]",
            "each item of 'exit_codes' must be a whole number from 1 to 255, not the number 0"
          ),
          (
            "[256]",
            "each item of 'exit_codes' must be a whole number from 1 to 255, not the number 256"
          ),
          ("[]", "'exit_codes' must not be empty"),
        ])
    ]),
  TableExamples(
    name: "hook", rows: HookCommandKey.allCases.map(\.row),
    file: {
      let uses =
        $0.hasPrefix("with:")
        ? "\n  uses: wait"
        : $0.hasPrefix("uses:")
          ? "\n  with: {file: ready}" : $0.hasPrefix("timeout:") ? "\n  run: y" : ""
      return step("run: x\non_failure:\n  \($0.replacing("\n      ", with: "\n        "))" + uses)
    },
    keys: [
      "run": commands,
      "uses": KeyExamples(
        ["wait"],
        refused: [
          ("''", "'uses' must not be empty"), ("await", "unknown built-in step 'await'"),
          ("./other.yml", "a hook cannot use a pipeline"),
        ]),
      "with": KeyExamples(
        ["{file: ready}", "{file: [a, b], every: 1s}"],
        refused: [
          ("[a]", "'with' must be a map of names to anything, not a list"),
          ("{file: a, evry: 1s}", "built-in step 'wait' has no input 'evry'"),
        ]),
      "timeout": timeouts,
    ]),
]
