// Requested ends of commands on another machine. Time is virtual.

import Plans
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `Stopping commands that are far away` {
  @Test func `a time limit counts, although the result comes before the answer to the stop`() throws
  {
    let run = try LateRun(
      """
      steps:
        - {id: a, timeout: 3s, retry: 1, run: "0@4 stop@9; 0@1"}
      """)
    #expect(
      run.timeline() == "0:+a 4:-a=0! 4:a#2 4:+a 5:-a=0 5:a=succeeded 5:end=0")
  }

  @Test func `one that does not answer is killed, and its end waited for`() throws {
    let run = try LateRun(
      """
      steps:
        - {id: a, timeout: 3s, stop: {grace: 2s}, run: "deaf kill@4+0@30"}
      """)
    #expect(run.timeline() == "0:+a 9:-a=sig9! 9:a=timedOut 9:end=1")
  }

  @Test func `a signal asks all to end and lets hooks run`() throws {
    let run = try LateRun(
      """
      max_parallel: 2
      on_cancel: "0@1"
      steps:
        - {id: a, run: "hang stop@3", on_cancel: "0@2"}
        - {id: b, run: "lost@4 deaf"}
        - {id: c, depends_on: [a], run: "0@1"}
      """, signals: [(2, 15)])
    #expect(
      run.timeline()
        == "0:+a 0:+b 2:stopping 2:c=cancelled 4:-b=lost 4:b=cancelled 5:-a=sig15 "
        + "5:+a.onCancel.1 7:-a.onCancel.1=0 7:a=cancelled 7:+@run.onCancel.1 "
        + "8:-@run.onCancel.1=0 8:end=143")
  }

  @Test func `a second signal kills, a third waits for nobody`() throws {
    let run = try LateRun(
      """
      steps:
        - {id: a, run: "deaf kill@1000"}
      """, signals: [(1, 2), (2, 2), (3, 2)])
    #expect(run.timeline() == "0:+a 1:stopping 3:a=cancelled 3:end=130")
  }

  @Test func `a third signal ends a run whose hook ends in the same moment`() throws {
    let run = try LateRun(
      """
      steps:
        - {id: a, run: "7@1", on_failure: "deaf kill@0", on_complete: "hang kill@0"}
      """, signals: [(2, 2), (3, 2), (4, 2)])
    #expect(
      run.timeline()
        == "0:+a 1:-a=7 1:+a.onFailure.1 2:stopping 3:-a.onFailure.1=sig9 3:+a.onComplete.1 "
        + "4:a=failed 4:end=130")
  }

  @Test func `the run's time limit ends what waits for a retry`() throws {
    let run = try LateRun(
      """
      timeout: 4s
      steps:
        - {id: a, retry: {limit: 3, delay: 10s}, run: "lost@2"}
      """)
    #expect(run.timeline() == "0:+a 2:-a=lost 2:a#2 4:stopping 4:a=cancelled 4:end=124")
  }

  @Test func `failure_policy cancel ends the others`() throws {
    let run = try LateRun(
      """
      max_parallel: 2
      failure_policy: cancel
      steps:
        - {id: a, run: "refused@1"}
        - {id: b, run: "hang stop@3+0@9"}
      """)
    #expect(
      run.timeline()
        == "0:+a 0:+b 1:-a=refused 1:a=failed 1:stopping 4:-b=sig15 4:b=cancelled 4:end=1")
  }
}
