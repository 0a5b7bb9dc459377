// What may stand at the end of an unfinished command line.

import Testing

@testable import oprun

@Suite struct `An unfinished command line` {
  private func expected(_ line: String) -> [UnfinishedLine.Expected] {
    UnfinishedLine(words(line)).expected
  }

  private func words(_ line: String) -> [String] {
    line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
  }

  @Test func `begins with a command, a file or a step`() {
    #expect(expected("") == [.command, .pipelineFile, .step])
    #expect(expected("va") == [.command, .pipelineFile, .step])
    #expect(expected("build") == [.command, .pipelineFile, .step])
  }

  @Test(
    arguments: [
      ("run ", [.pipelineFile, .step]), ("run a.yml ", [.step]), ("run a.yml unit ", [.step]),
      ("a.yml ", [.step]), ("validate ", [.pipelineFile]), ("validate a.yml ", [.pipelineFile]),
      ("list ", [.pipelineFile]), ("list a.yml ", []), ("history ", []), ("help ", [.command]),
      ("show ", [.run, .recordedStep]), ("show last ", [.recordedStep]),
      ("show last a ", [.recordedStep]), ("resume ", [.run]),
      ("submit a.yml ", [.step]), ("submit a.yml -- ", []), ("run a.yml -- ", []),
      ("completions ", [.choice(["bash", "zsh", "fish"])]),
    ] as [(String, [UnfinishedLine.Expected])])
  func `goes on with the operands of its command`(
    line: String, operands: [UnfinishedLine.Expected]
  ) {
    #expect(expected(line) == operands)
  }

  @Test(
    arguments: [
      ("run --events ", [.file]), ("run --state-dir ", [.directory]),
      ("run -n --param ", [.parameter]),
      ("run --exit-code-from ", [.step]), ("resume --from ", [.recordedStep]), ("run -j ", []),
      ("graph --format ", [.choice(["tree", "dot", "mermaid", "json"])]), ("run --timeout ", []),
    ] as [(String, [UnfinishedLine.Expected])])
  func `goes on with the value of an option`(line: String, values: [UnfinishedLine.Expected]) {
    #expect(expected(line) == values)
  }

  @Test func `may have the value in the word of the option`() {
    let line = UnfinishedLine(words("run --color=a"))
    #expect(line.expected == [.choice(["auto", "always", "never"])])
    #expect(line.kept == "--color=")
    #expect(line.typed == "a")
    #expect(expected("run --wrong=a") == [])
  }

  @Test func `is an option after a dash, unless two dashes stand before`() {
    #expect(expected("run -") == [.option])
    #expect(expected("run a.yml --js") == [.option])
    #expect(expected("run -- -") == [])
  }

  @Test func `makes sense in spite of mistakes`() {
    #expect(expected("run --wrong a.yml ") == [.step])
    #expect(expected("run -j many a.yml --param x ") == [.step])
  }
}
