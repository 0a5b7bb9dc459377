// What is recorded of steps does not depend on how much is written in one transaction.

import Diagnostics
import Plans
import RunFiles
import Scheduling
import Testing

@testable import State

struct RecordedTogetherTests {
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
    }(), queues: [QueueSpec(name: "default", width: 2)], pools: [], failurePolicy: .continue,
    timeout: nil, settings: StepSettings())

  /// The results of a run with these events, each a millisecond after the one before.
  private func results(of kinds: [RunEvent.Kind], together: Bool) throws -> String? {
    let place = StatePlace()
    let name = "20260402-101502-k3"
    let (recorder, beginning) = try place.recorder(of: plan, named: name)
    var time: Nanoseconds = 0
    for kind in [beginning] + kinds {
      recorder.observe(RunEvent(at: time, kind))
      if !together { try recorder.endTurns(at: time) }
      time += 1_000_000
    }
    try recorder.endTurns(at: time)
    let store = try #require(try StateStore.find(in: place.folder))
    return try store.database.text(
      """
      SELECT group_concat(name || ' ' || ifnull(outcome, '-') || ' ' || ifnull(started, '-') || ' '
        || ifnull(duration, '-') || ' ' || ifnull(status, '-'), '; ')
      FROM (SELECT * FROM result JOIN step ON step.id = step ORDER BY place)
      """)
  }

  @Test func `the row of an end has the start, too`() throws {
    let (a, b, c) = (OperationID(0), OperationID(1), OperationID(2))
    let failed = Ending(.failed)
    let kinds: [RunEvent.Kind] = [
      .started(a, .attempt(1)), .started(b, .attempt(1)),
      .ended(a, .attempt(1), CommandEnd(.exited(0))), .settled(a, Ending(.succeeded), .itself),
      .started(c, .attempt(1)), .ended(b, .attempt(1), CommandEnd(.exited(3))),
      .settled(b, failed, .itself), .reopened(b, failed), .started(b, .attempt(2)),
    ]
    let together = try results(of: kinds, together: true)
    #expect(together == "a 0 1000 3000 0; b - 9000 - -; c - 5000 - -")
    #expect(try results(of: kinds, together: false) == together)
  }

  /// What follows a success may be a hook, or processes that had to be ended: then it has taken less than the step.
  @Test(arguments: [10: 0, 11: 1])
  func `an attempt that succeeded has a row of its own if its step ended later`(
    milliseconds: Int, rows: Int
  ) throws {
    let place = StatePlace()
    let (recorder, beginning) = try place.recorder(of: plan, named: "20260402-101502-k3")
    let a = OperationID(0)
    let end = Nanoseconds(1 + milliseconds) * 1_000_000
    recorder.observe(RunEvent(at: 0, beginning))
    recorder.observe(RunEvent(at: 0, .started(a, .attempt(1))))
    recorder.observe(
      RunEvent(at: end, .ended(a, .attempt(1), CommandEnd(.exited(0), duration: 1_000_000))))
    recorder.observe(RunEvent(at: end, .settled(a, Ending(.succeeded), .itself)))
    try recorder.endTurns(at: end)
    let store = try #require(try StateStore.find(in: place.folder))
    #expect(try store.database.number("SELECT count(*) FROM command") == rows)
  }

  /// What the first commands have done by then is written with them.
  @Test func `the first records wait for the next turn, unless the run is over`() throws {
    let place = StatePlace()
    let name = "20260402-101502-k3"
    let (recorder, beginning) = try place.recorder(of: plan, named: name)
    recorder.observe(RunEvent(at: 0, beginning))
    try recorder.endTurn(at: 5)
    #expect(recorder.deadline == 6)
    let store = try #require(try StateStore.find(in: place.folder))
    #expect(try store.runNames() == [])
    #expect(!recorder.isRecorded)

    recorder.observe(RunEvent(at: 7, .finished(RunEnd(exitStatus: 0))))
    try recorder.endTurn(at: 7)
    #expect(recorder.deadline == nil)
    #expect(try store.runNames() == [name])
    #expect(recorder.isRecorded)
  }
}
