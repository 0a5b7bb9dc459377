// The command of a step, as a person would type it.

import BuiltinSteps
import Expressions

extension Action {
  /// The whole command: a script as it is, an argument vector quoted for a shell. Credentials in the
  /// inputs of a built-in step are masked.
  package var commandText: String {
    switch self {
    case .script(let text): text.string
    case .arguments(let words): words.map(shellQuoted).joined(separator: " ")
    case .helper(let words):
      ([BuiltinStep.program] + BuiltinStep.shown(words)).map(shellQuoted).joined(separator: " ")
    }
  }
}
