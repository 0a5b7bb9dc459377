// States and edges: what each outcome does to what waits for it.

import Scheduling
import Testing

@Suite struct outcomes {
  @Test func `each outcome satisfies these edges`() {
    let outcomes =
      Outcome.allCases.map { Ending($0) }
      + [Ending(.failed, isAllowed: true), Ending(.timedOut, isAllowed: true)]
    let table = outcomes.map { ending in
      "\(ending): "
        + EdgeCondition.allCases.map { condition in
          "\(condition) \(fate(after: ending, when: condition))"
        }.joined(separator: ", ")
    }
    #expect(
      table == [
        "succeeded: ok runs, succeeded runs, failed skipped, done runs, "
          + "ready runs, readyOrDone runs",
        "cached: ok runs, succeeded runs, failed skipped, done runs, "
          + "ready runs, readyOrDone runs",
        "failed: ok blocked, succeeded blocked, failed runs, done runs, "
          + "ready blocked, readyOrDone runs",
        "timedOut: ok blocked, succeeded blocked, failed runs, done runs, "
          + "ready blocked, readyOrDone runs",
        "cancelled: ok blocked, succeeded blocked, failed blocked, done runs, "
          + "ready blocked, readyOrDone runs",
        "skipped: ok runs, succeeded skipped, failed skipped, done runs, "
          + "ready runs, readyOrDone runs",
        "blocked: ok blocked, succeeded blocked, failed blocked, done runs, "
          + "ready blocked, readyOrDone runs",
        "failed*: ok runs, succeeded blocked, failed runs, done runs, "
          + "ready runs, readyOrDone runs",
        "timedOut*: ok runs, succeeded blocked, failed runs, done runs, "
          + "ready runs, readyOrDone runs",
      ])
  }

  /// What becomes of a dependent. The result must be the same if the dependency ended by itself, ended
  /// without running, or had ended before the dependent was appended.
  private func fate(after ending: Ending, when condition: EdgeCondition) -> String {
    var ran = Simulation("a=\(ending); b: a?\(condition)")
    let ranTimeline = ran.run()
    var settled = Simulation("a; b: a?\(condition)")
    let settledTimeline = settled.run([
      0: { $0.scheduler.settle($0.id("a"), as: ending, cause: .itself) }
    ])
    var appended = Simulation("a=\(ending)")
    let appendedTimeline = appended.run([5: { $0.append("b: a?\(condition)") }])
    let words = ["b+": "runs", "b=blocked(a)": "blocked", "b=skipped(a)": "skipped"]
    let fates = [ranTimeline, settledTimeline, appendedTimeline].map { timeline in
      words.filter { timeline.contains($0.key) }.values.sorted().joined(separator: " and ")
    }
    #expect(Set(fates).count == 1, "\(ranTimeline) / \(settledTimeline) / \(appendedTimeline)")
    #expect(ran.scheduler.isFinished && settled.scheduler.isFinished)
    return fates[0]
  }

  @Test func `what cannot run is blocked to the end of its chain, with the root`() {
    #expect(
      schedule("a=failed; b: a; c: b; d: c; e: c?done; f", queues: "main=9")
        == "0 a+ f+ | 1 a-failed b=blocked(a) c=blocked(a) d=blocked(a) f- e+ | 2 e-")
  }

  @Test func `a dependent is blocked before its other dependencies end`() {
    #expect(
      schedule("a=failed; s/5; b: a s; c: b?done", queues: "main=9")
        == "0 a+ s+ | 1 a-failed b=blocked(a) c+ | 2 c- | 5 s-")
  }

  @Test func `a dependent has one root, the first`() {
    #expect(
      schedule("a=failed; s=failed/2; b: s a", queues: "main=9")
        == "0 a+ s+ | 1 a-failed b=blocked(a) | 2 s-failed")
  }

  @Test func `a step for failures is skipped after a success and names it`() {
    #expect(
      schedule("a; b: a?failed; c: b; d: b?succeeded; e: d?failed; f: e?done", queues: "main=9")
        == "0 a+ | 1 a- b=skipped(a) d=skipped(b) e=skipped(d) c+ f+ | 2 c- f-")
  }

  @Test func `what is not needed is skipped when all that it waits for has ended`() {
    #expect(
      schedule("a; s/5; b: a?failed s; c: b", queues: "main=9")
        == "0 a+ s+ | 1 a- | 5 s- b=skipped(a) c+ | 6 c-")
    #expect(
      schedule("s/5; a; b: a?failed s?failed", queues: "main=9")
        == "0 s+ a+ | 1 a- | 5 s- b=skipped(s)")
  }

  /// Whichever ends first.
  @Test(arguments: ["a; s=failed/5", "a/5; s=failed"])
  func `what is not needed is blocked by a failure among the rest`(steps: String) {
    #expect(schedule("\(steps); b: a?failed s", queues: "main=9").contains(" b=blocked(s)"))
  }

  @Test func `a long chain of steps that are not needed ends`() {
    let chain = (1...20_000).map { "s\($0): s\($0 - 1)?failed" }.joined(separator: "; ")
    #expect(
      schedule("s0; \(chain); z: s20000").hasSuffix("s20000=skipped(s19999) z+ | 2 z-"))
  }

  @Test func `a run in which nothing failed has no blocked step`() {
    #expect(
      !schedule(
        "a; b: a?failed; c: b?succeeded; d: b?failed; e: c d?done; f: a?succeeded b?failed",
        queues: "main=9"
      ).contains("blocked"))
  }

  @Test func `a skipped step lets its dependents run`() {
    #expect(
      schedule(
        "a; b: a; c: b",
        [1: { $0.scheduler.settle($0.id("b"), as: Ending(.skipped), cause: .itself) }])
        == "0 a+ | 1 a- b=skipped c+ | 2 c-")
  }

  @Test func `two edges from one operation both count`() {
    #expect(schedule("a; b: a a?done") == "0 a+ | 1 a- b+ | 2 b-")
    #expect(schedule("a=failed; b: a?failed a") == "0 a+ | 1 a-failed b=blocked(a)")
  }
}

