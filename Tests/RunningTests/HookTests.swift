// Time limits of hooks, and what becomes of a hook that runs when the run is stopped, in virtual time.

import Diagnostics
import Plans
import Scheduling
import Testing

@testable import Running

private let second: Nanoseconds = 1_000_000_000

private func hooks(
  success: Int = 0, failure: Int = 0, cancel: Int = 0, complete: Int = 0,
  timeout: Nanoseconds = HookCommand.defaultTimeout
) -> Hooks {
  let hook = HookCommand.known(.script("hook"), timeout: timeout)
  var hooks = Hooks()
  hooks.onSuccess = Array(repeating: hook, count: success)
  hooks.onFailure = Array(repeating: hook, count: failure)
  hooks.onCancel = Array(repeating: hook, count: cancel)
  hooks.onComplete = Array(repeating: hook, count: complete)
  return hooks
}

@Suite struct `Time limits of hooks` {
  @Test func `a hook has ten minutes`() {
    #expect(
      Simulation(
        graph: "a; b: a", scripts: ["a.on_success.1": "hang"],
        settings: ["a": StepSettings(hooks: hooks(success: 2, complete: 1))]
      ).timeline()
        == "0:+a 1:-a=0 1:+a.on_success.1 601:stop(a.on_success.1) 601:-a.on_success.1=sig15! "
        + "601:+a.on_complete.1 602:-a.on_complete.1=0 602:a=failed<on_success 602:b=blocked<a "
        + "602:end=1")
  }

  @Test func `or as long as it says, and then its step's grace`() {
    #expect(
      Simulation(
        graph: "a", scripts: ["a.on_success.1": "stubborn"],
        settings: ["a": StepSettings(hooks: hooks(success: 1, timeout: 3 * second))]
      ).timeline()
        == "0:+a 1:-a=0 1:+a.on_success.1 4:stop(a.on_success.1) 9:kill(a.on_success.1) "
        + "9:-a.on_success.1=sig9! 9:a=failed<on_success 9:end=1")
  }

  @Test func `each command of a hook has a limit of its own`() {
    #expect(
      Simulation(
        graph: "a", scripts: ["a.on_success.1": "ok@3", "a.on_success.2": "ok@3"],
        settings: ["a": StepSettings(hooks: hooks(success: 2, timeout: 4 * second))]
      ).timeline()
        == "0:+a 1:-a=0 1:+a.on_success.1 4:-a.on_success.1=0 4:+a.on_success.2 "
        + "7:-a.on_success.2=0 7:a=succeeded 7:end=0")
  }

  @Test func `a hook of the run has one, too`() {
    #expect(
      Simulation(
        graph: "a", scripts: ["@run.on_success.1": "hang"],
        run: StepSettings(hooks: hooks(success: 1, complete: 1, timeout: 4 * second))
      ).timeline()
        == "0:+a 1:-a=0 1:a=succeeded 1:+@run.on_success.1 5:stop(@run.on_success.1) "
        + "5:-@run.on_success.1=sig15! 5:+@run.on_complete.1 6:-@run.on_complete.1=0 6:end=1")
  }

  @Test func `the time limit of a step is for each attempt and does not count its hooks`() {
    var retry = RetryPolicy()
    retry.limit = 1
    #expect(
      Simulation(
        graph: "a", scripts: ["a": "hang ok@2", "a.on_success.1": "ok@60"],
        settings: [
          "a": StepSettings(timeout: 3 * second, retry: retry, hooks: hooks(success: 1))
        ]
      ).timeline()
        == "0:+a 3:stop(a) 3:-a=sig15! 3:a#2in0 3:+a 5:-a=0 5:+a.on_success.1 "
        + "65:-a.on_success.1=0 65:a=succeeded 65:end=0")
  }

  /// A hook that takes its signal for the end of its work has not done it.
  @Test func `a hook that exits with nothing wrong after its time is up has failed`() {
    var machine = RunMachine(
      plan: Simulation(
        graph: "a", settings: ["a": StepSettings(hooks: hooks(success: 1, timeout: second))]
      ).plan())
    machine.begin(at: 0)
    let key = CommandKey(operation: OperationID(0), role: .attempt(1))
    let hook = CommandKey(operation: OperationID(0), role: .hook(.onSuccess, index: 1))
    machine.ended(key, CommandEnd(.exited(0)), at: 0)
    machine.advance(to: second)
    machine.ended(hook, CommandEnd(.exited(0)), at: second)
    let told = machine.takeActions()
    #expect(
      told.contains(.tell(.settled(OperationID(0), Ending(.failed), .hook(.onSuccess)))))
  }
}

