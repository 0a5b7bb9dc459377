// Help, written from the tables.

import Diagnostics
import BuiltinSteps

extension BuiltinKey {
  /// The key as an option, without the two dashes in front.
  var option: String { String(name.map { $0 == "_" ? "-" : $0 }) }
}

var generalHelp: String {
  let steps = Request.steps.map { ("\($0.name)", $0.summary) }
  return """
    \(BuiltinStep.program) \(version): the built-in steps of oprun, each a command of its own

    usage: \(BuiltinStep.program) STEP [OPTION…]

    steps:
    \(twoColumns(steps))
    '\(BuiltinStep.program) STEP --help' shows what a step takes.

    """
}

func helpText(of step: BuiltinStep) -> String {
  let operands = step.name == Request.cache.name ? "stat|clear " : ""
  let options = step.keys.map { ("--\($0.option) \($0.type.placeholder)", sentence(for: $0)) }
  let more = (
    "\(InputParser.fromEnvironment) OPTION=VARIABLE",
    "Takes the value of an option from the environment, where nobody else can read it."
  )
  return """
    usage: \(BuiltinStep.program) \(step.name) \(operands)[OPTION…]

    \(step.summary)

    options:
    \(twoColumns(options + [more]))
    """
}

private func sentence(for key: BuiltinKey) -> String {
  var notes: [String] = []
  if key.isRequired { notes.append("needed") }
  if case .list = key.type { notes.append("can be given several times") }
  if key.type == .map { notes.append("can be given several times") }
  if let value = key.defaultValue { notes.append("\(value) by default") }
  return notes.isEmpty ? key.summary : "\(key.summary) (\(notes.joined(separator: "; ")))"
}
