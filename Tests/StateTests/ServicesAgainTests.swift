// Which services start again when a run is resumed, and which of them run until somebody stops them.

import Diagnostics
import Plans
import Scheduling
import Testing

@testable import State

@Suite struct `A service in a resumed run` {
  /// The service `s`; `m` waits until it is ready, and `n` waits for `m`; both are steps of `u`.
  private let plan: Plan = {
    var graph = Graph()
    var service = OperationSpec()
    service.takesSlot = false
    graph.append(service)
    for _ in 1...3 { graph.append(OperationSpec()) }
    let (s, m, n, u) = (OperationID(0), OperationID(1), OperationID(2), OperationID(3))
    graph.addEdge(from: s, to: m, when: .ready)
    graph.addEdge(from: m, to: n, when: .ok)
    graph.addEdge(from: s, to: u, when: .ready)
    for member in [m, n] { graph.addEdge(from: member, to: u, when: .done) }
    return Plan(
      name: "test", sources: SourceMap(),
      steps: ["s", "m", "n", "u"].map {
        PlannedStep(
          id: $0, span: Span(start: 0, end: 0), work: .known(.script("true")),
          settings: StepSettings(allowFailure: .always))
      },
      graph: graph, queues: [QueueSpec(name: "default", width: 1)], pools: [],
      failurePolicy: .continue, timeout: nil, settings: StepSettings(),
      groups: [u: GroupPlan(kind: .nested(path: nil), members: [m, n])])
  }()

  /// What is foreseen after a run in which everything else succeeded.
  private func foresight(
    only names: [String] = [], undecided: [String] = [], service: Ending = Ending(.succeeded)
  ) -> Foresight {
    var fingerprints = Fingerprints(nil)
    let steps = plan.steps.map { step in
      let outcome = RecordedOutcome(
        step.id == "s" ? service : Ending(.succeeded), isOfGroup: step.id == "u")
      return (
        step.id,
        EarlierStep(
          outcome: outcome, written: fingerprints.written(step), resolved: 0, origin: 7, end: nil,
          isFailedHook: false)
      )
    }
    let earlier = EarlierRun(
      name: "20260402-101502-k3", number: 7,
      request: RunRequest(file: "test.yml", parameters: [], steps: []), marks: RunMarks(),
      process: 0, exitStatus: 0, steps: Dictionary(uniqueKeysWithValues: steps))
    var selection = ResumeSelection()
    selection.only = names
    var cached = CachedSteps()
    cached.undecided = Set(plan.steps.indices.map { OperationID($0) }.filter(named(undecided)))
    return Foresight(earlier, plan, selection, nil, cached: cached)
  }

  private func named(_ names: [String]) -> (OperationID) -> Bool {
    { names.contains(plan.steps[$0.index].id) }
  }

  @Test(arguments: [
    [], ["m"], ["n"],
  ])
  func `starts again if a step of a group that needs it may run`(_ undecided: [String]) {
    let foresight = foresight(undecided: undecided)
    #expect(
      foresight.step(OperationID(0))
        == (undecided.isEmpty ? .kept(isCertain: true) : .runs("needed again")))
  }

  @Test func `has the end that it had, unless it starts again`() {
    let failed = Ending(.failed, isAllowed: true)
    #expect(foresight(service: failed).unusualEndings == [OperationID(0): failed])
    #expect(foresight(undecided: ["m"], service: failed).unusualEndings == [:])
  }

  @Test func `has no end if it was named and nothing that needs it was`() {
    #expect(foresight(only: ["s"]).endlessServices == [OperationID(0)])
    #expect(foresight(only: ["s", "m"]).endlessServices == [])
    #expect(foresight(only: ["m"]).endlessServices == [])
  }
}
