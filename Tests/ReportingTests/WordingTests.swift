import Plans
import Reporting
import Scheduling
import Testing

@Suite struct `Wording` {
  @Test(
    arguments: [
      (0, "0s"), (400_000, "1ms"), (12_400_000, "12ms"), (94_000_000, "94ms"), (96_000_000, "0.1s"),
      (1_249_000_000, "1.2s"), (59_940_000_000, "59.9s"), (59_960_000_000, "1m00s"),
      (125_400_000_000, "2m05s"), (3_599_600_000_000, "1h00m"), (3_720_000_000_000, "1h02m"),
    ] as [(Nanoseconds, String)])
  func `measured times are rounded`(time: Nanoseconds, text: String) throws {
    #expect(try written { $0.write(elapsed: time) } == text)
  }

  @Test(
    arguments: [
      (250, "250ms"), (30_000, "30s"), (5_400_000, "1h30m"), (1500, "1s500ms"), (0, "0s"),
    ] as [(Nanoseconds, String)])
  func `set times are exact`(milliseconds: Nanoseconds, text: String) {
    #expect(exactDuration(milliseconds * 1_000_000) == text)
  }

  @Test func `numbers for people have separators`() throws {
    #expect(try written { $0.write(grouped: 1_020_003) } == "1,020,003")
    #expect(try written { $0.write(999, "step") } == "999 steps")
    #expect(try written { $0.write(1, "process", plural: "processes") } == "1 process")
    #expect(try written { $0.write(decimal: .min) } == "-9223372036854775808")
  }

  @Test(arguments: [
    ("plain", 10, "plain"), ("exactly 10", 10, "exactly 10"), ("more than 10", 10, "more than…"),
    ("日本語の文", 6, "日本…"), ("\u{1b}[1;31mred\u{1b}[0m", 10, "red"), ("a\tb", 10, "a b"),
    ("\u{1b}]0;x\u{7}", 20, "\\u{1b}]0;x\\u{7}"),
  ])
  func `foreign text is made fit for one line`(text: String, columns: Int, shown: String) {
    #expect(oneLine(text, columns: columns) == shown)
  }

  @Test(arguments: [
    (["make", "test"], "make test"), (["a b", ""], "'a b' ''"), (["it's"], #"'it'\''s'"#),
    (["--x=1:2", "$HOME"], "--x=1:2 '$HOME'"),
  ])
  func `argument vectors are shown as a shell would take them`(words: [String], text: String) {
    #expect(Action.arguments(words).commandText == text)
  }

  @Test(arguments: [
    ("make", "make"), ("make\n", "make"), ("a\nb\n", "a …"), ("\n# why\n  a\nb", "a …"), ("", ""),
    ("# only", "# only"), ("0123456789012345", "01234567890…"),
  ])
  func `a script is shown by its first line`(script: String, line: String) throws {
    #expect(
      try written { $0.write(firstLineOf: ShownCommand(.script(ScriptText(script))), columns: 12) }
        == line)
  }
}

@Suite struct `Colour` {
  @Test(
    arguments: [
      (.auto, true, [:], true), (.auto, false, [:], false),
      (.auto, true, ["NO_COLOR": "1"], false), (.auto, true, ["NO_COLOR": ""], true),
      (.auto, false, ["CLICOLOR_FORCE": "1"], true), (.auto, false, ["FORCE_COLOR": "1"], true),
      (.auto, false, ["CLICOLOR_FORCE": "0"], false), (.auto, true, ["TERM": "dumb"], false),
      (.auto, false, ["NO_COLOR": "1", "FORCE_COLOR": "1"], false),
      (.auto, false, ["FORCE_COLOR": "1", "TERM": "dumb"], true),
      (.auto, false, ["GITHUB_ACTIONS": "true"], true), (.auto, false, ["GITLAB_CI": "true"], true),
      (.auto, false, ["BUILDKITE": "true"], true),
      (.auto, false, ["GITHUB_ACTIONS": "true", "NO_COLOR": "1"], false),
      (.always, false, ["NO_COLOR": "1", "TERM": "dumb"], true),
      (.never, true, ["CLICOLOR_FORCE": "1"], false),
    ] as [(ColorChoice, Bool, [String: String], Bool)])
  func `is decided by flag, then environment, then terminal`(
    choice: ColorChoice, isTerminal: Bool, environment: [String: String], isOn: Bool
  ) {
    #expect(choice.isOn(isTerminal: isTerminal) { environment[$0] } == isOn)
  }
}
