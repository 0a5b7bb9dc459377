// The reference in docs/command-line.md is kept in step with the table of options.
//
// OPRUN_BLESS=1 writes the generated part anew.

import Foundation
import Testing

@testable import oprun

@Suite struct `Reference` {
  private static let start = "<!-- generated from the table of options: start -->\n"
  private static let end = "<!-- generated from the table of options: end -->\n"

  private var documents: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "docs")
  }

  private var file: URL { documents.appending(path: "command-line.md") }

  private var generated: String {
    Subcommand.all.map(section).joined(separator: "\n") + "\n## Exit statuses\n\n"
      + "| status | when |\n|---|---|\n"
      + ExitStatus.meanings.map { "| \($0.status) | \($0.meaning) |\n" }.joined()
  }

  private func section(_ command: Subcommand) -> String {
    var text = "## oprun \(command.synopsis)\n\n"
    text += "\(command.summary.prefix(1).uppercased())\(command.summary.dropFirst()).\n"
    if !command.details.isEmpty { text += "\n\(command.details)\n" }
    if !command.examples.isEmpty { text += "\n```sh\n\(command.examples)\n```\n" }
    guard !command.options.isEmpty else { return text }
    text += "\n| option | variable | |\n|---|---|---|\n"
    for option in command.options {
      let synopsis = synopsis(of: option).drop { $0 == " " }.replacing("|", with: "\\|")
      let summary = option.summary.replacing("|", with: "\\|")
      let variable = option.variable.isEmpty ? "" : "`\(option.variable)`"
      text += "| `\(synopsis)` | \(variable) | \(summary) |\n"
    }
    return text
  }

  @Test func `lists every command, option, variable and exit status`() throws {
    let text = try String(contentsOf: file, encoding: .utf8)
    let before = try #require(text.range(of: Self.start))
    let after = try #require(text.range(of: Self.end))
    let written = String(text[before.upperBound..<after.lowerBound])
    if ProcessInfo.processInfo.environment["OPRUN_BLESS"] == "1" {
      let whole = text[..<before.upperBound] + generated + text[after.lowerBound...]
      try whole.write(to: file, atomically: false, encoding: .utf8)
    } else {
      #expect(written == generated)
    }
  }

  @Test func `is a manual page, too`() throws {
    let page = documents.appending(path: "oprun.1")
    if ProcessInfo.processInfo.environment["OPRUN_BLESS"] == "1" {
      try ManualPage.text.write(to: page, atomically: false, encoding: .utf8)
    }
    #expect(try String(contentsOf: page, encoding: .utf8) == ManualPage.text)
    let check = Process()
    check.executableURL = URL(filePath: "/usr/bin/mandoc")
    check.arguments = ["-T", "lint", "-W", "warning", page.path]
    let complaints = Pipe()
    check.standardOutput = complaints
    try check.run()
    let text = try complaints.fileHandleForReading.readToEnd() ?? Data()
    check.waitUntilExit()
    // It has no date, because it changes with the table.
    let relevant = String(decoding: text, as: UTF8.self).split(separator: "\n").filter {
      !$0.contains("missing date")
    }
    #expect(relevant == [])
  }

  @Test func `no two options of a command share a letter, a name or a variable`() {
    for command in Subcommand.all {
      let options = command.options + [Options.help]
      #expect(Set(options.map(\.name)).count == options.count)
      let variables = options.map(\.variable).filter { !$0.isEmpty }
      #expect(Set(variables).count == variables.count)
      #expect(Set(options.compactMap(\.letter)).count == options.compactMap(\.letter).count)
    }
  }

  @Test func `no variable of an option is one that steps and hooks are given`() {
    let given: Set = [
      "OPRUN", "OPRUN_RUN_ID", "OPRUN_STEP", "OPRUN_ATTEMPT", "OPRUN_OUTPUT", "OPRUN_WORKSPACE",
      "OPRUN_STATUS", "OPRUN_EXIT_CODE", "OPRUN_SIGNAL", "OPRUN_DURATION_MS",
      "OPRUN_FAILED_STEPS", "OPRUN_STEP_COOKIE",
    ]
    let single = Subcommand.all.flatMap(\.options).filter(\.hasOneVariable)
    let variables = single.map(\.variable)
    #expect(given.isDisjoint(with: variables))
    #expect(!variables.contains { $0.hasPrefix("OPRUN_PARAM_") })
  }

  @Test func `every command for people has examples, and every option of run a heading`() {
    let without = Subcommand.all.filter(\.examples.isEmpty).map(\.name)
    #expect(without == ["completions", "help"])
    let names = Options.groups.flatMap { $0.1.split(separator: " ").map(String.init) }
    #expect(Set(names).count == names.count)
    for command in [Subcommand.run, Subcommand.resume] {
      #expect(command.options.filter { !names.contains($0.name) }.map(\.name) == [])
    }
  }

  @Test func `no line of help is wider than a terminal`() {
    for command in Subcommand.all {
      for line in helpText(of: command).split(separator: "\n") {
        #expect(line.count <= 100, "\(line)")
      }
    }
  }
}
