// What is recorded of a step that would run again, if a selection did not leave it out.

import Diagnostics
import Plans
import RunFiles
import Scheduling
import Testing

@testable import State

@Suite struct `A step outside of a selection` {
  private let plan = Plan(
    name: "test", sources: SourceMap(),
    steps: ["a", "b", "c"].map {
      PlannedStep(
        id: $0, span: Span(start: 0, end: 0), work: .known(.script("true")),
        settings: StepSettings())
    },
    graph: {
      var graph = Graph()
      for _ in 1...3 { graph.append(OperationSpec()) }
      return graph
    }(), queues: [QueueSpec(name: "default", width: 1)], pools: [], failurePolicy: .continue,
    timeout: nil, settings: StepSettings())
  private let place = StatePlace()
  private let ids = (0..<3).map { OperationID($0) }

  /// Tells the recorder of a run, and returns what is recorded of it.
  private func record(
    _ recorder: RunRecorder, _ kinds: [RunEvent.Kind]
  ) throws -> EarlierRun {
    for kind in kinds + [.finished(RunEnd(exitStatus: 0))] {
      recorder.observe(RunEvent(at: 1_000_000, kind))
    }
    try recorder.endTurn(at: 1_000_000)
    let store = try #require(try StateStore.find(in: place.folder))
    return try #require(try store.earlierRun(named: recorder.run.directory.name))
  }

  @Test func `is marked as left out if it was found to have changed when its turn came`() throws {
    let (first, beginning) = try place.recorder(of: plan, named: "20260402-101502-k3")
    var earlier = try record(
      first,
      [beginning]
        + ids.flatMap { step -> [RunEvent.Kind] in
          [
            .started(step, .attempt(1)), .ended(step, .attempt(1), CommandEnd(.exited(0))),
            .settled(step, Ending(.succeeded), .itself),
          ]
        })
    var selection = ResumeSelection()
    selection.only = ["a"]
    let (second, next) = try place.recorder(
      of: plan, named: "20260402-101502-k4", resuming: Resumption(earlier, plan, selection))
    let resumption = try #require(second.run.resumption)
    second.observe(RunEvent(at: 0, next))
    let now = RememberedStep(
      id: "c", written: try #require(earlier.steps["c"]).written, resolved: 0, allowance: .always)
    let held = second.held(ids[1], .always)
    let kept = resumption.kept(ids[2], of: ids[2], as: now)
    #expect(held?.ending == Ending(.cached) && kept?.ending == Ending(.cached))
    earlier = try record(
      second, [1, 2].map { .settled(ids[$0], Ending(.cached), .itself) })
    let marks = ["b", "c"].map { earlier.steps[$0]?.outcome.isLeftOut }
    #expect(marks == [true, false])
    #expect(
      Resumption(earlier, plan, ResumeSelection()).foreseen.step(ids[1]) == .runs("was left out"))
  }
}
