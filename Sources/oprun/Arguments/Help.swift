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
  let width = Subcommand.all.map(\.name.count).max() ?? 0
  let commands = Subcommand.groups.map { heading, commands in
    "\(heading):\n"
      + commands.map { command in
        let gap = String(repeating: " ", count: width - command.name.count + 2)
        return "  \(command.name)\(gap)\(command.summary)\n"
      }.joined()
  }
  return """
    oprun \(version): runs the steps of a pipeline, in parallel where their dependencies allow

    usage: oprun [FILE] [STEP…]
           oprun COMMAND …

    Without FILE it is oprun.yml or pipeline.yml, here or in the nearest directory above.

    \(commands.joined())
    'oprun COMMAND --help' shows the options of a command, and 'oprun --version' the version.
    Most options can also be set in the environment: --some-flag as OPRUN_SOME_FLAG.

    examples:
      oprun                     # run all steps of the pipeline here
      oprun ci.yml test -n      # show what would run for the step test of another one
      oprun resume              # run what failed in the last run, and what did not run
      oprun logs test           # print what test has printed in the last run

    """
}

func helpText(of command: Subcommand) -> String {
  var text = """
    usage: oprun \(command.synopsis)

    \(command.summary)

    """
  if !command.details.isEmpty { text += "\n\(command.details)\n" }
  text += optionsHelp(of: command)
  if !command.examples.isEmpty {
    text += "\nexamples:\n"
    for line in command.examples.split(separator: "\n") { text += "  \(line)\n" }
  }
  return text
}

/// The options, under headings where there are many.
private func optionsHelp(of command: Subcommand) -> String {
  let rows = { (options: [Option]) in options.map { (synopsis(of: $0), $0.summary) } }
  let all = command.options + [Options.help]
  var rest = all
  var sections: [(heading: String, options: [Option])] = []
  let many = 20
  if rest.count > many {
    for (heading, names) in Options.groups {
      let words = names.split(separator: " ")
      let options = rest.filter { words.contains(Substring($0.name)) }
      if options.isEmpty { continue }
      sections.append((heading, options))
      rest.removeAll { words.contains(Substring($0.name)) }
    }
  }
  sections.append((sections.isEmpty ? "options" : "others", rest))
  return sections.map { heading, options in
    "\n\(heading):\n" + twoColumns(rows(options), of: rows(all))
  }.joined()
}

/// The synopsis of an option: `-j, --jobs N`.
func synopsis(of option: Option) -> String {
  let letter = option.letter.map { "-\($0), " } ?? "    "
  guard let placeholder = option.value?.placeholder else { return letter + option.flag }
  return letter + option.flag
    + (option.usualValue == nil ? " \(placeholder)" : "[=\(placeholder)]")
}
