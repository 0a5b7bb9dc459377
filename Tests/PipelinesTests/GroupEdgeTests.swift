// Which edges the steps of a group take over from the step that the group is.

import Pipelines
import Plans
import Scheduling
import Testing

@Suite struct `Edges of groups` {
  /// The edges from one step to what is in the group `g`.
  private func edges(from step: String, _ text: String) throws -> [String] {
    try plan(text).edges.filter { $0.hasPrefix("\(step)>g/") }
  }

  @Test func `a weaker edge within a group does not replace what the group waits for`() throws {
    let members = "[{id: x, run: x}, {id: y, run: x, depends_on: [{step: x, when: done}]}]"
    for sequence in ["", "sequence: true, "] {
      let text = """
        steps:
          - {id: f, run: x}
          - {id: g, depends_on: [f], \(sequence)steps: \(members)}
        """
      #expect(try edges(from: "f", text) == ["f>g/x", "f>g/y"])
    }
  }

  @Test func `an edge of a member does not replace that of the group from the same step`() throws {
    let text = """
      steps:
        - {id: f, run: x}
        - id: g
          depends_on: [f]
          steps:
            - {id: a, run: x, depends_on: [{step: f, when: done}]}
            - {id: b, run: x, depends_on: [{step: f, when: failed}]}
            - {id: c, run: x, depends_on: [f], if: always()}
            - {id: d, run: x, depends_on: [f]}
      """
    #expect(
      try edges(from: "f", text) == [
        "f>g/a:done", "f>g/a", "f>g/b:failed", "f>g/b", "f>g/c:done", "f>g/c", "f>g/d",
      ])
  }

  @Test func `a stronger edge of a member is enough`() throws {
    let text = """
      steps:
        - {id: f, run: x}
        - id: g
          depends_on: [{step: f, when: done}]
          steps: [{id: a, run: x, depends_on: [f]}]
      """
    #expect(try edges(from: "f", text) == ["f>g/a"])
  }

  @Test func `what a group needs is no option for its members`() throws {
    let text = """
      steps:
        - {id: f, run: x}
        - id: g
          depends_on: [f]
          steps: [{id: a, run: x, depends_on: [{step: f, when: done, optional: true}]}]
      """
    let plan = try plan(text, PlanningOptions(selection: ["g"]))
    #expect(plan.steps.map(\.id) == ["f", "g/a", "g"])
  }

  @Test func `what a step lists itself does not come from its sequence, too`() throws {
    let text = """
      sequence: true
      steps:
        - {id: a, run: x, matrix: {k: [1, 2]}}
        - {id: b, run: x, matrix: {k: [1, 2]}, depends_on: [{step: a, match: matrix, when: done}]}
      """
    #expect(
      try plan(text).edges == [
        "a[k=1]>a:done", "a[k=2]>a:done", "a[k=1]>b[k=1]:done", "a[k=2]>b[k=2]:done",
        "b[k=1]>b:done", "b[k=2]>b:done",
      ])
  }

  @Test func `an empty matrix waits for what its step waits for`() throws {
    let text = """
      steps:
        - {id: f, run: x}
        - {id: e, run: x, depends_on: [f], matrix: {k: []}}
        - {id: g, depends_on: [f], steps: [{id: x, run: x, matrix: {k: []}}, {id: y, run: x, depends_on: [x]}]}
      """
    #expect(try plan(text).edges == ["f>e", "f>g/x", "g/x>g/y", "g/x>g:done", "g/y>g:done"])
  }
}

@Suite struct `Priorities of groups` {
  @Test func `a group has none, so its members keep theirs`() throws {
    let plan = try plan(
      """
      steps:
        - {id: m, run: x, matrix: {k: [1, 2]}, priority: very_low}
        - {id: g, steps: [{id: x, run: x, priority: -9}, {id: h, steps: [{id: y, run: x, priority: -7}]}]}
        - {id: after, run: x, depends_on: [h], priority: -8}
        - {id: h, run: x, matrix: {k: [1]}, priority: -1000}
      """)
    let scheduler = Scheduler(graph: plan.graph, queues: plan.queues)
    let priorities = plan.steps.indices.map { index in
      "\(plan.steps[index].id) \(scheduler.effectivePriority(of: OperationID(index)))"
    }
    #expect(
      priorities == [
        "m[k=1] -8", "m[k=2] -8", "m -1024", "g/x -9", "g/h/y -7", "g/h -1024", "g -1024",
        "after -8", "h[k=1] -8", "h -8",
      ])
  }
}
