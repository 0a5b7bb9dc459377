// The inputs of `wait`.

extension BuiltinStep {
  package static let wait = BuiltinStep(
    "wait", "Waits until all files, servers and commands named are ready.",
    keys: [
      awaited
        + [
          BuiltinKey("every", .duration, default: "500ms", "Time between two checks."),
          BuiltinKey("timeout", .duration, default: "5m", "The longest time to wait."),
        ]
    ],
    groups: [KeyGroup(rule: .atLeastOne, keys: awaited.map(\.name))])

  private static let awaited = [
    BuiltinKey("file", .list(.text), "A file, ready when it exists."),
    BuiltinKey(
      "tcp", .list(.server), shows: .server, "'host:port', ready when it accepts a connection."),
    BuiltinKey("http", .list(.url), shows: .url, "A URL, ready when the answer is a success."),
    BuiltinKey("command", .list(.text), "A shell command, ready when it exits with 0."),
  ]
}
