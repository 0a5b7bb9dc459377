// Steps of which something goes on that an earlier run has started: what that has is promised to them until they start, or
// until it has ended.

import Plans
import Scheduling
import Testing

@testable import Running

struct `A step of which something goes on` {
  private var machine: RunMachine
  private let a = OperationID(0)
  private let b = OperationID(1)

  init() {
    let cached = StepSettings(cache: CacheSettings())
    var rules = RunRules()
    rules.asksAtStart = true
    machine = RunMachine(
      plan: Simulation(
        graph: "a%m; b%m; c", settings: ["a": cached],
        pools: [PoolSpec(name: "m", capacity: 1_000_000)]
      ).plan(), rules: rules)
    machine.goesOn(a)
    machine.begin(at: 0)
  }

  private mutating func mustEnd() -> Bool { machine.mustEndElsewhere(a) }

  private mutating func endAttempt(of operation: OperationID) {
    machine.ended(
      CommandKey(operation: operation, role: .attempt(1)), CommandEnd(.exited(0)), at: 3)
  }

  @Test mutating func `keeps what is promised to it while it waits for another run`() {
    #expect(machine.wants() == ["ask a", "start c"])
    machine.decided(a, .later, at: 1)
    #expect(machine.wants() == [])
    machine.startDeferred([a], at: 2)
    #expect(machine.wants() == ["ask a"])
    machine.decided(a, .run(machine.steps.ready(a)), at: 2)
    #expect(machine.wants() == ["start a"])
    endAttempt(of: a)
    #expect(machine.wants() == ["a succeeded", "start b"])
    // It went on here, and has ended here.
    #expect(mustEnd() == false)
  }

  @Test(arguments: [false, true])
  mutating func `keeps it until that has ended, if it ends without a start`(isDeferred: Bool) {
    _ = machine.wants()
    if isDeferred {
      machine.decided(a, .later, at: 1)
      machine.startDeferred([a], at: 1)
      _ = machine.wants()
    }
    machine.decided(a, .keep(Ending(.cached)), at: 1)
    #expect(machine.wants() == ["a cached"])
    #expect(mustEnd() == true)
    machine.isOver(a, at: 2)
    #expect(machine.wants() == ["start b"])
    #expect(mustEnd() == false)
  }

  @Test mutating func `is waited for by a run of which nothing else is left`() {
    _ = machine.wants()
    machine.decided(a, .keep(Ending(.cached)), at: 1)
    endAttempt(of: OperationID(2))
    _ = machine.control(ControlNote(.cancel(b), by: "ann"), at: 3)
    #expect(machine.end == nil)
    machine.isOver(a, at: 4)
    #expect(machine.end != nil)
  }

  /// A hang-up and a failure of the state leave what goes on to the next run.
  @Test(arguments: [1: false, 15: true, 0: false] as [Int32: Bool])
  mutating func `ends with the run only if somebody wants that`(signal: Int32, isToEnd: Bool) {
    _ = machine.wants()
    if signal == 0 {
      machine.stateFailed("the disk is full", at: 2)
    } else {
      machine.signalled(signal, at: 2)
    }
    #expect(machine.wants().contains("a cancelled"))
    #expect(mustEnd() == isToEnd)
  }

  @Test mutating func `is left to another run that goes on with this one`() {
    _ = machine.wants()
    machine.decided(a, .keep(Ending(.cached)), at: 1)
    #expect(mustEnd() == true)
    machine.overtaken("r2 goes on", leaving: [], at: 2)
    #expect(mustEnd() == false)
  }
}
