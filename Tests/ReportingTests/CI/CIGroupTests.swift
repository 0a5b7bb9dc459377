// When groups are opened and closed, what waits for that, and what is said at the place of a step.

import Masking
import Plans
import Scheduling
import Testing

@testable import Reporting

@Suite struct `Groups and annotations of a CI runner` {
  @Test func `messages wait for the end of a group, but not for ever`() throws {
    let run = try runOf("a; b; c", for: .github)
    run.start("a", "b", "c")
    run.at(100)
    try run.print("a", "a1\n")
    run.awaitDeadline(at: nil)
    run.at(200)
    run.end("b")
    run.settle("b")
    run.awaitDeadline(at: 1100)
    for time in stride(from: 1900, to: 12000, by: 900) {
      run.at(time)
      try run.print("a", "a at \(time)\n")
    }
    run.end("c")
    run.settle("c")
    run.end("a")
    run.settle("a")
    let log = run.standardError
    #expect(CIRunner.github.reads(log).problems == [])
    #expect(
      log.hasPrefix(
        """
        sample.yml  3 steps, 4 at once
        ::group::a
        a1
        ::endgroup::
        ✓ b  0.1s
        ::group::a (continued)
        a at 1900

        """))
    #expect(log.hasSuffix("a at 11800\n::endgroup::\n✓ c  0.1s\n✓ a  0.1s\n"))
  }

  @Test func `who prints without end is interrupted for messages after ten seconds`() throws {
    let run = try runOf("a; b", for: .azure)
    run.start("a", "b")
    try run.print("a", "a at 0\n")
    run.at(500)
    run.end("b")
    run.settle("b")
    for time in stride(from: 900, through: 10400, by: 500) {
      run.at(time)
      try run.print("a", "a at \(time)\n")
    }
    run.awaitDeadline(at: 10500)
    run.at(10600)
    try run.print("a", "later\n")
    run.end("a")
    run.settle("a")
    #expect(
      run.standardError.hasSuffix(
        """
        a at 10400
        ##[endgroup]
        ✓ b  0.1s
        ##[group]a (continued)
        later
        ##[endgroup]
        ✓ a  0.1s

        """))
  }

  @Test func `many messages in one turn come whole, and soon`() throws {
    let ids = (1...4000).map { "step-with-a-long-name-\($0)" }
    let run = try runOf((["a"] + ids).joined(separator: "; "), for: .github)
    run.start("a")
    try run.print("a", "a1\n")
    run.turn { for id in ids { run.settle(id, .cached) } }
    try run.print("a", "a2\n")
    run.wake()
    try run.print("a", "a3\n")
    run.end("a")
    run.settle("a")
    let lines = run.standardError.split(separator: "\n").map(String.init)
    #expect(
      lines.prefix(5)
        == ["sample.yml  4,001 steps, 4 at once", "::group::a", "a1", "a2", "::endgroup::"])
    #expect(lines.suffix(4).dropLast() == ["::group::a (continued)", "a3", "::endgroup::"])
    let messages = lines.dropFirst(5).dropLast(4)
    #expect(messages.count == ids.count)
    let areWhole = zip(messages, ids).allSatisfy { message, id in
      message.hasPrefix("= \(id) ") && message.hasSuffix(" up to date")
    }
    #expect(areWhole)
  }

  @Test func `a name is no command, and no more than a title`() throws {
    let plan = samplePlan("a", action: { _ in .script("x") })
    #expect(plan.steps.count == 1)
    for runner in CIRunner.allCases {
      let run = try runOf("group", for: runner)
      run.start("group")
      run.expand(
        "group", to: "a[x=::error::1]", "a[x=\n##[endgroup]\r|']['%0A,;]", "a[--- ##vso[b]]")
      for id in ["a[x=::error::1]", "a[x=\n##[endgroup]\r|']['%0A,;]", "a[--- ##vso[b]]"] {
        run.start(id)
        try run.print(id, "text of it\n")
        run.end(id, .exited(2))
        run.settle(id, .failed)
      }
      run.finish(1)
      let view = runner.reads(run.standardError)
      #expect(view.problems == [], "\(runner)")
      // Buildkite's groups are opened, once at their ends and once at the line of the failure.
      let count = [CIRunner.gitlab: 0, .buildkite: 6][runner] ?? 3
      #expect(view.annotations.count == count, "\(runner)")
    }
  }

  @Test(arguments: [CIRunner.github, .azure])
  func `ten failures are shown, and the last of more names the others`(runner: CIRunner) throws {
    for count in [9, 10, 11, 40] {
      let ids = (1...count).map { "s\($0)" }
      let run = try runOf(ids.joined(separator: "; "), for: runner)
      for id in ids {
        run.start(id)
        run.end(id, .exited(1))
        run.settle(id, .failed, isAllowed: count == 11)
      }
      run.finish(count == 11 ? 0 : 1)
      let view = runner.reads(run.standardError)
      #expect(view.problems == [])
      #expect(view.annotations.filter { $0.hasPrefix("error") }.count <= 10)
      #expect(view.annotations.count == min(10, count))
      let last = try #require(view.annotations.last)
      switch count {
      case 9, 10: #expect(last.hasSuffix("\(ids[count - 1]) failed: exit 1 after 0.1s"))
      case 11: #expect(last.hasSuffix("2 more steps failed, which is allowed: s10, s11"))
      default:
        let names = ids[9..<29].joined(separator: ", ")
        #expect(last.hasSuffix("31 more steps failed: \(names) and 11 more"))
      }
    }
  }

  @Test func `allowed failures are warnings, skipped and cancelled steps nothing`() throws {
    let run = try runOf("a; b; c; d", for: .github)
    run.start("a", "b")
    run.end("a", .exited(3))
    run.settle("a", .failed, isAllowed: true)
    run.settle("c", .skipped, .condition("false"))
    run.tell(.stopping(.signal(15)))
    run.end("b", .signalled(15))
    run.settle("b", .cancelled, .stopped(.signal(15)))
    run.settle("d", .cancelled, .stopped(.signal(15)))
    run.finish(143, .signal(15))
    #expect(
      CIRunner.github.reads(run.standardError).annotations == [
        "warning project/sample.yml:1:7 a failed: exit 3 after 0.1s, allowed",
        "error  sample.yml failed: stopped: SIGTERM",
      ])
  }

  @Test func `a time limit, a missing program and a hook say what they are`() throws {
    let settings = StepSettings(timeout: 30_000_000_000)
    let run = try runOf("a; b; c", for: .github, .quiet, settings: settings)
    run.start("a", "b", "c")
    run.end("a", .signalled(15), timedOut: true)
    run.settle("a", .timedOut)
    run.end("b", .notStarted("command not found: mkae", exitCode: 127))
    run.settle("b", .failed)
    run.end("c")
    run.settle("c", .failed, .hook(.onSuccess))
    #expect(
      CIRunner.github.reads(run.standardError).annotations == [
        "error project/sample.yml:1:7 a timed out: timed out after 30s",
        "error project/sample.yml:2:7 b failed: command not found: mkae",
        "error project/sample.yml:3:7 c failed: on_success hook failed",
      ])
  }

  @Test(arguments: CIRunner.allCases)
  func `no form of a secret is in a command`(runner: CIRunner) throws {
    let secret = "p:a,s%s|w]o;r'd"
    let masker = try #require(Masker(secrets: [Array(secret.utf8)]))
    let run = try runOf("group", for: runner, masker: masker)
    run.start("group")
    let id = "a[x=\(secret)]"
    run.expand("group", to: id)
    run.start(id)
    run.end(id, .notStarted("there is no '\(secret)'", exitCode: 1))
    run.settle(id, .failed)
    run.finish(1)
    let log = run.standardError
    #expect(log.contains("***"))
    for part in [
      "p:a", "p%3Aa", "a,s", "a%2Cs", "s%s", "s%25s", "|w", "||w", "w]o", "w%5Do", "o%3Br",
    ] {
      #expect(!log.contains(part))
    }
  }

  @Test func `secrets are masked before anything is printed, in every form`() {
    let forms = Masker.forms(of: [Array("a%b:c d".utf8), Array("first line\nother line\n".utf8)])
    for runner in [CIRunner.github, .azure] {
      let lines = runner.masks(forms)
      let view = runner.reads(lines.joined(separator: "\n"))
      #expect(view.problems == [])
      #expect(view.log == [])
      #expect(
        view.masks
          == forms.map { String(decoding: $0, as: UTF8.self) }.filter { !$0.contains("\n") })
      #expect(view.masks.starts(with: ["a%b:c d", "first line", "other line"]))
      #expect(view.masks.contains("a%25b%3Ac%20d"))
      #expect(view.masks.contains("YSViOmMgZA=="))
    }
    for runner in [CIRunner.gitlab, .buildkite, .teamcity] { #expect(runner.masks(forms) == []) }
  }

  @Test func `paths count from the directory of the runner`() {
    var options = CIOptions(.github)
    options.directory = "/w/repo/sub"
    #expect(options.path(of: "a.yml") == "a.yml")
    options.root = "/w/repo/"
    #expect(options.path(of: "a.yml") == "sub/a.yml")
    #expect(options.path(of: "./../x/a.yml") == "x/a.yml")
    #expect(options.path(of: "/w/repo/b.yml") == "b.yml")
    #expect(options.path(of: "../../other/a.yml") == "../../other/a.yml")
    #expect(options.path(of: "/w/repository/a.yml") == "/w/repository/a.yml")
  }

  @Test func `the runner is the one whose variable is set`() {
    let variables: [(String, String, CIRunner?)] = [
      ("GITHUB_ACTIONS", "true", .github), ("GITLAB_CI", "true", .gitlab),
      ("BUILDKITE", "true", .buildkite), ("TEAMCITY_VERSION", "2025.03", .teamcity),
      ("TF_BUILD", "True", .azure), ("GITHUB_ACTIONS", "", nil), ("GITHUB_ACTIONS", "false", nil),
      ("CI", "true", nil),
    ]
    for (name, value, runner) in variables {
      let environment = { (asked: String) in asked == name ? value : nil }
      #expect(CIRunner.detected(environment) == runner)
      let choose = { (choice: CIChoice, isInside: Bool, isFile: Bool) in
        choice.runner(isInsideStep: isInside, writesToFile: isFile, environment: environment)
      }
      #expect(choose(.auto, false, false) == runner)
      #expect(choose(.auto, true, false) == nil)
      #expect(choose(.auto, false, true) == nil)
      #expect(choose(.none, false, false) == nil)
      #expect(choose(.azure, true, true) == .azure)
    }
  }
}