@Suite struct `failure policies` {
  private let text = "a=failed; b: a; c: b; d: a?done; s/3; t: s; u"

  @Test func `continue runs everything that is not downstream`() {
    #expect(
      schedule(text, queues: "main=2")
        == "0 a+ s+ | 1 a-failed b=blocked(a) c=blocked(a) d+ | 2 d- u+ | 3 s- u- t+ | 4 t-")
  }

  @Test func `stop starts nothing new and lets what runs end`() {
    #expect(
      schedule(text, queues: "main=2", [1: { $0.scheduler.stop(.failure($0.id("a"))) }])
        == """
        0 a+ s+ | 1 a-failed b=blocked(a) c=blocked(a) d=cancelled(stop a) t=cancelled(stop a) \
        u=cancelled(stop a) | 3 s-
        """)
  }

  @Test func `cancel ends what runs too`() {
    #expect(
      schedule(
        text, queues: "main=2",
        [
          1: {
            $0.scheduler.stop(.failure($0.id("a")))
            $0.cancel("s")
          }
        ])
          == """
          0 a+ s+ | 1 a-failed b=blocked(a) c=blocked(a) s-cancelled d=cancelled(stop a) \
          t=cancelled(stop a) u=cancelled(stop a)
          """)
  }

  @Test func `a cancelled step blocks its dependents`() {
    #expect(
      schedule("a/9; b: a; c: b", [2: { $0.cancel("a") }])
        == "0 a+ | 2 a-cancelled b=blocked(a) c=blocked(a)")
  }

  @Test func `in a cancelled run what waits is cancelled, not blocked`() {
    #expect(
      schedule(
        "a/9; b: a; c: b",
        [
          2: {
            $0.scheduler.stop(.signal(2))
            $0.cancel("a")
          }
        ]) == "0 a+ | 2 a-cancelled b=cancelled(signal(2)) c=cancelled(signal(2))")
  }

  @Test func `after a stop a retry wait goes on until its caller ends it`() {
    #expect(
      schedule("a^5; b^2/3", queues: "main=2", [2: { $0.scheduler.stop(.runTimeout) }])
        == "0 a+ b+ | 1 a. | 3 b. | 5 b=cancelled(runTimeout) | 6 a=cancelled(runTimeout)")
  }

  @Test func `after a stop what is appended is cancelled`() {
    #expect(
      schedule(
        "a/3; b",
        [
          1: { $0.scheduler.stop(.signal(15)) },
          2: { $0.append("c: a") },
        ]) == "0 a+ | 1 b=cancelled(signal(15)) | 2 c=cancelled(signal(15)) | 3 a-")
  }

  @Test func `only the first reason to stop counts`() {
    #expect(
      schedule(
        "a/3; b",
        [
          1: {
            $0.scheduler.stop(.signal(15))
            $0.scheduler.stop(.runTimeout)
          },
          2: { $0.append("c") },
        ]) == "0 a+ | 1 b=cancelled(signal(15)) | 2 c=cancelled(signal(15)) | 3 a-")
  }
}
