// What a recorded run made while it went on, as its replay tells it.

import Diagnostics
import Plans
import RunFiles
import Scheduling
import Testing

@testable import State

@Suite struct `A replayed run` {
  private let place = StatePlace()
  private let ids = (0..<6).map { OperationID($0) }
  /// A matrix that becomes known while running, of two steps: one with a matrix of its own.
  private var plan: Plan {
    var graph = Graph()
    for _ in 0..<3 { graph.append(OperationSpec()) }
    let nested = GroupPlan(kind: .nested(path: nil), members: [ids[0], ids[1]])
    return Plan(
      name: "test", sources: SourceMap(),
      steps: ["g/a", "g/m", "g"].map {
        PlannedStep(
          id: $0, span: Span(start: 0, end: 0), work: .known(.script("true")),
          settings: StepSettings())
      }, graph: graph, queues: [QueueSpec(name: "default", width: 1)], pools: [],
      failurePolicy: .continue, timeout: nil, settings: StepSettings(),
      groups: [
        ids[1]: GroupPlan(kind: .expanding("m"), members: []),
        ids[2]: GroupPlan(
          kind: .expanding("g"), members: [ids[0], ids[1]],
          pattern: GroupPattern(operations: [ids[0], ids[1]], pools: [], group: nested)),
      ])
  }

  @Test func `tells steps from groups among what was made in it`() throws {
    let (recorder, beginning) = try place.recorder(of: plan, named: "20260402-101502-k3")
    let made: [RunEvent.Kind] = [
      .appended(ids[3], id: "g[n=1]/a", group: ids[0]),
      .appended(ids[4], id: "g[n=1]/m", group: ids[1], isGroup: true),
      .appended(ids[5], id: "g[n=1]", group: ids[2], isGroup: true),
      .appended(OperationID(6), id: "g[n=1]/m[k=1]", group: ids[4]),
    ]
    let ends = (0...6).map { RunEvent.Kind.settled(OperationID($0), Ending(.succeeded), .itself) }
    for kind in [beginning] + made + ends + [.finished(RunEnd(exitStatus: 0))] {
      recorder.observe(RunEvent(at: 1_000_000, kind))
    }
    try recorder.endTurn(at: 1_000_000)
    let store = try #require(try StateStore.find(in: place.folder))
    let run = try #require(try store.run(named: "20260402-101502-k3"))
    let trace = TraceContext(continuing: nil, newTrace: { (1, 2) }, runID: run.name)
    var told: [String: Bool] = [:]
    try store.replay(run, plan, trace).forEachEvent { event in
      if case .appended(_, let id, _, _, let isGroup) = event.kind { told[id] = isGroup }
    }
    #expect(told == ["g[n=1]/a": false, "g[n=1]/m": true, "g[n=1]": true, "g[n=1]/m[k=1]": false])
  }
}
