// Steps with a cache, which are asked about once more when they could start.

import Plans
import Scheduling
import Testing

@testable import Running

struct `A step that is asked about when it could start` {
  private var machine: RunMachine

  init() {
    let cached = StepSettings(cache: CacheSettings())
    var rules = RunRules()
    rules.asksAtStart = true
    machine = RunMachine(
      plan: Simulation(graph: "a; b; c: a", settings: ["a": cached], width: 1).plan(),
      rules: rules)
    machine.begin(at: 0)
  }

  private let a = OperationID(0)

  private mutating func answer(_ decision: Decision) {
    machine.decided(a, decision, at: 1)
  }

  @Test mutating func `has its slot meanwhile, and starts if it must run`() {
    #expect(machine.wants() == ["ask a"])
    answer(.run(machine.steps.ready(a)))
    #expect(machine.wants() == ["start a"])
  }

  @Test mutating func `ends without running if another run has made its result`() {
    _ = machine.wants()
    answer(.keep(Ending(.cached)))
    #expect(machine.wants() == ["a cached", "start b"])
  }

  @Test mutating func `leaves its slot to others while another run has it`() {
    _ = machine.wants()
    answer(.later)
    #expect(machine.wants() == ["start b"])
    machine.startDeferred([a], at: 2)
    #expect(machine.wants() == [])
    machine.ended(
      CommandKey(operation: OperationID(1), role: .attempt(1)), CommandEnd(.exited(0)), at: 3)
    #expect(machine.wants() == ["b succeeded", "ask a"])
  }

  @Test(arguments: [false, true])
  mutating func `is cancelled with the run`(isDeferred: Bool) {
    _ = machine.wants()
    if isDeferred { answer(.later) }
    let others = machine.wants()
    machine.signalled(15, at: 2)
    #expect(
      others + machine.wants()
        == (isDeferred
          ? ["start b", "c cancelled", "a cancelled"]
          : ["b cancelled", "c cancelled", "a cancelled"]))
    answer(.run(machine.steps.ready(a)))
    #expect(machine.wants() == [])
  }

  @Test(arguments: [false, true])
  mutating func `can be cancelled by itself`(isDeferred: Bool) {
    _ = machine.wants()
    if isDeferred { answer(.later) }
    _ = machine.wants()
    _ = machine.control(ControlNote(.cancel(a), by: "ann"), at: 2)
    #expect(machine.wants().prefix(1) == ["a cancelled"])
  }
}
