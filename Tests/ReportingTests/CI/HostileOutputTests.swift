// Steps that print what a runner would obey.

import Plans
import Scheduling
import TestSupport
import Testing

@testable import Reporting

@Suite struct `Untrusted output` {
  static let settings = StepSettings(hasUntrustedOutput: true)

  @Test func `on GitHub it stands between words that only oprun knows`() throws {
    let run = try runOf("a; b", for: .github, settings: Self.settings)
    run.start("a", "b")
    try run.print("a", "::error::x\n##[group]y\n")
    try run.print("b", "\u{1B}[31m::endgroup::")
    run.end("b", .exited(1))
    run.settle("b", .failed)
    try run.print("a", "::word1::\n")
    run.end("a")
    run.settle("a")
    #expect(
      run.standardError == """
        sample.yml  2 steps, 4 at once
        ::group::a
        ::stop-commands::word1
        ::error::x
        ## [group]y
        ::word1::
        ::endgroup::
        > b
        ::stop-commands::word2
        ::endgroup::
        ::word2::
        ✗ b  exit 1 after 0.1s
        ::error file=project/sample.yml,line=2,col=7,title=b failed::exit 1 after 0.1s%0A: :endgroup::
        ::group::a (continued)
        ::stop-commands::word3
        ::word1::
        ::word3::
        ::endgroup::
        ✓ a  0.1s

        """)
  }

  @Test func `without it commands of steps reach the runner`() throws {
    let run = try runOf("a", for: .github)
    try run.pass("a", printing: "::warning file=a.c,line=1::x\n\u{1B}[31mred\r\n")
    #expect(run.standardError.contains("::warning file=a.c,line=1::x\n\u{1B}[31mred\r\n"))
  }

  @Test func `elsewhere a space breaks its commands, and control characters are shown`() throws {
    let text = "##teamcity[x]\n##vso[y]z\n--- c\n\u{1B}[0Ksection_end:1:a\r\u{1B}[0K\n"
    let wanted: [(CIRunner, String)] = [
      (.gitlab, "##teamcity[x]\n##vso[y]z\n--- c\n\\u{1b}[0Ksection_end:1:a\n\\u{1b}[0K\n"),
      (.buildkite, "##teamcity[x]\n##vso[y]z\n-- - c\n\\u{1b}[0Ksection_end:1:a\n\\u{1b}[0K\n"),
      (.teamcity, "##teamcity [x]\n##vso [y]z\n--- c\n\\u{1b}[0Ksection_end:1:a\n\\u{1b}[0K\n"),
      (.azure, "##teamcity [x]\n##vso [y]z\n--- c\n\\u{1b}[0Ksection_end:1:a\n\\u{1b}[0K\n"),
    ]
    for (runner, shown) in wanted {
      let run = try runOf("a", for: runner, settings: Self.settings)
      try run.pass("a", printing: text)
      #expect(run.standardError.contains("\n" + shown), "\(runner)")
    }
  }

  @Test(arguments: CIRunner.allCases, [OutputMode.grouped, .prefixed])
  func `nothing that is printed is obeyed`(runner: CIRunner, mode: OutputMode) throws {
    for seed in 0..<60 {
      var random = SeededGenerator(seed: UInt64(seed))
      let run = try runOf("a; b; c", for: runner, mode, settings: Self.settings)
      run.start("a", "b", "c")
      for _ in 0..<6 {
        let id = try #require(["a", "b", "c"].randomElement(using: &random))
        try run.print(id, Self.hostileText(using: &random))
      }
      let failed = Bool.random(using: &random)
      run.end("b", .exited(failed ? 1 : 0))
      run.settle("b", failed ? .failed : .succeeded)
      try run.print("a", Self.hostileText(using: &random))
      run.end("c")
      run.settle("c")
      run.end("a", .exited(1))
      run.settle("a", .failed)
      run.finish(1)
      let view = runner.reads(run.standardError)
      #expect(view.problems == [], "seed \(seed)")
      let titles = ["a", "b", "c", "sample.yml"]
      let known = titles + titles.map { "\($0) (continued)" }
      for group in view.groups {
        let title = String(group.trimmingPrefix(#/(---|\+\+\+) /#)).replacing(
          "[collapsed=true]", with: "")
        #expect(known.contains(title), "seed \(seed)")
      }
      let failures = (failed ? 1 : 0) + 1
      switch runner {
      case .github, .azure, .teamcity:
        #expect(view.annotations.count == failures, "seed \(seed)")
        #expect(view.annotations.allSatisfy { $0.contains("sample.yml:") })
      case .gitlab: #expect(view.annotations == [])
      case .buildkite: break
      }
      #expect(view.masks == [])
    }
  }

  @Test(arguments: CIRunner.allCases)
  func `the models see what the same output does where it is trusted`(runner: CIRunner) throws {
    var obeyed = 0
    for seed in 0..<60 {
      var random = SeededGenerator(seed: UInt64(seed))
      let run = try runOf("a", for: runner)
      try run.pass("a", printing: (0..<6).map { _ in Self.hostileText(using: &random) }.joined())
      let view = runner.reads(run.standardError)
      if view.problems != [] || view.groups.count > 1 || view.annotations != [] { obeyed += 1 }
    }
    #expect(obeyed > 0)
  }

  private static let pieces = [
    "::", "##[", "##vso[", "##teamcity[", "error", "error ", "endgroup", "group", "stop-commands",
    "add-mask", "::endgroup::", "::group::x", "::stop-commands::y", "::word1::", "##[endgroup]",
    "]",
    "##vso[task.complete result=Failed;]", "##teamcity[blockClosed name='a']",
    "blockClosed name='a'",
    "##teamcity[enableServiceMessages]", "section_end:1:oprun_1_a", "section_start:1:x",
    "\r\u{1B}[0K",
    "--- ", "+++ ", "~~~ ", "^^^ +++", "\n", "\n", "\n", "\r", "\r\n", " ", "\t", "\u{1B}[0K",
    "\u{1B}[31m",
    "\u{1B}[m", "\u{1B}", "[", "#", ":", "-", "\u{200B}", "\u{AD}", "\u{0}", "\u{1}", "\u{2}",
    "\u{8}",
    "\u{85}", "\u{2028}", "é", "words", "|", "'",
  ]

  private static func hostileText(using random: inout SeededGenerator) -> String {
    (0..<Int.random(in: 1...12, using: &random))
      .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
  }
}
