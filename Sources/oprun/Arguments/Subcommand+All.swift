// All commands, and what is found out about one by its table.

import Diagnostics

extension Subcommand {
  /// All commands, with those that one may look for together under a heading.
  static let groups = [
    ("run a pipeline", [run, resume, watch, submit]),
    ("ask a run in progress", [status, pause, proceed, cancel, retry, set]),
    ("look at runs", [history, show, logs, report, analyze, prune]),
    ("work on a pipeline file", [initialize, list, graph, validate, test, format, why, trace]),
    ("get help, and set things up", [explain, doctor, completions, schema, help]),
  ]

  static let all = groups.flatMap(\.1)

  /// The words that call it: its name may be left out only if it is the usual one.
  var shortestCall: String { name == Self.run.name ? "oprun" : "oprun \(name)" }

  /// Whether the first operand is a pipeline file, which is searched for where it is left out.
  var takesFile: Bool { operands.hasPrefix("[FILE") && name != Self.initialize.name }

  var takesSteps: Bool { operands.hasSuffix("[STEP…]") || operands.hasSuffix(" STEP") }

  var takesParameters: Bool { options.contains { $0.name == Options.param.name } }

  /// Whether an option of another command is an operand: it is to be explained.
  var explainsOptions: Bool { name == Self.explain.name }

  /// Whether some command has the option.
  static func haveOption(_ flag: String) -> Bool {
    all.contains { $0.options.contains { $0.isWritten(flag) } }
  }

  /// The usual command is looked at first: making all of them, with their options, is a twentieth of the work of
  /// a short run.
  static func named(_ name: String) -> Subcommand? {
    name == run.name ? run : all.first { $0.name == name }
  }
}
