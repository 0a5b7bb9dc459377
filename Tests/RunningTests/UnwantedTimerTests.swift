// Timers of what is over: they are not kept, and wake nobody.

import Diagnostics
import Plans
import Scheduling
import Testing
import TestSupport

@testable import Running

struct `The timers of what is over` {
  private let hour: Nanoseconds = 3_600_000_000_000

  private func machine(_ count: Int, width: Int) -> RunMachine {
    var graph = Graph()
    var steps: [PlannedStep] = []
    for number in 0..<count {
      graph.append(OperationSpec())
      steps.append(
        PlannedStep(
          id: "s\(number)", span: Span(start: 0, end: 0), work: .known(.script("true")),
          settings: StepSettings(timeout: hour)))
    }
    return RunMachine(
      plan: Plan(
        name: "p", sources: SourceMap(), steps: steps, graph: graph,
        queues: [QueueSpec(name: "default", width: width)], pools: [], failurePolicy: .continue,
        timeout: nil, settings: StepSettings()), seed: 1)
  }

  /// Ends what was started, one after the other; returns how many timers there were at most, and the
  /// times at which the machine wanted to be woken.
  private func play(_ machine: inout RunMachine) -> (most: Int, deadlines: Set<Nanoseconds?>) {
    var running: [CommandKey] = []
    var now: Nanoseconds = 0
    var most = 0
    var deadlines: Set<Nanoseconds?> = []
    machine.begin(at: 0)
    while machine.end == nil {
      machine.holdStarts()
      for action in machine.takeActions() {
        if case .start(let key) = action, machine.mayStart(key, at: now) { running.append(key) }
      }
      machine.startHeld(at: now)
      if running.isEmpty { continue }
      deadlines.insert(machine.deadline)
      most = max(most, machine.timers.count)
      now += 1
      machine.ended(running.removeFirst(), CommandEnd(.exited(0), duration: 1), at: now)
    }
    return (most, deadlines)
  }

  @Test func `are removed when there are many`() {
    var machine = machine(2000, width: 2)
    #expect(play(&machine).most < 100)
  }

  @Test func `do not wake anybody`() {
    var machine = machine(3, width: 3)
    #expect(play(&machine).deadlines == [hour])
    #expect(machine.deadline == nil)
  }
}
