// Signals, failure policies, the run's time limit: how a run ends early.

import Plans
import Scheduling
import Testing

@testable import Running

private let second: Nanoseconds = 1_000_000_000

struct `Stopping a run` {
  private let cancelHooks: StepSettings = {
    var hooks = Hooks()
    hooks.onCancel = [.known(.script("hook"))]
    hooks.onComplete = [.known(.script("hook"))]
    return StepSettings(hooks: hooks)
  }()

  @Test(arguments: [(Int32(2), Int32(130)), (15, 143), (1, 129), (3, 131)])
  func `a signal cancels what runs and what waits`(signal: Int32, status: Int32) {
    #expect(
      Simulation(graph: "a; b: a", scripts: ["a": "hang"], signals: [(1, signal)]).timeline()
        == "0:+a 1:signal\(signal) 1:stopping(signal\(signal)) 1:b=cancelled<signal\(signal) "
        + "1:stop(a) 1:-a=sig15 1:a=cancelled<signal\(signal) 1:end=\(status)")
  }

  @Test func `hooks run after the first signal, of the step and then of the run`() {
    #expect(
      Simulation(
        graph: "a", scripts: ["a": "hang"], settings: ["a": cancelHooks], run: cancelHooks,
        signals: [(1, 2)]
      ).timeline()
        == "0:+a 1:signal2 1:stopping(signal2) 1:stop(a) 1:-a=sig15 1:+a.on_cancel.1 "
        + "2:-a.on_cancel.1=0 2:+a.on_complete.1 3:-a.on_complete.1=0 3:a=cancelled<signal2 "
        + "3:+@run.on_cancel.1 4:-@run.on_cancel.1=0 4:+@run.on_complete.1 "
        + "5:-@run.on_complete.1=0 5:end=130")
  }

  @Test func `the second signal kills and hooks still run`() {
    #expect(
      Simulation(
        graph: "a", scripts: ["a": "stubborn"], settings: ["a": cancelHooks],
        signals: [(1, 2), (2, 2)]
      ).timeline()
        == "0:+a 1:signal2 1:stopping(signal2) 1:stop(a) 2:signal2 2:kill(a) 2:-a=sig9 "
        + "2:+a.on_cancel.1 3:-a.on_cancel.1=0 3:+a.on_complete.1 4:-a.on_complete.1=0 "
        + "4:a=cancelled<signal2 4:end=130")
  }

  @Test func `the third signal ends oprun at once`() {
    #expect(
      Simulation(
        graph: "a", scripts: ["a": "stubborn", "a.on_cancel.1": "stubborn"],
        settings: ["a": cancelHooks], signals: [(1, 2), (2, 2), (3, 15)]
      ).timeline()
        == "0:+a 1:signal2 1:stopping(signal2) 1:stop(a) 2:signal2 2:kill(a) 2:-a=sig9 "
        + "2:+a.on_cancel.1 3:signal15 3:kill(a.on_cancel.1) 3:a=cancelled<signal2 3:end=130")
  }

  /// `b` had succeeded and `c` had failed when their hooks were stopped.
  @Test func `after the third signal every step has an outcome that is true`() {
    var hooks = Hooks()
    hooks.onSuccess = [.known(.script("hook"))]
    hooks.onFailure = [.known(.script("hook"))]
    hooks.onComplete = [.known(.script("hook"))]
    let settings = StepSettings(hooks: hooks)
    #expect(
      Simulation(
        graph: "a; b; c; d: a; e: c?failed",
        scripts: [
          "a": "hang", "a.on_complete.1": "stubborn", "b.on_success.1": "stubborn",
          "b.on_complete.1": "stubborn", "c": "3@1", "c.on_failure.1": "stubborn",
          "c.on_complete.1": "stubborn",
        ],
        settings: ["a": settings, "b": settings, "c": settings],
        signals: [(2, 2), (3, 2), (4, 2)]
      ).timeline()
        == "0:+a 0:+c 0:+b 1:-c=3 1:+c.on_failure.1 1:-b=0 1:+b.on_success.1 2:signal2 "
        + "2:stopping(signal2) 2:d=cancelled<signal2 2:e=cancelled<signal2 2:stop(a) "
        + "2:stop(b.on_success.1) 2:stop(c.on_failure.1) 2:-a=sig15 2:+a.on_complete.1 "
        + "3:signal2 3:kill(b.on_success.1) 3:kill(c.on_failure.1) 3:-c.on_failure.1=sig9~ "
        + "3:+c.on_complete.1 3:-b.on_success.1=sig9~ 3:+b.on_complete.1 4:signal2 "
        + "4:kill(a.on_complete.1) 4:kill(b.on_complete.1) 4:kill(c.on_complete.1) "
        + "4:a=cancelled<signal2 4:b=cancelled<signal2 4:c=failed 4:end=130")
  }

  @Test(arguments: [(Int32(10), Int32(138)), (14, 142), (30, 158), (34, 162), (64, 192)])
  func `any signal ends the run as TERM does`(signal: Int32, status: Int32) {
    #expect(
      Simulation(graph: "a", scripts: ["a": "hang"], signals: [(1, signal)]).timeline()
        == "0:+a 1:signal\(signal) 1:stopping(signal\(signal)) 1:stop(a) 1:-a=sig15 "
        + "1:a=cancelled<signal\(signal) 1:end=\(status)")
  }

  @Test func `a step that is cancelled in its on_success hook runs those of a cancelled one`() {
    #expect(
      Simulation(
        graph: "a", scripts: ["a.on_success.1": "hang"],
        settings: ["a": StepSettings(hooks: .ofEachKind)], signals: [(2, 2)]
      ).timeline()
        == "0:+a 1:-a=0 1:+a.on_success.1 2:signal2 2:stopping(signal2) 2:stop(a.on_success.1) "
        + "2:-a.on_success.1=sig15~ 2:+a.on_cancel.1 3:-a.on_cancel.1=0 3:+a.on_complete.1 "
        + "4:-a.on_complete.1=0 4:a=cancelled<signal2 4:end=130")
  }

  @Test func `nothing follows on_complete, whatever ends it`() {
    #expect(
      Simulation(
        graph: "a", scripts: ["a.on_complete.1": "hang"],
        settings: ["a": StepSettings(hooks: .ofEachKind)], signals: [(3, 2)]
      ).timeline()
        == "0:+a 1:-a=0 1:+a.on_success.1 2:-a.on_success.1=0 2:+a.on_complete.1 3:signal2 "
        + "3:stopping(signal2) 3:stop(a.on_complete.1) 3:-a.on_complete.1=sig15~ "
        + "3:a=cancelled<signal2 3:end=130")
  }

  @Test func `a run that times out in its on_success hook runs those of one that has timed out`() {
    #expect(
      Simulation(
        graph: "a", scripts: ["@run.on_success.1": "hang"],
        run: StepSettings(hooks: .ofEachKind), timeout: 3 * second
      ).timeline()
        == "0:+a 1:-a=0 1:a=succeeded 1:+@run.on_success.1 3:stopping(timeout) "
        + "3:stop(@run.on_success.1) 3:-@run.on_success.1=sig15~ 3:+@run.on_failure.1 "
        + "4:-@run.on_failure.1=0 4:+@run.on_complete.1 5:-@run.on_complete.1=0 5:end=124")
  }

  @Test func `a hook that hangs while the run is cancelled has thirty seconds`() {
    #expect(
      Simulation(
        graph: "a", scripts: ["a": "hang", "a.on_cancel.1": "stubborn"],
        settings: ["a": cancelHooks], signals: [(1, 2)]
      ).timeline()
        == "0:+a 1:signal2 1:stopping(signal2) 1:stop(a) 1:-a=sig15 1:+a.on_cancel.1 "
        + "31:kill(a.on_cancel.1) 31:-a.on_cancel.1=sig9! 31:+a.on_complete.1 "
        + "32:-a.on_complete.1=0 32:a=cancelled<signal2 32:end=130")
  }

  @Test func `a signal interrupts the wait for a retry and the hooks run`() {
    var policy = RetryPolicy()
    policy.limit = 1
    policy.delay = 100 * second
    let settings = StepSettings(retry: policy, hooks: cancelHooks.hooks)
    #expect(
      Simulation(
        graph: "a; b: a", scripts: ["a": "1@1"], settings: ["a": settings], signals: [(3, 15)]
      ).timeline()
        == "0:+a 1:-a=1 1:a#2in100 3:signal15 3:stopping(signal15) 3:b=cancelled<signal15 "
        + "3:+a.on_cancel.1 4:-a.on_cancel.1=0 4:+a.on_complete.1 5:-a.on_complete.1=0 "
        + "5:a=cancelled<signal15 5:end=143")
  }

  @Test func `what is ready for another attempt has its hooks when the run is stopped`() {
    var policy = RetryPolicy()
    policy.limit = 1
    policy.delay = second
    let retried = StepSettings(retry: policy, hooks: cancelHooks.hooks)
    #expect(
      Simulation(
        graph: "a; b", scripts: ["a": "1@1", "b": "hang"], settings: ["a": retried], width: 1,
        signals: [(3, 15)]
      ).timeline()
        == "0:+a 1:-a=1 1:a#2in1 1:+b 3:signal15 3:stopping(signal15) 3:stop(b) 3:-b=sig15 "
        + "3:b=cancelled<signal15 3:+a.on_cancel.1 4:-a.on_cancel.1=0 4:+a.on_complete.1 "
        + "5:-a.on_complete.1=0 5:a=cancelled<signal15 5:end=143")
  }

  @Test func `fail_fast cancels a member that is ready for another attempt`() {
    var policy = RetryPolicy()
    policy.limit = 1
    policy.delay = second
    let retried = StepSettings(retry: policy, hooks: cancelHooks.hooks)
    #expect(
      Simulation(
        graph: "a; b; g: a?done b?done", scripts: ["a": "1@1", "b": "1@2"],
        settings: ["a": retried], decisions: ["g": "join"], groups: ["g!": ["a", "b"]], width: 1
      ).timeline()
        == "0:+a 1:-a=1 1:a#2in1 1:+b 3:-b=1 3:b=failed 3:+a.on_cancel.1 4:-a.on_cancel.1=0 "
        + "4:+a.on_complete.1 5:-a.on_complete.1=0 5:a=cancelled<b 5:g=failed<b 5:end=1")
  }

  /// This happens when several commands end in one turn, or when what was reported cannot be kept.
  @Test(arguments: [
    (FailurePolicy.stop, false, "failure(Scheduling.OperationID(rawValue: 0))"),
    (.cancel, false, "failure(Scheduling.OperationID(rawValue: 0))"),
    (.continue, true, "stateFailure(\"lost\")"),
  ])
  func `what was to be started when the run was stopped is cancelled, and does not start`(
    policy: FailurePolicy, isStateLost: Bool, reason: String
  ) {
    var machine = RunMachine(
      plan: Simulation(graph: "a; b; c: b", failurePolicy: policy).plan())
    machine.begin(at: 0)
    for case .start(let key) in machine.takeActions() {
      let mayStart = machine.mayStart(key, at: 0)
      #expect(mayStart)
    }
    let keys = (0..<3).map { CommandKey(operation: OperationID($0), role: .attempt(1)) }
    machine.ended(keys[1], CommandEnd(.exited(0)), at: 1)
    machine.ended(keys[0], CommandEnd(.exited(isStateLost ? 0 : 1)), at: 1)
    let starts = machine.takeActions().filter { $0 == .start(keys[2]) }
    #expect(starts.count == 1)
    if isStateLost { machine.stateFailed("lost", at: 1) }
    _ = machine.takeActions()
    let mayStart = machine.mayStart(keys[2], at: 1)
    #expect(!mayStart)
    let told = machine.takeActions().map { "\($0)" }
    #expect(told.count == 3)
    #expect(told[0].contains("stopped before it started"))
    #expect(told[1].contains("cancelled, Scheduling.Cause.stopped(Scheduling.StopReason.\(reason)"))
    #expect(machine.active.isEmpty)
  }

  @Test func `each thing that cannot be kept is told once`() {
    var machine = RunMachine(plan: Simulation(graph: "a").plan())
    machine.begin(at: 0)
    for message in ["one", "two", "one", "two", "three"] { machine.stateFailed(message, at: 1) }
    let told = machine.takeActions().compactMap { action -> String? in
      switch action {
      case .tell(.stopping(.stateFailure(let message))): "stopping: \(message)"
      case .tell(.notice(let message)): message
      case .tell, .start, .stop, .kill, .decide, .publish: nil
      }
    }
    #expect(told == ["stopping: one", "two", "three"])
  }

  /// A hook that rolls back has nothing to do for a step of which nothing ran.
  @Test(arguments: [(0, []), (1, [HookKind.onCancel])])
  func `hooks of a step that was stopped before it started`(
    earlierAttempts: Int, expected: [HookKind]
  ) {
    var policy = RetryPolicy()
    policy.limit = 1
    var hooks = Hooks()
    hooks.onCancel = [.known(.script("hook"))]
    var machine = RunMachine(
      plan: Simulation(
        graph: "a", settings: ["a": StepSettings(retry: policy, hooks: hooks)]
      ).plan())
    machine.begin(at: 0)
    _ = machine.takeActions()
    let operation = OperationID(0)
    if earlierAttempts == 1 {
      let key = CommandKey(operation: operation, role: .attempt(1))
      let mayStart = machine.mayStart(key, at: 0)
      #expect(mayStart)
      machine.ended(key, CommandEnd(.exited(1)), at: 1)
      machine.advance(to: 1)
      _ = machine.takeActions()
    }
    machine.stateFailed("lost", at: 1)
    let mayStart = machine.mayStart(
      CommandKey(operation: operation, role: .attempt(earlierAttempts + 1)), at: 1)
    #expect(!mayStart)
    let started = machine.takeActions().compactMap { action -> HookKind? in
      if case .start(let key) = action, case .hook(let kind, _, _) = key.role { kind } else { nil }
    }
    #expect(started == expected)
  }

  /// `c` has failed before `b`, and its hook ends when `a` has been cancelled.
  @Test func `fail_fast cancels a member that waits for another attempt once`() {
    var policy = RetryPolicy()
    policy.limit = 1
    policy.delay = 100 * second
    var hooks = Hooks()
    hooks.onComplete = [.known(.script("hook"))]
    #expect(
      Simulation(
        graph: "a; b; c; g: a?done b?done c?done",
        scripts: [
          "a": "1@1", "b": "1@2", "c": "1@1", "c.on_complete.1": "ok@3", "a.on_cancel.1": "ok@5",
        ],
        settings: [
          "a": StepSettings(retry: policy, hooks: cancelHooks.hooks),
          "c": StepSettings(hooks: hooks),
        ], decisions: ["g": "join"], groups: ["g!": ["a", "b", "c"]]
      ).timeline()
        == "0:+a 0:+b 0:+c 1:-a=1 1:a#2in100 1:-c=1 1:+c.on_complete.1 2:-b=1 2:b=failed "
        + "2:+a.on_cancel.1 4:-c.on_complete.1=0 4:c=failed 7:-a.on_cancel.1=0 7:+a.on_complete.1 "
        + "8:-a.on_complete.1=0 8:a=cancelled<b 8:g=failed<b 8:end=1")
  }

  @Test func `a width of nothing ends a run that has been expanded`() {
    #expect(
      Simulation(graph: "g", decisions: ["g": "expand x"], groups: ["g": []], width: 0).timeline()
        == "0:g>x 0:stopping(width) 0:x=cancelled<width 0:g=cancelled<width 0:end=1")
  }

  @Test func `under the policy stop nothing new starts and what runs goes on`() {
    #expect(
      Simulation(
        graph: "a; b; c; d: a", scripts: ["a": "1@1", "b": "ok@3"], width: 2,
        failurePolicy: .stop
      ).timeline()
        == "0:+a 0:+b 1:-a=1 1:a=failed 1:stopping(a) 1:d=blocked<a 1:c=cancelled<a 3:-b=0 "
        + "3:b=succeeded 3:end=1")
  }

  @Test func `under the policy stop a group with a blocked member ends after those that run`() {
    #expect(
      Simulation(
        graph: "f; c; d: f; g: c?done d?done", scripts: ["f": "1@1", "c": "4@3"],
        decisions: ["g": "join"], groups: ["g": ["c", "d"]], width: 2, failurePolicy: .stop
      ).timeline()
        == "0:+f 0:+c 1:-f=1 1:f=failed 1:stopping(f) 1:d=blocked<f 3:-c=4 3:c=failed "
        + "3:g=failed<c 3:end=1")
  }

  @Test func `under the policy stop no further attempt is made`() {
    var policy = RetryPolicy()
    policy.limit = 1
    policy.delay = 9 * second
    #expect(
      Simulation(
        graph: "a; b", scripts: ["a": "1@1", "b": "1@2"],
        settings: ["a": StepSettings(retry: policy, hooks: cancelHooks.hooks)],
        failurePolicy: .stop
      ).timeline()
        == "0:+a 0:+b 1:-a=1 1:a#2in9 2:-b=1 2:b=failed 2:stopping(b) 2:+a.on_cancel.1 "
        + "3:-a.on_cancel.1=0 3:+a.on_complete.1 4:-a.on_complete.1=0 4:a=cancelled<b 4:end=1")
  }

  @Test func `under the policy cancel what runs is ended too`() {
    #expect(
      Simulation(
        graph: "a; b; c; d: a", scripts: ["a": "1@1", "b": "hang"], width: 2,
        failurePolicy: .cancel
      ).timeline()
        == "0:+a 0:+b 1:-a=1 1:a=failed 1:stopping(a) 1:d=blocked<a 1:c=cancelled<a 1:stop(b) "
        + "1:-b=sig15 1:b=cancelled<a 1:end=1")
  }

  @Test(arguments: [FailurePolicy.stop, .cancel])
  func `an allowed failure stops nothing`(policy: FailurePolicy) {
    #expect(
      Simulation(
        graph: "a; b: a", scripts: ["a": "1@1"],
        settings: ["a": StepSettings(allowFailure: .always)], failurePolicy: policy
      ).timeline()
        == "0:+a 1:-a=1 1:a=failed(allowed) 1:+b 2:-b=0 2:b=succeeded 2:end=0")
  }

  @Test func `the run's time limit cancels it with 124`() {
    #expect(
      Simulation(graph: "a; b: a", scripts: ["a": "hang"], timeout: 3 * second).timeline()
        == "0:+a 3:stopping(timeout) 3:b=cancelled<timeout 3:stop(a) 3:-a=sig15 "
        + "3:a=cancelled<timeout 3:end=124")
  }

  @Test func `a width of nothing ends the run at once and says why`() {
    #expect(
      Simulation(graph: "a; b: a", width: 0).timeline()
        == "0:stopping(width) 0:a=cancelled<width 0:b=cancelled<width 0:end=1")
  }

  @Test func `a queue that somebody suspended ends a run which nobody can change any more`() {
    #expect(
      Simulation(graph: "a; b: a", scripts: ["a": "ok@2"], changes: [(1, .suspend)]).timeline()
        == "0:+a 1:suspend 2:-a=0 2:a=succeeded 2:stopping(suspended) 2:b=cancelled<suspended "
        + "2:end=1")
  }

  @Test func `a run that can be changed from outside waits, and goes on when a queue is resumed`() {
    var run = Simulation(
      graph: "a; b: a", scripts: ["a": "ok@2"], canBeChangedFromOutside: true,
      changes: [(1, .suspend)])
    let told =
      "2:notice(nothing_can_start:_the_queue_'default'_is_paused_until_'oprun_continue')"
    #expect(run.timeline() == "0:+a 1:suspend 2:-a=0 2:a=succeeded \(told) STUCK")
    run.changes.append((9, .resume))
    #expect(
      run.timeline()
        == "0:+a 1:suspend 2:-a=0 2:a=succeeded \(told) 9:resume 9:+b 10:-b=0 10:b=succeeded "
        + "10:end=0")
  }

  @Test func `a run that can be changed from outside goes on when its queue is widened`() {
    let run = Simulation(
      graph: "a; b", scripts: ["a": "ok@2"], width: 1, canBeChangedFromOutside: true,
      changes: [(1, .width(0)), (6, .width(1))])
    #expect(
      run.timeline()
        == "0:+a 1:width(0) 2:-a=0 2:a=succeeded "
        + "2:notice(nothing_can_start:_the_queue_'default'_waits_for_'oprun_set_max_parallel=N') "
        + "6:width(1) 6:+b 7:-b=0 7:b=succeeded 7:end=0")
  }

  @Test func `a width of nothing in the file ends a run that can be changed, too`() {
    #expect(
      Simulation(graph: "a; b: a", width: 0, canBeChangedFromOutside: true).timeline()
        == "0:stopping(width) 0:a=cancelled<width 0:b=cancelled<width 0:end=1")
  }

  @Test func `a run that waits for a change can be ended`() {
    let run = Simulation(
      graph: "a; b: a", timeout: 8 * second, canBeChangedFromOutside: true,
      changes: [(0, .suspend)])
    let begun =
      "0:+a 0:suspend 1:-a=0 1:a=succeeded "
      + "1:notice(nothing_can_start:_the_queue_'default'_is_paused_until_'oprun_continue')"
    #expect(run.timeline() == begun + " 8:stopping(timeout) 8:b=cancelled<timeout 8:end=124")
    var signalled = run
    signalled.signals = [(5, 15)]
    #expect(
      signalled.timeline()
        == begun + " 5:signal15 5:stopping(signal15) 5:b=cancelled<signal15 5:end=143")
  }

  @Test func `a run that can be changed from outside ends when everything has ended`() {
    #expect(
      Simulation(graph: "a", canBeChangedFromOutside: true).timeline()
        == "0:+a 1:-a=0 1:a=succeeded 1:end=0")
    #expect(
      Simulation(
        graph: "a; b", scripts: ["a": "1@1"], width: 1, failurePolicy: .stop,
        canBeChangedFromOutside: true
      ).timeline() == "0:+a 1:-a=1 1:a=failed 1:stopping(a) 1:b=cancelled<a 1:end=1")
  }

  @Test func `a signal after a failure under the policy stop decides the status`() {
    #expect(
      Simulation(
        graph: "a; b", scripts: ["a": "1@1", "b": "hang"], failurePolicy: .stop,
        signals: [(2, 2)]
      ).timeline()
        == "0:+a 0:+b 1:-a=1 1:a=failed 1:stopping(a) 2:signal2 2:stopping(signal2) 2:stop(b) "
        + "2:-b=sig15 2:b=cancelled<signal2 2:end=130")
  }
}