@Suite struct `Stopping hooks` {
  @Test func `a signal stops a running hook, and what follows has thirty seconds`() {
    #expect(
      Simulation(
        graph: "a; b: a", scripts: ["a.on_success.1": "hang", "a.on_complete.1": "stubborn"],
        settings: ["a": StepSettings(hooks: hooks(success: 2, cancel: 1, complete: 1))],
        signals: [(3, 2)]
      ).timeline()
        == "0:+a 1:-a=0 1:+a.on_success.1 3:signal2 3:stopping(signal2) 3:b=cancelled<signal2 "
        + "3:stop(a.on_success.1) 3:-a.on_success.1=sig15~ 3:+a.on_cancel.1 4:-a.on_cancel.1=0 "
        + "4:+a.on_complete.1 34:kill(a.on_complete.1) 34:-a.on_complete.1=sig9! "
        + "34:a=cancelled<signal2 34:end=130")
  }

  @Test func `a hook that does not listen is killed after the grace, or by the second signal`() {
    var run = Simulation(
      graph: "a", scripts: ["a": "3@1", "a.on_failure.1": "stubborn"],
      settings: ["a": StepSettings(hooks: hooks(failure: 1))], signals: [(3, 2)])
    #expect(
      run.timeline()
        == "0:+a 1:-a=3 1:+a.on_failure.1 3:signal2 3:stopping(signal2) 3:stop(a.on_failure.1) "
        + "8:kill(a.on_failure.1) 8:-a.on_failure.1=sig9~ 8:a=failed 8:end=130")
    run.signals.append((4, 2))
    #expect(
      run.timeline()
        == "0:+a 1:-a=3 1:+a.on_failure.1 3:signal2 3:stopping(signal2) 3:stop(a.on_failure.1) "
        + "4:signal2 4:kill(a.on_failure.1) 4:-a.on_failure.1=sig9~ 4:a=failed 4:end=130")
  }

  @Test func `the second signal leaves hooks that started after the first one`() {
    #expect(
      Simulation(
        graph: "a", scripts: ["a": "hang", "a.on_cancel.1": "ok@9"],
        settings: ["a": StepSettings(hooks: hooks(cancel: 1))], signals: [(1, 2), (3, 2)]
      ).timeline()
        == "0:+a 1:signal2 1:stopping(signal2) 1:stop(a) 1:-a=sig15 1:+a.on_cancel.1 3:signal2 "
        + "10:-a.on_cancel.1=0 10:a=cancelled<signal2 10:end=130")
  }

  @Test func `a signal stops a running hook of the run, whose other hooks still run`() {
    #expect(
      Simulation(
        graph: "a", scripts: ["@run.on_success.1": "hang"],
        run: StepSettings(hooks: hooks(success: 1, cancel: 1, complete: 1)), signals: [(3, 15)]
      ).timeline()
        == "0:+a 1:-a=0 1:a=succeeded 1:+@run.on_success.1 3:signal15 3:stopping(signal15) "
        + "3:stop(@run.on_success.1) 3:-@run.on_success.1=sig15~ 3:+@run.on_cancel.1 "
        + "4:-@run.on_cancel.1=0 4:+@run.on_complete.1 5:-@run.on_complete.1=0 5:end=143")
  }

  @Test func `the run's time limit stops running hooks, of steps and of the run`() {
    let settings = StepSettings(hooks: hooks(success: 1, complete: 1))
    #expect(
      Simulation(
        graph: "a", scripts: ["a.on_success.1": "hang", "@run.on_failure.1": "hang"],
        settings: ["a": settings], run: StepSettings(hooks: hooks(failure: 1)),
        timeout: 3 * second
      ).timeline()
        == "0:+a 1:-a=0 1:+a.on_success.1 3:stopping(timeout) 3:stop(a.on_success.1) "
        + "3:-a.on_success.1=sig15~ 3:+a.on_complete.1 4:-a.on_complete.1=0 "
        + "4:a=cancelled<timeout 4:+@run.on_failure.1 34:kill(@run.on_failure.1) "
        + "34:-@run.on_failure.1=sig9! 34:end=124")
    #expect(
      Simulation(
        graph: "a", scripts: ["@run.on_success.1": "hang"], run: settings, timeout: 3 * second
      ).timeline()
        == "0:+a 1:-a=0 1:a=succeeded 1:+@run.on_success.1 3:stopping(timeout) "
        + "3:stop(@run.on_success.1) 3:-@run.on_success.1=sig15~ 3:+@run.on_complete.1 "
        + "4:-@run.on_complete.1=0 4:end=124")
  }

  /// It may put right what another step has done.
  @Test func `a failure elsewhere stops no hook`() {
    #expect(
      Simulation(
        graph: "a; b; c",
        scripts: ["a": "1@1", "a.on_failure.1": "ok@60", "b": "1@2", "c": "hang"],
        settings: [
          "a": StepSettings(hooks: hooks(failure: 1)),
          "c": StepSettings(hooks: hooks(cancel: 1)),
        ], failurePolicy: .cancel
      ).timeline()
        == "0:+a 0:+b 0:+c 1:-a=1 1:+a.on_failure.1 2:-b=1 2:b=failed 2:stopping(b) 2:stop(c) "
        + "2:-c=sig15 2:+c.on_cancel.1 3:-c.on_cancel.1=0 3:c=cancelled<b "
        + "61:-a.on_failure.1=0 61:a=failed 61:end=1")
  }

  @Test func `a cancel hook has thirty seconds, or less if it says so`() {
    #expect(
      Simulation(
        graph: "a; b", scripts: ["a": "hang", "b": "1@1", "a.on_cancel.1": "hang"],
        settings: ["a": StepSettings(hooks: hooks(cancel: 1))], failurePolicy: .cancel
      ).timeline()
        == "0:+a 0:+b 1:-b=1 1:b=failed 1:stopping(b) 1:stop(a) 1:-a=sig15 1:+a.on_cancel.1 "
        + "31:kill(a.on_cancel.1) 31:-a.on_cancel.1=sig9! 31:a=cancelled<b 31:end=1")
    #expect(
      Simulation(
        graph: "a", scripts: ["a": "hang", "a.on_cancel.1": "hang"],
        settings: ["a": StepSettings(hooks: hooks(cancel: 1, timeout: 3 * second))],
        signals: [(1, 2)]
      ).timeline()
        == "0:+a 1:signal2 1:stopping(signal2) 1:stop(a) 1:-a=sig15 1:+a.on_cancel.1 "
        + "4:stop(a.on_cancel.1) 4:-a.on_cancel.1=sig15! 4:a=cancelled<signal2 4:end=130")
  }
}

@Suite struct `Why a run that stands still ends` {
  /// Of the queues, only those count in which something is ready.
  @Test(
    arguments: [
      ([(0, false), (1, true)], 0, StopReason.noWidth), ([(1, true), (0, false)], 0, .suspended),
      ([(1, false), (0, true)], 1, .noWidth), ([(4, false), (1, true)], 1, .suspended),
    ] as [([(Int, Bool)], Int, StopReason)])
  func `is told`(queues: [(Int, Bool)], used: Int, reason: StopReason) {
    var graph = Graph()
    var spec = OperationSpec()
    spec.queue = QueueID(used)
    graph.append(spec)
    let step = PlannedStep(
      id: "a", span: Span(start: 0, end: 0), work: .known(.script("a")), settings: StepSettings())
    let plan = Plan(
      name: "test", sources: SourceMap(), steps: [step], graph: graph,
      queues: queues.map { QueueSpec(name: "q", width: $0.0, isSuspended: $0.1) }, pools: [],
      failurePolicy: .continue, timeout: nil, settings: StepSettings())
    var machine = RunMachine(plan: plan)
    machine.begin(at: 0)
    let told = machine.takeActions()
    #expect(told.first == .tell(.stopping(reason)))
  }
}
