// The messages about names that cannot be used at the location of an expression.

import Expressions

/// Why a name cannot be used at its location.
enum ScopeMessage {
  static let secretsOutside = UnlocatedFailure(
    "secrets can be used only in 'env' and 'with'",
    help: "assign the value to a variable in 'env', and use that variable")

  static func secretVariable(_ name: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "variable '\(name)' is a secret, and secrets can be used only in 'env' and 'with'",
      help: "every command has the variable: write \"$\(name)\" in a script")
  }

  static func ownVariable(_ name: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "variable '\(name)' is in this step's own 'env', which expressions cannot read",
      help: "the command has the variable: write \"$\(name)\" in a script")
  }

  static let stepsTooEarly = UnlocatedFailure(
    "'steps' cannot be used here: this value is needed before any step runs")
  static let noMatrix = UnlocatedFailure("this step has no 'matrix'")
  static let matrixInMatrix = UnlocatedFailure("a matrix cannot refer to itself")

  static func lateVariable(_ name: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value of variable '\(name)' is known only to the command",
      help: "write \"$\(name)\" in a script, or here the expression that 'env' has")
  }

  static func undecodable(_ name: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value of variable '\(name)' is not UTF-8",
      help: "read the variable in a command: expressions work only on text")
  }

  static func commandOutput(_ name: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "'vars.\(name)' needs a command, but this value must be known before any command runs")
  }

  static let beforeRun = UnlocatedFailure(
    "this value must be known before the run: use only params, vars, env, host and matrix")

  static let itself = UnlocatedFailure(
    "a step cannot refer to its own outputs or outcome",
    help: "use them in the hooks of the step, which run after it")

  static func later(_ name: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "step '\(name)' waits for this step, so its values cannot be known here")
  }

  static func noDependency(_ name: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "step '\(name)' may not have ended when this step starts, so its values cannot be used here",
      help: "add '\(name)' to 'depends_on'")
  }
}
