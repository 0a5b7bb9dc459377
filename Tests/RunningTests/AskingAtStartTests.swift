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

  /// What the machine wants since it was asked last, in words.
  private mutating func wants() -> [String] {
    machine.takeActions().compactMap { action in
      switch action {
      case .start(let key): "start \(machine.steps[key.operation].id)"
      case .decide(let operation, .start): "ask \(machine.steps[operation].id)"
      case .tell(.settled(let operation, let ending, _)):
        "\(machine.steps[operation].id) \(ending.outcome.word)"
      case .tell, .stop, .kill, .decide, .publish: nil
      }
    }
  }

  private mutating func answer(_ decision: Decision) {
    machine.decided(a, decision, at: 1)
  }

  @Test mutating func `has its slot meanwhile, and starts if it must run`() {
    #expect(wants() == ["ask a"])
    answer(.run(machine.steps.ready(a)))
    #expect(wants() == ["start a"])
  }

  @Test mutating func `ends without running if another run has made its result`() {
    _ = wants()
    answer(.keep(Ending(.cached)))
    #expect(wants() == ["a cached", "start b"])
  }

  @Test mutating func `leaves its slot to others while another run has it`() {
    _ = wants()
    answer(.later)
    #expect(wants() == ["start b"])
    machine.startDeferred([a], at: 2)
    #expect(wants() == [])
    machine.ended(
      CommandKey(operation: OperationID(1), role: .attempt(1)), CommandEnd(.exited(0)), at: 3)
    #expect(wants() == ["b succeeded", "ask a"])
  }

  @Test(arguments: [false, true])
  mutating func `is cancelled with the run`(isDeferred: Bool) {
    _ = wants()
    if isDeferred { answer(.later) }
    let others = wants()
    machine.signalled(15, at: 2)
    #expect(
      others + wants()
        == (isDeferred
          ? ["start b", "c cancelled", "a cancelled"]
          : ["b cancelled", "c cancelled", "a cancelled"]))
    answer(.run(machine.steps.ready(a)))
    #expect(wants() == [])
  }

  @Test(arguments: [false, true])
  mutating func `can be cancelled by itself`(isDeferred: Bool) {
    _ = wants()
    if isDeferred { answer(.later) }
    _ = wants()
    _ = machine.control(ControlNote(.cancel(a), by: "ann"), at: 2)
    #expect(wants().prefix(1) == ["a cancelled"])
  }
}
