// Environment variables: those that oprun sets for commands, and those that it reads and that are
// not for options.

import Diagnostics
import Plans

extension Explanation {
  static func variables(_ word: String) -> [Explanation] {
    VariableRow.set.filter { $0.names(word) }.map { row in
      Explanation(
        kind: "a variable that oprun sets", sentence: row.sentence, facts: [("for", row.audience)])
    }
      + VariableRow.read.filter { $0.names(word) }.map { row in
        Explanation(kind: "a variable that \(row.audience) read", sentence: row.sentence)
      }
  }

  /// The names of variables that can be written as they are.
  static var variableWords: [String] {
    (VariableRow.set + VariableRow.read).map(\.name).filter { !$0.hasSuffix("_") }
  }
}

/// A variable, in the words of the reference page.
private struct VariableRow {
  /// The name; one that ends with `_` stands for all names that begin with it.
  let name: String
  let meaning: String
  /// The commands that get the variable.
  let audience: String

  static let set =
    OprunVariable.allCases.map {
      VariableRow(name: $0.rawValue, meaning: $0.meaning, audience: $0.audience.words)
    } + [
      VariableRow(
        name: "OPRUN_PARAM_", meaning: "the value of a parameter of the pipeline",
        audience: OprunVariable.Audience.commands.words),
      VariableRow(
        name: "OPRUN_WITH_",
        meaning: "an input of a built-in step that holds a secret, which arguments would show",
        audience: "built-in steps"),
      VariableRow(
        name: "OPRUN_INPUT_",
        meaning: "an input of a built-in step that holds a secret, which arguments would show",
        audience: "built-in steps"),
      VariableRow(
        name: "TRACEPARENT", meaning: "the span of the command, if the run is part of a trace",
        audience: OprunVariable.Audience.commands.words),
      VariableRow(
        name: "TMPDIR",
        meaning:
          "a new, empty directory for each attempt, unless `env` of the step sets another one",
        audience: "commands of cached steps"),
    ]

  static let read = [
    VariableRow(
      name: "OPRUN_DOWNLOAD_CACHE", meaning: "the directory of the cache of downloads",
      audience: "built-in steps"),
    VariableRow(
      name: "OPRUN_PROGRESS",
      meaning: "where a built-in step reports how far it has got: a path, or fd:N",
      audience: "built-in steps"),
  ]

  func names(_ word: String) -> Bool {
    name == word || name.hasSuffix("_") && word.hasPrefix(name)
  }

  var sentence: String {
    let plain = meaning.replacingText("`", with: "'")
    return
      (plain.hasPrefix("'") ? "Always " + plain : plain.prefix(1).uppercased() + plain.dropFirst())
      + "."
  }
}
