// Tests the loop with an executor that answers late, loses commands and finds them again, as a
// cluster does. Time is virtual.

import Plans
import Running
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `A run whose commands are far away` {
  @Test func `goes along a diamond`() throws {
    let run = try LateRun(
      """
      max_parallel: 4
      steps:
        - {id: a, run: "0@1"}
        - {id: b, depends_on: [a], run: "0@2"}
        - {id: c, depends_on: [a], run: "0@4"}
        - {id: d, depends_on: [b, c], run: "0@1"}
      """)
    #expect(
      run.timeline()
        == "0:+a 1:-a=0 1:a=succeeded 1:+b 1:+c 3:-b=0 3:b=succeeded 5:-c=0 5:c=succeeded "
        + "5:+d 6:-d=0 6:d=succeeded 6:end=0")
  }

  @Test
  func
    `does not time a step out that ended while oprun was stopped between the look and the clock`()
    throws
  {
    let run = try LateRun(
      "steps: [{id: a, run: 'seen@3', timeout: 4s}]", stop: (after: 4, until: 9))
    #expect(run.timeline() == "0:+a 9:-a=0 9:a=succeeded 9:end=0")
  }

  @Test func `hears late that a command cannot be started`() throws {
    let run = try LateRun(
      """
      steps:
        - {id: a, run: "refused@3"}
        - {id: b, depends_on: [a], run: "0@1"}
      """)
    #expect(run.timeline() == "0:+a 3:-a=refused 3:a=failed 3:b=blocked 3:end=1")
  }

  @Test func `fails a step whose command is lost, and tells its hooks of no status`() throws {
    let run = try LateRun(
      """
      steps:
        - {id: a, run: "lost@3", on_failure: "0@1"}
        - {id: b, depends_on: [a], run: "0@1"}
      """)
    #expect(
      run.timeline()
        == "0:+a 3:-a=lost 3:+a.onFailure.1 4:-a.onFailure.1=0 4:a=failed 4:b=blocked 4:end=1")
    #expect(
      run.variables(ofStart: 1).suffix(4) == [
        "OPRUN_STATUS=failed", "OPRUN_EXIT_CODE=", "OPRUN_SIGNAL=", "OPRUN_DURATION_MS=3000",
      ])
  }

  @Test func `tries a lost command again, and its late result counts no more`() throws {
    let run = try LateRun(
      """
      steps:
        - {id: a, retry: 1, run: "lost@2+0@5; 7@9"}
      """)
    #expect(run.timeline() == "0:+a 2:-a=lost 2:a#2 2:+a 11:-a=7 11:a=failed 11:end=1")
  }

  @Test func `hears an end twice and takes the first`() throws {
    let run = try LateRun(
      """
      steps:
        - {id: a, run: "0@1+7@2+0@3"}
        - {id: b, depends_on: [a], run: "0@3+0@3"}
      """)
    #expect(
      run.timeline()
        == "0:+a 1:-a=0 1:a=succeeded 1:+b 4:-b=0 4:b=succeeded 4:end=0")
  }

  @Test func `takes output before the end, and none after it`() throws {
    let run = try LateRun(
      """
      steps:
        - {id: a, run: "out@1 0@2 out@3"}
        - {id: b, depends_on: [a], run: "0@3"}
      """)
    #expect(
      run.timeline() == "0:+a 1:a>6 2:-a=0 2:a=succeeded 2:+b 5:-b=0 5:b=succeeded 5:end=0")
  }

  @Test func `passes outputs on`() throws {
    let run = try LateRun(
      """
      steps:
        - {id: a, run: "x=7 0@1"}
        - {id: b, depends_on: [a], run: "${{ steps.a.outputs.x }}@1"}
      """)
    #expect(
      run.timeline() == "0:+a 1:a{x=\"7\"} 1:-a=0 1:a=succeeded 1:+b 2:-b=7 2:b=failed 2:end=1")
  }

  @Test func `starts no more commands than the executor can run`() throws {
    let run = try LateRun(
      """
      max_parallel: 8
      steps:
        - {id: a, run: "0@1"}
        - {id: b, run: "0@1"}
        - {id: c, run: "0@1"}
      """, commandLimit: 2)
    #expect(
      run.timeline()
        == "0:+a 0:+b 1:-a=0 1:a=succeeded 1:+c 1:-b=0 1:b=succeeded 2:-c=0 2:c=succeeded 2:end=0")
  }

  @Test func `looks at a condition again, whatever an earlier probe says later`() throws {
    let run = try LateRun(
      """
      steps:
        - id: a
          wait_for: [{command: "1@1+0@4; lost@3; 0@1", every: 2s}]
          run: "0@1"
      """)
    #expect(run.timeline() == "1:a? 9:+a 10:-a=0 10:a=succeeded 10:end=0")
  }

  @Test func `gives up waiting although a probe is never answered`() throws {
    let run = try LateRun(
      """
      steps:
        - {id: a, wait_for: [{command: "hang kill@3", timeout: 5s}], run: "0@1"}
      """)
    #expect(run.timeline() == "5:a=timedOut 5:end=1")
  }
}
