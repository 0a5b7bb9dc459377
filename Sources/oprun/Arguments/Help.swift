// Help, written from the table.

import Diagnostics
import Reporting

extension Tool {
  /// Writes help to standard output, because it was requested.
  func writeHelp(of command: Subcommand?) {
    output.fitToTerminal()
    output.write(command.map(helpText) ?? generalHelp)
  }
}

private var generalHelp: String {
  let commands = Subcommand.all.map { ("\($0.name) \($0.operands)", $0.summary) }
  return """
    oprun \(version): runs the steps of a pipeline, in parallel where their dependencies allow

    usage: oprun [FILE] [STEP…]
           oprun COMMAND …

    commands:
    \(twoColumns(commands))
    Without FILE it is oprun.yml or pipeline.yml, here or in the nearest directory above.
    'oprun COMMAND --help' shows the options of a command.
    Most options can also be set in the environment: --some-flag as OPRUN_SOME_FLAG
    (docs/command-line.md lists those with another name).
    'oprun --version' shows the version, with --verbose also what it was built from.

    """
}

func helpText(of command: Subcommand) -> String {
  var text = """
    usage: oprun \(command.synopsis)

    \(command.summary)

    """
  if !command.details.isEmpty { text += "\n\(command.details)\n" }
  let options = (command.options + [Options.help]).map { (synopsis(of: $0), $0.summary) }
  return text + "\noptions:\n" + twoColumns(options)
}

/// The synopsis of an option: `-j, --jobs N`.
func synopsis(of option: Option) -> String {
  let letter = option.letter.map { "-\($0), " } ?? "    "
  guard let placeholder = option.value?.placeholder else { return letter + option.flag }
  return letter + option.flag
    + (option.usualValue == nil ? " \(placeholder)" : "[=\(placeholder)]")
}
