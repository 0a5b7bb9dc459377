// Command lines that are executed without a shell, compared with what real shells do with them.

import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct CommandLineTests {
  @Test func `a plain command is taken apart into the words a shell would see`() {
    for line in directLines {
      #expect(directArguments(of: line.text) == line.words, "\(line.text.debugDescription)")
    }
  }

  @Test func `a line that only a shell understands is left to it`() {
    for line in shellLines {
      #expect(directArguments(of: line) == nil, "\(line.debugDescription)")
    }
  }

  @Test(arguments: Shell.installed)
  func `a shell gives the same words to a program`(shell: Shell) throws {
    let sandbox = try ShellSandbox()
    let lines = directLines.map { line in
      DirectLine(
        line.text.replacing("/ROOT", with: sandbox.root),
        line.words.map { $0.replacing("/ROOT", with: sandbox.root) })
    }
    for line in lines { try sandbox.addProbe(named: line.words[0]) }
    let seen = try sandbox.runEach(lines.map(\.text), with: shell)
    #expect(seen.count == lines.count)
    for (line, words) in zip(lines, seen) {
      #expect(words == line.words, "\(shell) on \(line.text.debugDescription)")
    }
  }

  @Test(arguments: Shell.installed)
  func `the probe sees a difference`(shell: Shell) throws {
    let sandbox = try ShellSandbox()
    try sandbox.addProbe(named: "tool")
    let seen = try sandbox.runEach(["tool a\\ b $((1+2)) \"\" # c", "V=1 tool"], with: shell)
    #expect(seen == [["tool", "a b", "3", ""], ["tool"]])
  }

  @Test(arguments: Shell.installed)
  func `random arguments reach a program as the shell would give them`(shell: Shell) throws {
    var random = SeededGenerator(seed: 0x5EED)
    var cases: [(line: String, words: [String])] = []
    while cases.count < 5000 {
      let line = "p " + randomLine(length: 1...14, using: &random)
      if let words = directArguments(of: line) { cases.append((line, words)) }
    }
    let sandbox = try ShellSandbox()
    let seen = try sandbox.runScript(
      "p() { printf '%s\\0' $# p \"$@\"; }", cases.map(\.line), with: shell)
    #expect(seen.count == cases.count)
    let difference = zip(cases, seen).first { $0.words != $1 }
    #expect(difference == nil, "\(shell)")
  }

  @Test(arguments: Shell.installed)
  func `random program names are looked up as they stand`(shell: Shell) throws {
    var random = SeededGenerator(seed: 0xC0DE)
    let sandbox = try ShellSandbox()
    var cases: [(line: String, words: [String])] = []
    while cases.count < 250 {
      let line = randomLine(length: 1...6, using: &random)
      guard let words = directArguments(of: line), !words[0].isEmpty, !words[0].contains("/"),
        !["true", "false", ".", ".."].contains(words[0])
      else { continue }
      try sandbox.addProbe(named: words[0])
      cases.append((line, words))
    }
    let seen = try sandbox.runScript("", cases.map(\.line), with: shell)
    #expect(seen.count == cases.count)
    let difference = zip(cases, seen).first { $0.words != $1 }
    #expect(difference == nil, "\(shell)")
  }

  @Test func `true and false alone are the same with and without a shell`() {
    #expect(directArguments(of: "true") == ["true"])
    #expect(directArguments(of: "false\n") == ["false"])
    #expect(directArguments(of: "true --help") == nil)
  }

  @Test func `a quote that never ends costs no more than its length`() {
    let quotes = String(repeating: "a'", count: 100_001)
    #expect(directArguments(of: quotes) == nil)
    #expect(directArguments(of: quotes + "'")?.count == 1)
  }
}

/// Pieces of dangerous and harmless characters.
private let pieces: [String] =
  "abzAZ09_-./,+@%^]=:!~#{}".map(String.init)
  + ["'", "\"", "'", "\"", " ", " ", "  ", "\t", "''", "\"\"", "{}", "''", "' '", "\" \""]
  + ["*", "?", "[", "$", "`", "\\", ";", "&", "|", "<", ">", "(", ")", "\u{1}", "\u{7F}", "\r"]
  + ["é", "Á", "Ё", "\u{2003}", "\u{A0}", "\u{3000}", "日本", "\u{1F980}", "e\u{301}"]
  + ["if", "a=b", "HEAD~1", "'a b'", "\"it's\"", "'$x'", "'\\n'", "--x=", "1..3", "a,b", "-n"]

private func randomLine(length: ClosedRange<Int>, using random: inout SeededGenerator) -> String {
  (0..<Int.random(in: length, using: &random)).map { _ in
    pieces.randomElement(using: &random) ?? ""
  }.joined()
}
