// Hooks that run when oprun is to end: stopped as steps are, and not taken for what the kernel has killed.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Stopping a hook` {
  @Test(arguments: ["on_success", "on_complete"])
  func `of a step takes no longer than it does`(kind: String) throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(
        script: "true", keys: "stop: {grace: 1h}\n\(kind): touch hook; exec sleep \(mark)"))
    #expect(eventually { oprun.exists("hook") && !mark.processes.isEmpty })
    oprun.send(SIGINT)
    #expect(oprun.wait() == 130)
    #expect(mark.processes == [])
    #expect(oprun.standardError.contains("\(kind) hook: stopped after "), "\(oprun.standardError)")
    #expect(!oprun.standardError.contains("memory"), "\(oprun.standardError)")
    #expect(oprun.standardError.contains("- step  cancelled: SIGINT"), "\(oprun.standardError)")
  }

  @Test func `of the run lets its completion hook run`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      """
      steps: [{id: a, run: "true"}]
      on_success: touch hook; exec sleep \(mark)
      on_complete: echo $OPRUN_STATUS $OPRUN_EXIT_CODE $OPRUN_SIGNAL >complete
      """)
    #expect(eventually { oprun.exists("hook") && !mark.processes.isEmpty })
    oprun.send(SIGTERM)
    #expect(oprun.wait() == 143)
    #expect(oprun.content(of: "complete") == "cancelled 143 15\n")
    #expect(mark.processes == [])
  }

  @Test func `that does not listen waits for the grace of its step, or for a second signal`() throws
  {
    for grace in ["300ms", "1h"] {
      let mark = Mark()
      defer { mark.endAll() }
      let oprun = try OprunProcess(
        pipeline(
          script: "true",
          keys: "stop: {grace: \(grace)}\n"
            + "on_success: \"trap '' TERM\\ntouch hook\\nwhile :; do sleep \(mark); done\""))
      #expect(eventually { oprun.exists("hook") && !mark.processes.isEmpty })
      oprun.send(SIGTERM)
      if grace == "1h" {
        #expect(eventually { oprun.standardError.contains("stopping") })
        oprun.send(SIGTERM)
      }
      #expect(oprun.wait() == 143)
      #expect(mark.processes == [])
    }
  }

  @Test func `that hashes files ends that, too`() throws {
    let oprun = try OprunProcess(
      """
      steps:
        - id: make
          run: truncate -s 1T endless
          on_success: {run: [touch, "x${{ hashFiles('endless') }}"], timeout: 1h}
          on_complete: touch complete
      """)
    #expect(eventually { !hashers(of: "endless", below: oprun.processID).isEmpty })
    oprun.send(SIGINT)
    #expect(oprun.wait() == 130)
    #expect(oprun.exists("complete"))
    #expect(oprun.standardError.contains("on_success hook: stopped"), "\(oprun.standardError)")
  }

  @Test func `has a time limit, while it hashes files too`() throws {
    let oprun = try OprunProcess(
      """
      steps:
        - id: make
          run: truncate -s 1T endless
          on_success: {run: [touch, "x${{ hashFiles('endless') }}"], timeout: 300ms}
          on_complete: touch complete
      """)
    #expect(oprun.wait() == 1)
    #expect(oprun.exists("complete"))
    #expect(
      oprun.standardError.contains("on_success hook: timed out after 300ms"),
      "\(oprun.standardError)")
  }

  @Test func `a third signal ends oprun soon`() throws {
    // The last sweep took a second when it waited for the dead.
    #expect(try once { try timeAfterThirdSignal() < 1 })
  }

  private func timeAfterThirdSignal() throws -> TimeInterval {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(
        script: "true",
        keys: "on_success: \"trap '' TERM INT\\ntouch hook\\nwhile :; do sleep \(mark); done\"\n"
          + "on_complete: \"trap '' TERM INT\\ntouch complete\\nwhile :; do sleep \(mark); done\""))
    #expect(eventually { oprun.exists("hook") && !mark.processes.isEmpty })
    oprun.send(SIGINT)
    #expect(eventually { oprun.standardError.contains("stopping") })
    oprun.send(SIGINT)
    #expect(eventually { oprun.exists("complete") && !mark.processes.isEmpty })
    let time = duration {
      oprun.send(SIGINT)
      #expect(oprun.wait() == 130)
    }
    #expect(mark.processes == [])
    return time
  }
}
