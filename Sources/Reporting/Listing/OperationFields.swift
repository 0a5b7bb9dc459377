// Fields that operations have in every JSON listing. They are documented in docs/command-line.md,
// "Graph as JSON".

import Plans
import Scheduling

struct OperationFields {
  let groups: Groups
  private let plan: Plan

  init(_ plan: Plan) {
    self.plan = plan
    groups = Groups(plan)
  }

  /// What it is called and is, what it belongs to, and what is decided late: the first fields.
  func writeStep(_ operation: OperationID, to sink: ByteSink) {
    let step = plan.steps[operation.index]
    sink.write(field: "id", isFirst: true)
    sink.write(json: step.id)
    sink.write(field: "name")
    sink.write(json: step.settings.name ?? step.id)
    let group = plan.groups.isEmpty ? nil : plan.groups[operation]
    sink.write(field: "kind")
    sink.write(group == nil ? "\"step\"" : "\"group\"")
    if let group { write(group, of: operation, to: sink) }
    if let outer = groups.group(of: operation) {
      sink.write(field: "group")
      sink.write(json: plan.steps[outer.index].id)
    }
    if !plan.graph.takesSlot(operation) {
      sink.write(field: "service")
      sink.write("true")
    }
    if let late = step.late { write(late, to: sink) }
  }

  private func write(_ group: GroupPlan, of operation: OperationID, to sink: ByteSink) {
    switch group.kind {
    case .matrix: break
    case .expanding(let axes):
      sink.write(field: "matrix")
      sink.write(json: axes)
    case .nested(let path):
      sink.write(field: "pipeline")
      sink.write(json: path)
    }
    sink.write(field: "members")
    let members = group.members.lazy.filter { groups.group(of: $0) == operation }
    sink.write(jsonList: members) { sink.write(json: plan.steps[$0.index].id) }
  }

  private func write(_ late: LateStep, to sink: ByteSink) {
    if let condition = late.condition {
      sink.write(field: "if")
      sink.write(json: condition)
    }
    if let reason = late.skipReason {
      sink.write(field: "skipped")
      sink.write(json: reason)
    }
    if !late.probes.isEmpty {
      sink.write(field: "wait_for")
      sink.write(jsonList: late.probes) { sink.write(json: $0) }
    }
    if !late.readiness.isEmpty {
      sink.write(field: "ready")
      sink.write(jsonList: late.readiness) { sink.write(json: $0) }
    }
  }

  /// Nothing for a group that others stand for: it runs nothing.
  func writeCommand(of operation: OperationID, to sink: ByteSink) {
    guard let command = plan.steps[operation.index].work.shown else { return }
    sink.write(field: "command")
    sink.write(json: command.text)
  }
}
