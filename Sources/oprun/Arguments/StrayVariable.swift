// Variables of the environment that look like options and are none.

import Diagnostics
import Plans

/// A variable that somebody has probably set for an option whose variable has another name.
struct StrayVariable {
  let name: String
  let option: Option

  /// The length of `OPRUN_` and three letters: people have variables of their own, such as `OPRUN_BIN`.
  private static let sharedLength = 9

  /// Finds such variables among those whose names begin with `OPRUN_`. A variable of another
  /// command is none, because the environment is for many command lines.
  static func all(among names: [String], for command: Subcommand) -> [StrayVariable] {
    let options = command.options.filter(\.hasOneVariable)
    let known = Set(Subcommand.all.flatMap { $0.options.map(\.variable) })
    let kept = ["OPRUN_PARAM_", "OPRUN_INPUT_", "OPRUN_WITH_"]
    return names.compactMap { name in
      if known.contains(name) || kept.contains(where: name.hasPrefix) { return nil }
      if let option = options.first(where: { $0.usualVariable == name }) {
        return StrayVariable(name: name, option: option)
      }
      if OprunVariable(rawValue: name) != nil { return nil }
      let alike = options.map(\.variable).filter { $0.hasPrefix(name.prefix(Self.sharedLength)) }
      let close = suggestion(for: name, among: alike)
      return options.first { $0.variable == close }.map { StrayVariable(name: name, option: $0) }
    }
  }

  var message: String { "variable \(quoted(name)) sets no option" }

  var help: String { "'\(option.variable)' sets '\(option.flag)'" }
}
