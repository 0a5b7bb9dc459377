// What each CI runner is sent, and what it makes of it.

import Masking
import Plans
import Scheduling
import TestSupport
import Testing

@testable import Reporting

/// A run for a runner.
func runOf(
  _ text: String, for runner: CIRunner, _ mode: OutputMode = .grouped,
  settings: StepSettings = StepSettings(), masker: Masker? = nil
) throws -> StagedRun {
  var options = ScreenOptions()
  options.color = .never
  options.masker = masker
  var ci = CIOptions(runner)
  ci.root = "/home/me"
  ci.directory = "/home/me/project"
  var words = 0
  ci.makeWord = {
    words += 1
    return "word\(words)"
  }
  options.ci = ci
  return try StagedRun(samplePlan(text, settings: settings), mode, options)
}

/// Control characters as symbols.
func symbols(_ text: String) -> String {
  text.replacing("\u{1B}", with: "␛").replacing("\r", with: "␍")
}

@Suite struct `CI dialects` {
  /// Two steps beside each other, one of which fails and is tried again.
  static func sample(_ runner: CIRunner) throws -> String {
    let run = try runOf("fetch; lint; unit; pack: unit", for: runner)
    run.start("fetch", "lint", "unit")
    try run.print("fetch", "got 1\n")
    try run.print("lint", "clean\n")
    run.at(200)
    run.end("lint", after: 200)
    run.settle("lint")
    try run.print("unit", "1 of 2 failed\n")
    run.at(400)
    run.end("unit", .exited(1), after: 400)
    run.tell(.retrying(run.operation("unit"), nextAttempt: 2, delay: 0))
    try run.print("fetch", "got 2\n")
    run.at(1500)
    run.end("fetch", after: 1500)
    run.settle("fetch")
    run.start("unit")
    try run.print("unit", "again: 100%, 1 of 2 failed\n")
    run.at(1800)
    run.end("unit", .exited(1), after: 300)
    run.settle("unit", .failed)
    run.settle("pack", .blocked, .dependency(run.operation("unit")))
    run.finish(1)
    return run.standardError
  }

  static let summary = """

    ✗ unit  exit 1 after 0.3s (attempt 2)  sample.yml:3
      $ echo unit
      | again: 100%, 1 of 2 failed
      log  RUN/unit.2.log  (1 line)
      blocked because of it: pack

    ✗ sample.yml: 1 failed, 1 blocked, 2 ok in 1.8s   (2.4s of work, longest unit 1.8s)

    """

