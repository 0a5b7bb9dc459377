// What cannot happen: the machine traps with a sentence, instead of going on as if it had not been told.

import Plans
import Scheduling
import Testing

@testable import Running

private func started(
  _ graph: String, decisions: [String: String] = [:], groups: [String: [String]] = [:]
) -> RunMachine {
  let plan = Simulation(graph: graph, decisions: decisions, groups: groups).plan()
  var machine = RunMachine(plan: plan)
  machine.begin(at: 0)
  return machine
}

private func attempt(_ number: Int, of index: Int = 0) -> CommandKey {
  CommandKey(operation: OperationID(index), role: .attempt(number))
}

private let succeeded = CommandEnd(.exited(0), duration: 1)

@Suite struct `An impossible input traps` {
  private func expect(_ sentence: String, _ result: ExitTest.Result?) {
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains(sentence), "\(said)")
  }

  @Test func `the end of a command that was not started`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var machine = started("a; b: a")
      machine.ended(attempt(1, of: 1), succeeded, at: 1)
    }
    expect("the command is not what runs for its operation", result)
  }

  @Test func `a second end of a command`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var machine = started("a; b")
      machine.ended(attempt(1), succeeded, at: 1)
      machine.ended(attempt(1), succeeded, at: 2)
    }
    expect("the command is not what runs for its operation", result)
  }

  @Test func `the end of another attempt than the one that runs`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var machine = started("a")
      machine.ended(attempt(2), succeeded, at: 1)
    }
    expect("the command is not what runs for its operation", result)
  }

  @Test func `the end of a hook before there is one`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var machine = started("a")
      machine.ended(
        CommandKey(operation: OperationID(0), role: .hook(.onSuccess, index: 1)), succeeded, at: 1)
    }
    expect("the command is not what runs for its operation", result)
  }

  @Test func `the end of a probe where nothing waits`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var machine = started("a")
      machine.ended(
        CommandKey(operation: OperationID(0), role: .probe(1), repetition: 1), succeeded, at: 1)
    }
    expect("a probe ended that was not running", result)
  }

  @Test func `an answer that was not asked for`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var machine = started("a; b: a", decisions: ["b": "run"])
      machine.decided(OperationID(1), .skip("no"), at: 1)
    }
    expect("an answer that was not asked for", result)
  }

  @Test func `a step that publishes and is no service`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var machine = started("a; b: a")
      machine.published(attempt(1), at: 1)
    }
    expect("only a service publishes", result)
  }

  @Test func `a service that is ready twice`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var machine = started("&a; b: a?ready")
      machine.published(attempt(1), at: 1)
      machine.published(attempt(1), at: 2)
    }
    expect("a service is ready once", result)
  }

  @Test func `a service that cannot become ready before it was started`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var machine = started("x; &a: x; b: a?ready")
      machine.fail(OperationID(1), because: "no", at: 1)
    }
    expect("only a service that runs can fail to become ready", result)
  }

  @Test func `conditions that hold of a service that has ended`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var machine = started("&a; b: a?ready")
      machine.ended(attempt(1), succeeded, at: 1)
      machine.conditionsOfServiceHold(OperationID(0))
    }
    expect("only a service that runs is asked whether it is ready", result)
  }

  /// The probe that the others can see: the same calls, in a possible order, trap nowhere.
  @Test func `and a possible one does not`() {
    var machine = started("a; b: a", decisions: ["b": "run"])
    machine.ended(attempt(1), succeeded, at: 1)
    _ = machine.takeActions()
    machine.holdStarts()
    machine.decided(OperationID(1), .skip("no"), at: 2)
    machine.startHeld(at: 2)
    #expect(machine.end?.exitStatus == 0)
  }
}
