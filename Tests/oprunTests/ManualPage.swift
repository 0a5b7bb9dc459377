// The manual page, written from the table of options, in the man macros of groff_man(7).

@testable import oprun

enum ManualPage {
  static var text: String {
    var lines = [
      #".\" Written by the tests from the table of options: OPRUN_BLESS=1 writes it anew."#,
      ".TH OPRUN 1 \"\" \"oprun \(version)\" \"User Commands\"",
      ".SH NAME",
      #"oprun \- runs the steps of a pipeline, in parallel where their dependencies allow"#,
      ".SH SYNOPSIS",
      ".B oprun", #"[\fIFILE\fR] [\fISTEP\fR\&...]"#, ".br",
      ".B oprun", #"\fICOMMAND\fR \&..."#,
      ".SH DESCRIPTION",
    ]
    lines += paragraphs(
      """
      A pipeline is a YAML file with steps: shell commands or built-in steps, with the steps that each \
      depends on. oprun starts each step as soon as what it depends on has succeeded.

      Without FILE it is oprun.yml or pipeline.yml, here or in the nearest directory above.
      """)
    lines.append(".SH COMMANDS")
    lines += Subcommand.all.flatMap(section)
    lines.append(".SH ENVIRONMENT")
    lines += paragraphs(
      """
      Most options can also be set in the environment. What the command line says wins, and an empty \
      variable counts as unset. A switch is turned on with 1 and off with 0.
      """)
    lines += variables.flatMap { variable, flags in
      [".TP", ".B \(escaped(variable))", escaped(flags)]
    }
    lines.append(".SH EXIT STATUS")
    lines += ExitStatus.meanings.flatMap { status in
      [".TP", ".B \(status.status)", escaped(status.meaning)]
    }
    lines += [
      ".SH FILES", ".TP", ".I .oprun",
      "the runs of a directory, with their logs (\\-\\-state\\-dir)",
      ".SH EXAMPLES", ".TP", ".B oprun ci.yml", "run all steps of ci.yml",
      ".TP", ".B oprun ci.yml test \\-n", "show what would run for the step test",
      ".TP", ".B oprun resume", "run what failed in the last run, and what depends on it",
      ".SH SEE ALSO", ".BR make (1), ninja (1)",
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  private static func section(_ command: Subcommand) -> [String] {
    var lines = [".SS oprun \(escaped(command.synopsis))"]
    lines += paragraphs(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".")
    if !command.details.isEmpty {
      // Lines that are indented or aligned stay as they are.
      lines += [".PP", ".nf"] + command.details.split(separator: "\n").map { escaped(String($0)) }
      lines.append(".fi")
    }
    if !command.examples.isEmpty {
      lines += [".PP", ".nf"]
      lines += command.examples.split(separator: "\n").map { escaped(String($0)) }
      lines.append(".fi")
    }
    for option in command.options {
      let synopsis = synopsis(of: option).drop { $0 == " " }
      lines += [".TP", ".B \(escaped(String(synopsis)))", escaped(option.summary)]
    }
    return lines
  }

  /// Each variable with the option that it stands for, and the commands that have it.
  private static var variables: [(variable: String, flags: String)] {
    var order: [Option] = []
    var commands: [String: [String]] = [:]
    for command in Subcommand.all {
      for option in command.options where !option.variable.isEmpty {
        if commands[option.variable] == nil { order.append(option) }
        commands[option.variable, default: []].append(command.name)
      }
    }
    return order.map { option in
      let names = commands[option.variable] ?? []
      return (option.variable, "\(option.flag), of \(names.joined(separator: ", "))")
    }
  }

  private static func paragraphs(_ text: String) -> [String] {
    Array(text.split(separator: "\n").map { [escaped(String($0))] }.joined(separator: [".PP"]))
  }

  /// Text in which nothing is a request: hyphens can be copied, a dot or quote begins no line.
  private static func escaped(_ text: String) -> String {
    let plain =
      text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
      .replacing("…", with: "\\&...").replacing("–", with: "\\(en")
    return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
  }
}
