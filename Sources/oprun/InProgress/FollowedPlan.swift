// The plan of a run that is followed, made from the lines of the run: as much of it as a display
// shows.

import Diagnostics
import Plans
import Scheduling

/// Collects the lines of all steps.
struct FollowedPlan {
  private let head: ControlLine
  private(set) var rows: [ControlLine] = []

  init(_ head: ControlLine) { self.head = head }

  mutating func add(_ row: ControlLine) { rows.append(row) }

  var plan: Plan {
    let queues = head.lines("queues").map { queue in
      QueueSpec(name: queue.text("name") ?? "", width: queue.number("max_parallel") ?? .max)
    }
    var graph = Graph()
    var settings: [String: StepSettings] = [:]
    var steps: [PlannedStep] = []
    for row in rows {
      var spec = OperationSpec()
      let queue = queues.firstIndex { $0.name == row.text("queue") } ?? 0
      spec.queue = QueueID(queue)
      spec.expected = row.milliseconds("expected_ms")
      spec.takesSlot = !row.isTrue("service")
      graph.append(spec)
      let name = row.text("name") ?? ""
      let shared = settings[name] ?? StepSettings(name: name.isEmpty ? nil : name)
      settings[name] = shared
      steps.append(
        PlannedStep(
          id: row.text("step") ?? "", span: Span(start: 0, end: 0), work: .none, settings: shared))
    }
    for (index, row) in rows.enumerated() {
      for before in row.numbers("after") where rows.indices.contains(before) {
        graph.addEdge(from: OperationID(before), to: OperationID(index), when: .done)
      }
    }
    return Plan(
      name: head.text("pipeline") ?? "", sources: SourceMap(), steps: steps, graph: graph,
      queues: queues, pools: [], failurePolicy: .continue, timeout: nil, settings: StepSettings(),
      groups: groups)
  }

  private var groups: [OperationID: GroupPlan] {
    var members: [Int: [OperationID]] = [:]
    for (index, row) in rows.enumerated() {
      // A step of a group stands for the copies of it in the group's instances.
      for group in Set(["in", "of"].compactMap(row.number)) {
        members[group, default: []].append(OperationID(index))
      }
    }
    var groups: [OperationID: GroupPlan] = [:]
    for (group, members) in members where rows.indices.contains(group) {
      let isMatrix = rows[group].text("group") == "matrix"
      groups[OperationID(group)] = GroupPlan(
        kind: isMatrix ? .matrix : .nested(path: nil), members: members)
    }
    return groups
  }
}
