// Hooks of steps that are cancelled while they wait for their next attempt: they get slot, mutex and resources
// first, like an attempt.

import Plans
import Scheduling
import Testing

private let second: Nanoseconds = 1_000_000_000

@Suite struct `Hooks of a step that waits for its next attempt` {
  private static let retried: StepSettings = {
    var hooks = Hooks()
    hooks.onCancel = [.known(.script(ScriptText("hook")), timeout: 40 * second)]
    var policy = RetryPolicy()
    policy.limit = 1
    policy.delay = 100 * second
    return StepSettings(retry: policy, hooks: hooks)
  }()

  private func simulation(
    _ graph: String, shared: Bool = false, others: [Range<Nanoseconds>] = []
  ) -> Simulation {
    Simulation(
      graph: graph, scripts: ["a": "1@1", "b": "ok@5"], settings: ["a": Self.retried],
      pools: [PoolSpec(name: "m", capacity: 1_000_000, isGranted: shared)], others: others)
  }

  @Test func `wait for its mutex`() {
    var run = simulation("a%m; g: a?done; b%m")
    run.settings["g"] = StepSettings(timeout: 3 * second)
    run.decisions["g"] = "join"
    run.groups["g^"] = ["a"]
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a#2in100 1:+b 6:-b=0 6:b=succeeded 6:+a.on_cancel.1 "
        + "7:-a.on_cancel.1=0 7:a=cancelled<limit(g) 7:g=timedOut<its steps together exceeded "
        + "'timeout' 7:end=1")
  }

  @Test func `wait for a slot when the run is stopped`() {
    var run = simulation("a; b")
    run.width = 1
    run.signals = [(3, 15)]
    run.scripts["b"] = "stubborn"
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a#2in100 1:+b 3:signal15 3:stopping(signal15) 3:stop(b) 8:kill(b) "
        + "8:-b=sig9 8:b=cancelled<signal15 8:+a.on_cancel.1 9:-a.on_cancel.1=0 "
        + "9:a=cancelled<signal15 9:end=143")
  }

  @Test func `run in a queue that is paused when the run is stopped`() {
    var run = simulation("a")
    run.canBeChangedFromOutside = true
    run.changes = [(2, .suspend)]
    run.signals = [(3, 15)]
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a#2in100 2:suspend 3:signal15 3:stopping(signal15) 3:+a.on_cancel.1 "
        + "4:-a.on_cancel.1=0 4:a=cancelled<signal15 4:end=143")
  }

  @Test func `wait in a queue that is paused until it continues`() {
    var run = simulation("a")
    run.canBeChangedFromOutside = true
    run.requests = [(2, "pause"), (3, "cancel a"), (5, "continue")]
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a#2in100 2:paused_by_anna 3:'a'_cancelled_by_anna "
        + "3:notice(nothing_can_start:_the_queue_'default'_is_paused_until_'oprun_continue') "
        + "5:continued_by_anna 5:+a.on_cancel.1 6:-a.on_cancel.1=0 6:a=cancelled<anna 6:end=1")
  }

  @Test func `do not wait for the mutex of another run for longer than they may take`() {
    var run = simulation("a%m", shared: true, others: [2..<100])
    run.signals = [(3, 15)]
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a#2in100 3:signal15 3:stopping(signal15) "
        + "33:notice(hooks_of_'a'_do_not_run:_'m'_is_held) "
        + "33:a=cancelled<signal15 33:end=143")
    run.others = [2..<9]
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a#2in100 3:signal15 3:stopping(signal15) 9:+a.on_cancel.1 "
        + "10:-a.on_cancel.1=0 10:a=cancelled<signal15 10:end=143")
  }

  @Test func `do not wait for what a service holds that lasts as long as other steps`() {
    var run = simulation("a%m; &s%m; c")
    run.scripts["s"] = "hang"
    run.scripts["c"] = "1@5"
    run.failurePolicy = .stop
    #expect(
      run.timeline()
        == "0:+a 0:+c 1:-a=1 1:a#2in100 1:+s 1:s!ready 5:-c=1 5:c=failed 5:stopping(c) "
        + "5:notice(hooks_of_'a'_do_not_run:_'m'_is_held) 5:a=cancelled<c 5:stop(s) 5:-s=sig15 "
        + "5:s=succeeded 5:end=1")
  }

  @Test func `are left out by the third signal`() {
    var run = simulation("a%m", shared: true, others: [2..<100])
    run.signals = [(3, 15), (4, 15), (5, 15)]
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a#2in100 3:signal15 3:stopping(signal15) 4:signal15 5:signal15 "
        + "5:a=cancelled<signal15 5:end=143")
  }
}
