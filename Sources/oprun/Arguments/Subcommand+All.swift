// All commands, and what their table tells about one.

import Diagnostics

extension Subcommand {
  /// All commands, those that belong together under one heading.
  static let groups = [
    ("run a pipeline", [run, resume, watch, submit]),
    ("ask a run in progress", [status, pause, proceed, cancel, retry, set]),
    ("look at runs", [history, show, logs, report, analyze, prune]),
    ("work on a pipeline file", [initialize, list, graph, validate, test, format, why, trace]),
    ("get help, and set things up", [explain, doctor, completions, schema, help]),
  ]

  static let all = groups.flatMap(\.1)

  /// The words that call the command: only the name of the usual one may be left out.
  var shortestCall: String { name == Self.run.name ? "oprun" : "oprun \(name)" }

  /// True if the first operand is a pipeline file, which is searched for if it is left out.
  var takesFile: Bool { operands.hasPrefix("[FILE") && name != Self.initialize.name }

  var takesSteps: Bool { operands.hasSuffix("[STEP…]") || operands.hasSuffix(" STEP") }

  var takesParameters: Bool { options.contains { $0.name == Options.param.name } }

  /// True if an option of another command is an operand, to be explained.
  var explainsOptions: Bool { name == Self.explain.name }

  /// True if some command has the option.
  static func haveOption(_ flag: String) -> Bool {
    all.contains { $0.options.contains { $0.isWritten(flag) } }
  }

  /// The command with a name. The usual command is compared first: making all of them, with their
  /// options, is a twentieth of the work of a short run.
  static func named(_ name: String) -> Subcommand? {
    name == run.name ? run : all.first { $0.name == name }
  }
}
