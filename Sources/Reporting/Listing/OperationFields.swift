// Fields that operations have in every JSON listing. They are documented in docs/command-line.md,
// "Graph as JSON".

import Plans
import Scheduling

struct OperationFields {
  let groups: Groups
  private let plan: Plan
  private let name: (OperationID) -> String

  /// `name` gives operations the names that they have in the rest of the format: ids that are equal
  /// without their secrets differ.
  init(_ plan: Plan, name: @escaping (OperationID) -> String) {
    self.plan = plan
    self.name = name
    groups = Groups(plan)
  }

  /// Writes the first fields: the name and kind of an operation, what it belongs to, and what is decided late.
  func writeStep(_ operation: OperationID, isFirst: Bool = true, to sink: ByteSink) {
    let step = plan.steps[operation.index]
    sink.write(field: "id", isFirst: isFirst)
    sink.write(json: name(operation))
    sink.write(field: "name")
    sink.write(json: step.settings.name ?? name(operation))
    let group = plan.groups.isEmpty ? nil : plan.groups[operation]
    sink.write(field: "kind")
    sink.write(group == nil ? "\"step\"" : "\"group\"")
    if let group { write(group, of: operation, to: sink) }
    if let outer = groups.group(of: operation) {
      sink.write(field: "group")
      sink.write(json: name(outer))
    }
    if let remark = plan.remarks[operation] { write(remark, to: sink) }
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
    case .nested(let path?):
      sink.write(field: "pipeline")
      sink.write(json: path)
    case .nested(nil): break
    }
    sink.write(field: "members")
    let members = group.members.lazy.filter { groups.group(of: $0) == operation }
    sink.write(jsonList: members) { sink.write(json: name($0)) }
  }

  private func write(_ remark: StepRemark, to sink: ByteSink) {
    if let description = remark.description {
      sink.write(field: "description")
      sink.write(json: description)
    }
    if remark.isManual {
      sink.write(field: "manual")
      sink.write("true")
    }
    if remark.isDefault {
      sink.write(field: "default")
      sink.write("true")
    }
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

  /// Writes the command; nothing for a group whose members run in its place, because it runs
  /// nothing.
  func writeCommand(of operation: OperationID, to sink: ByteSink) {
    guard let command = plan.steps[operation.index].work.shown else { return }
    sink.write(field: "command")
    sink.write(json: command.text)
  }
}
