// What happens to a command between the signal that asks it to end and its end, in virtual time.

import Plans
import Scheduling
import Testing

@testable import Running

@Suite struct `A command that has been asked to end` {
  private static let second: Nanoseconds = 1_000_000_000

  /// Attempts that take no notice of their time limit of 1 s, and would be made twice.
  private static let retried: StepSettings = {
    var retry = RetryPolicy()
    retry.limit = 1
    var hooks = Hooks()
    hooks.onCancel = [.known(.script("hook"))]
    hooks.onFailure = [.known(.script("hook"))]
    var stop = StopSequence()
    stop.grace = 3 * second
    return StepSettings(timeout: second, retry: retry, stop: stop, hooks: hooks)
  }()

  @Test func `by its time limit is not tried again when its step is cancelled`() {
    let run = Simulation(
      graph: "a; b: a", scripts: ["a": "stubborn"], settings: ["a": Self.retried],
      canBeChangedFromOutside: true, requests: [(2, "cancel a")])
    #expect(
      run.timeline()
        == "0:+a 1:stop(a) 2:'a'_cancelled_by_anna 4:kill(a) 4:-a=sig9 4:+a.on_cancel.1 "
        + "5:-a.on_cancel.1=0 5:a=cancelled<anna 5:b=blocked<a 5:end=1")
  }

  @Test func `by its time limit is not tried again when it was killed and its step is cancelled`() {
    let run = Simulation(
      graph: "a", scripts: ["a": "immortal"], settings: ["a": Self.retried],
      canBeChangedFromOutside: true, requests: [(5, "cancel a")])
    #expect(
      run.timeline()
        == "0:+a 1:stop(a) 4:kill(a) 5:'a'_cancelled_by_anna 9:-a=sig9 9:+a.on_cancel.1 "
        + "10:-a.on_cancel.1=0 10:a=cancelled<anna 10:end=1")
  }

  @Test func `by its time limit is not tried again when fail_fast ends its group`() {
    let run = Simulation(
      graph: "a; b; g: a?done b?done", scripts: ["a": "stubborn", "b": "1@2"],
      settings: ["a": Self.retried], decisions: ["g": "join"], groups: ["g!": ["a", "b"]])
    #expect(
      run.timeline()
        == "0:+a 0:+b 1:stop(a) 2:-b=1 2:b=failed 4:kill(a) 4:-a=sig9 4:+a.on_cancel.1 "
        + "5:-a.on_cancel.1=0 5:a=cancelled<b 5:g=failed<b 5:end=1")
  }

  @Test func `by its time limit is not tried again when the time of its group is over`() {
    let run = Simulation(
      graph: "a; g: a?done", scripts: ["a": "stubborn"],
      settings: ["a": Self.retried, "g": StepSettings(timeout: 2 * Self.second)],
      decisions: ["g": "join"], groups: ["g": ["a"]])
    #expect(
      run.timeline()
        == "0:+a 1:stop(a) 4:kill(a) 4:-a=sig9 4:+a.on_cancel.1 5:-a.on_cancel.1=0 "
        + "5:a=cancelled<limit(g) 5:g=timedOut<its steps together exceeded 'timeout' 5:end=1")
  }

  @Test func `by its time limit has failed if it is not cancelled`() {
    let run = Simulation(
      graph: "a", scripts: ["a": "stubborn ok@1"], settings: ["a": Self.retried])
    #expect(
      run.timeline()
        == "0:+a 1:stop(a) 4:kill(a) 4:-a=sig9! 4:a#2in0 4:+a 5:-a=0 5:a=succeeded 5:end=0")
  }

  /// What it has left behind is still printing, so that its end is reported later.
  @Test(arguments: [
    ("ok@1~9", "9:-a=0 9:a=succeeded 9:end=0"), ("1@1~9", "9:-a=1 9:a=failed 9:end=1"),
  ])
  func `has ended by itself if it was over before`(script: String, end: String) {
    let settings = StepSettings(timeout: 3 * Self.second)
    let run = Simulation(graph: "a", scripts: ["a": script], settings: ["a": settings])
    #expect(run.timeline() == "0:+a 3:stop(a) 8:kill(a) " + end)
  }

  @Test func `has succeeded if it was over before its step was cancelled`() {
    let run = Simulation(
      graph: "a", scripts: ["a": "ok@1~3"], canBeChangedFromOutside: true,
      requests: [(2, "cancel a")])
    #expect(
      run.timeline()
        == "0:+a 2:'a'_cancelled_by_anna 2:stop(a) 3:-a=0 3:a=succeeded 3:end=0")
  }

  @Test func `is not tried again if it failed before its step was cancelled`() {
    var retry = RetryPolicy()
    retry.limit = 1
    let run = Simulation(
      graph: "a", scripts: ["a": "1@1~3"], settings: ["a": StepSettings(retry: retry)],
      canBeChangedFromOutside: true, requests: [(2, "cancel a")])
    #expect(
      run.timeline() == "0:+a 2:'a'_cancelled_by_anna 2:stop(a) 3:-a=1 3:a=failed 3:end=1")
  }

  private static let stubborn: StepSettings = {
    var stop = StopSequence()
    stop.grace = 3 * second
    return StepSettings(stop: stop)
  }()

  @Test func `because of a failure is cancelled because of it, whoever else wants its end`() {
    typealias Signals = [(second: Nanoseconds, signal: Int32)]
    typealias Requests = [(second: Nanoseconds, request: String)]
    func run(_ signals: Signals = [], _ requests: Requests = []) -> String {
      Simulation(
        graph: "a; b; g: a?done", scripts: ["a": "stubborn", "b": "1@1"],
        settings: ["a": Self.stubborn], decisions: ["g": "join"], groups: ["g": ["a"]],
        failurePolicy: .cancel, signals: signals,
        canBeChangedFromOutside: true, requests: requests
      ).timeline()
    }
    let start = "0:+a 0:+b 1:-b=1 1:b=failed 1:stopping(b) 1:stop(a) "
    let end = "4:kill(a) 4:-a=sig9 4:a=cancelled<b 4:g=cancelled<b "
    #expect(run([(2, 2)]) == start + "2:signal2 2:stopping(signal2) " + end + "4:end=130")
    #expect(
      run([], [(2, "cancel g")])
        == start + "2:['g' is already being cancelled] " + end + "4:end=1")
  }

  @Test func `because somebody cancelled it is cancelled by him, and counts as failed`() {
    let run = Simulation(
      graph: "a; g: a?done", scripts: ["a": "stubborn"], settings: ["a": Self.stubborn],
      decisions: ["g": "join"], groups: ["g": ["a"]], signals: [(2, 15)],
      canBeChangedFromOutside: true, requests: [(1, "cancel a")])
    #expect(
      run.timeline()
        == "0:+a 1:'a'_cancelled_by_anna 1:stop(a) 2:signal15 2:stopping(signal15) 4:kill(a) "
        + "4:-a=sig9 4:a=cancelled<anna 4:g=cancelled<anna 4:end=143")
  }

  @Test func `three times, by different signals, ends with the status of the first`() {
    let run = Simulation(
      graph: "a", scripts: ["a": "immortal"], signals: [(1, 1), (2, 2), (3, 3)])
    #expect(run.timeline().hasSuffix("a=cancelled<signal1 3:end=129"))
  }
}
