// Where commands were that did not run on the machine of oprun: recorded, listed, replayed.

import Diagnostics
import Foundation
import Plans
import RunFiles
import Scheduling
import Testing

@testable import State

struct PlacementTests {
  private let place = StatePlace()
  private let plan = Plan(
    name: "test", sources: SourceMap(),
    steps: ["a", "b"].map {
      PlannedStep(
        id: $0, span: Span(start: 0, end: 0), work: .known(.script("true")),
        settings: StepSettings())
    },
    graph: {
      var graph = Graph()
      graph.append(OperationSpec())
      graph.append(OperationSpec())
      return graph
    }(), queues: [QueueSpec(name: "default", width: 2)], pools: [], failurePolicy: .continue,
    timeout: nil, settings: StepSettings())

  /// Records a run with these events.
  private func record(_ kinds: [RunEvent.Kind]) throws -> (StateStore, RecordedRunSummary) {
    let name = "20260402-101502-k3"
    let (recorder, beginning) = try place.recorder(of: plan, named: name)
    for kind in [beginning] + kinds + [.finished(RunEnd(exitStatus: 1))] {
      recorder.observe(RunEvent(at: 1_000_000, kind))
    }
    try recorder.endTurn(at: 1_000_000)
    let store = try #require(try StateStore.find(in: place.folder))
    return (store, try #require(try store.run(named: name)))
  }

  private let a = OperationID(0)
  private let b = OperationID(1)

  @Test func `a job has its node, and why it waited`() throws {
    let (store, run) = try record([
      .started(a, .attempt(1)), .placed(a, .attempt(1), CommandPlacement(job: "7")),
      .placed(a, .attempt(1), CommandPlacement(job: "7", reason: "Priority")),
      .placed(a, .attempt(1), CommandPlacement(job: "7", reason: "Resources")),
      .placed(a, .attempt(1), CommandPlacement(job: "7", node: "n3")),
      .ended(a, .attempt(1), CommandEnd(.exited(1), duration: 5_000_000)),
      .settled(a, Ending(.failed), .itself), .started(b, .attempt(1)),
      .placed(b, .attempt(1), CommandPlacement(job: "8", reason: "Priority")),
      .ended(b, .attempt(1), CommandEnd(.lost("cancelled in Slurm"))),
      .settled(b, Ending(.failed), .itself),
    ])
    let found = try store.placements(of: run).map { "\($0.step) \($0.role) \($0.place.words)" }
    #expect(found == ["a 1 job 7 on n3 (waited: Resources)", "b 1 job 8 waits: Priority"])
    let ended = try store.placements(of: run).map(\.place.wordsAfterEnd)
    #expect(ended == ["job 7 on n3 (waited: Resources)", "job 8 (waited: Priority)"])
    let trace = TraceContext(continuing: nil, newTrace: { (1, 2) }, runID: run.name)
    var replayed: [String] = []
    try store.replay(run, plan, trace).forEachEvent { event in
      if case .placed(let operation, .attempt(1), let place) = event.kind {
        replayed.append("\(operation.index) \(place.words)")
      }
    }
    #expect(replayed == ["0 job 7 on n3 (waited: Resources)", "1 job 8 waits: Priority"])
    #expect(try store.prune(PruneLimits(count: 0), now: 0).runs == [run.name])
    #expect(try store.database.number("SELECT count(*) FROM placement") == 0)
  }

  @Test func `a run that died had jobs if a step that had one did not end`() throws {
    let name = "20260402-101502-k4"
    let (recorder, beginning) = try place.recorder(of: plan, named: name)
    func record(_ kinds: RunEvent.Kind...) throws -> JobsAtEnd {
      for kind in kinds { recorder.observe(RunEvent(at: 1_000_000, kind)) }
      try recorder.endTurns(at: 1_000_000)
      return try #require(try StateStore.find(in: place.folder)).jobsAtEnd(of: name)
    }
    let placed = RunEvent.Kind.placed(a, .attempt(1), CommandPlacement(job: "7", node: "n3"))
    #expect(try record(beginning, .started(b, .attempt(1))) == .none)
    #expect(try record(.started(a, .attempt(1)), placed) == .possible)
    let end = RunEvent.Kind.ended(a, .attempt(1), CommandEnd(.exited(1)))
    #expect(try record(end, .settled(a, Ending(.failed), .itself)) == .none)
    #expect(try record(.finished(RunEnd(exitStatus: 1))) == .none)
  }

  @Test func `a run without jobs makes no table`() throws {
    let (store, run) = try record([
      .started(a, .attempt(1)), .ended(a, .attempt(1), CommandEnd(.exited(0))),
      .settled(a, Ending(.succeeded), .itself),
    ])
    #expect(try store.placements(of: run) == [])
    #expect(try !Schema.has("placement", in: store.database))
  }
}