  @Test func `GitHub Actions`() throws {
    let log = try Self.sample(.github)
    #expect(
      log == """
        sample.yml  4 steps, 4 at once
        ::group::fetch
        got 1
        ::endgroup::
        ✓ lint   0.2s
        > unit
        1 of 2 failed
        ↻ unit   exit 1 after 0.4s, attempt 2
        ::group::fetch (continued)
        got 2
        ::endgroup::
        ::group::lint
        clean
        ::endgroup::
        ✓ fetch  1.5s
        ::group::unit (attempt 2)
        again: 100%, 1 of 2 failed
        ::endgroup::
        ✗ unit   exit 1 after 0.3s (attempt 2)
        ::error file=project/sample.yml,line=3,col=7,title=unit failed::exit 1 after 0.3s (attempt 2)\
        %0Aagain: 100%25, 1 of 2 failed
        - pack   blocked: 'unit' failed

        """ + Self.summary)
    let view = CIRunner.github.reads(log)
    #expect(view.problems == [])
    #expect(view.groups == ["fetch", "fetch (continued)", "lint", "unit (attempt 2)"])
    #expect(
      view.annotations == [
        "error project/sample.yml:3:7 unit failed: exit 1 after 0.3s (attempt 2)\n"
          + "again: 100%, 1 of 2 failed"
      ])
  }

  @Test func `GitLab CI`() throws {
    let log = try Self.sample(.gitlab)
    #expect(
      symbols(log) == """
        sample.yml  4 steps, 4 at once
        ␛[0Ksection_start:1775124902:oprun_20260402-101502-k3_1_fetch␍␛[0Kfetch
        got 1
        ␛[0Ksection_end:1775124902:oprun_20260402-101502-k3_1_fetch␍␛[0K
        ✓ lint   0.2s
        ␛[0Ksection_start:1775124902:oprun_20260402-101502-k3_2_unit␍␛[0Kunit
        1 of 2 failed
        ␛[0Ksection_end:1775124902:oprun_20260402-101502-k3_2_unit␍␛[0K
        ↻ unit   exit 1 after 0.4s, attempt 2
        ␛[0Ksection_start:1775124902:oprun_20260402-101502-k3_3_fetch␍␛[0Kfetch (continued)
        got 2
        ␛[0Ksection_end:1775124903:oprun_20260402-101502-k3_3_fetch␍␛[0K
        ␛[0Ksection_start:1775124903:oprun_20260402-101502-k3_4_lint[collapsed=true]␍␛[0Klint
        clean
        ␛[0Ksection_end:1775124903:oprun_20260402-101502-k3_4_lint␍␛[0K
        ✓ fetch  1.5s
        ␛[0Ksection_start:1775124903:oprun_20260402-101502-k3_5_unit␍␛[0Kunit (attempt 2)
        again: 100%, 1 of 2 failed
        ␛[0Ksection_end:1775124903:oprun_20260402-101502-k3_5_unit␍␛[0K
        ✗ unit   exit 1 after 0.3s (attempt 2)
        - pack   blocked: 'unit' failed

        """ + Self.summary)
    let view = CIRunner.gitlab.reads(log)
    #expect(view.problems == [])
    #expect(
      view.groups == [
        "fetch", "unit", "fetch (continued)", "lint[collapsed=true]", "unit (attempt 2)",
      ])
  }

  @Test func `Buildkite`() throws {
    let log = try Self.sample(.buildkite)
    #expect(
      log == """
        sample.yml  4 steps, 4 at once
        --- fetch
        got 1
        ✓ lint   0.2s
        +++ unit
        1 of 2 failed
        ↻ unit   exit 1 after 0.4s, attempt 2
        --- fetch (continued)
        got 2
        --- lint
        clean
        ✓ fetch  1.5s
        --- unit (attempt 2)
        again: 100%, 1 of 2 failed
        ^^^ +++
        ✗ unit   exit 1 after 0.3s (attempt 2)
        ^^^ +++
        - pack   blocked: 'unit' failed
        +++ sample.yml

        """ + Self.summary)
    #expect(
      CIRunner.buildkite.reads(log).groups == [
        "--- fetch", "+++ unit", "--- fetch (continued)", "--- lint", "--- unit (attempt 2)",
        "+++ sample.yml",
      ])
  }

  @Test func `TeamCity`() throws {
    let log = try Self.sample(.teamcity)
    #expect(
      log == """
        sample.yml  4 steps, 4 at once
        ##teamcity[blockOpened name='fetch']
        got 1
        ##teamcity[blockClosed name='fetch']
        ✓ lint   0.2s
        ##teamcity[blockOpened name='unit']
        1 of 2 failed
        ##teamcity[blockClosed name='unit']
        ↻ unit   exit 1 after 0.4s, attempt 2
        ##teamcity[blockOpened name='fetch (continued)']
        got 2
        ##teamcity[blockClosed name='fetch (continued)']
        ##teamcity[blockOpened name='lint']
        clean
        ##teamcity[blockClosed name='lint']
        ✓ fetch  1.5s
        ##teamcity[blockOpened name='unit (attempt 2)']
        again: 100%, 1 of 2 failed
        ##teamcity[blockClosed name='unit (attempt 2)']
        ✗ unit   exit 1 after 0.3s (attempt 2)
        ##teamcity[buildProblem description='unit failed (project/sample.yml:3:7): exit 1 after 0.3s (attempt 2)\
        |nagain: 100%, 1 of 2 failed' identity='oprun_6498dfe4855bb3a7']
        - pack   blocked: 'unit' failed

        """ + Self.summary)
    #expect(CIRunner.teamcity.reads(log).problems == [])
  }

  @Test func `Azure Pipelines`() throws {
    let log = try Self.sample(.azure)
    #expect(
      log == """
        sample.yml  4 steps, 4 at once
        ##[group]fetch
        got 1
        ##[endgroup]
        ✓ lint   0.2s
        > unit
        1 of 2 failed
        ↻ unit   exit 1 after 0.4s, attempt 2
        ##[group]fetch (continued)
        got 2
        ##[endgroup]
        ##[group]lint
        clean
        ##[endgroup]
        ✓ fetch  1.5s
        ##[group]unit (attempt 2)
        again: 100%, 1 of 2 failed
        ##[endgroup]
        ✗ unit   exit 1 after 0.3s (attempt 2)
        ##vso[task.logissue type=error;sourcepath=project/sample.yml;linenumber=3;columnnumber=7;]\
        unit failed: exit 1 after 0.3s (attempt 2)%0Aagain: 100%, 1 of 2 failed
        - pack   blocked: 'unit' failed

        """ + Self.summary)
    let view = CIRunner.azure.reads(log)
    #expect(view.problems == [])
    #expect(
      view.annotations == [
        "error project/sample.yml:3:7 unit failed: exit 1 after 0.3s (attempt 2)\n"
          + "again: 100%, 1 of 2 failed"
      ])
  }
}
