// What `wait` takes.

extension BuiltinStep {
  package static let wait = BuiltinStep(
    "wait", "Waits until files, servers and commands are ready, all of them.",
    keys: [
      [
        BuiltinKey("file", .list(.text), "Ready when it exists."),
        BuiltinKey(
          "tcp", .list(.server), shows: .url, "'host:port', ready when it accepts a connection."),
        BuiltinKey("http", .list(.url), shows: .url, "A URL, ready when the answer is a success."),
        BuiltinKey("command", .list(.text), "A shell command, ready when it exits with 0."),
        BuiltinKey("every", .duration, default: "500ms", "Between two looks."),
        BuiltinKey("timeout", .duration, default: "5m", "How long to wait at most."),
      ]
    ],
    groups: [KeyGroup(rule: .atLeastOne, keys: ["file", "tcp", "http", "command"])])
}
