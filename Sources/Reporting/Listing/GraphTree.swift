// A graph for the terminal: each operation once, with rails to what it needs.

import Plans
import Scheduling

struct GraphTree {
  private let plan: Plan
  private let options: DrawingOptions
  private let groups: Groups

  init(_ plan: Plan, options: DrawingOptions) {
    self.plan = plan
    self.options = options
    groups = Groups(plan)
  }

  func write(to sink: ByteSink) {
    let order = plan.graph.topologicalOrder() ?? []
    var rails = Rails(plan.graph, order: order, columns: options.columns)
    for operation in order {
      rails.advance(to: operation).write(to: sink, usesASCII: options.usesASCII)
      sink.write(" ")
      let step = plan.steps[operation.index]
      sink.write(step.id, in: .strong, isColored: options.isColored)
      if let name = step.settings.name, name != step.id {
        sink.write("  ")
        sink.write(shortName(name))
      }
      writeNotes(on: operation, to: sink)
      sink.writeNewline()
    }
  }

  /// Writes `  (4 instances, build failed, queue net, priority high, if: params.deploy)`.
  private func writeNotes(on operation: OperationID, to sink: ByteSink) {
    var opening: StaticString = "  ("
    func begin() {
      sink.write(opening)
      opening = ", "
    }
    for word in plan.remarks[operation]?.words ?? [] {
      begin()
      sink.write(word)
    }
    if let members = plan.membersInWords(of: operation) {
      begin()
      sink.write(members)
    }
    for edge in plan.graph.dependencies(of: operation) {
      guard let condition = edge.condition.words, !groups.holds(edge),
        !groups.repeats(edge)
      else { continue }
      begin()
      sink.write(plan.steps[edge.from.index].id)
      sink.write(" ")
      sink.write(condition)
    }
    if let service = plan.serviceInWords(operation) {
      begin()
      sink.write(service)
    }
    let spec = plan.graph[operation]
    if spec.queue != .default {
      begin()
      sink.write("queue ")
      sink.write(oneLine(plan.queues[spec.queue.index].name))
    }
    let priority = plan.ownPriority(of: operation)
    if priority != 0 {
      begin()
      sink.write("priority ")
      sink.write(priorityName(priority))
    }
    if let condition = plan.steps[operation.index].late?.conditionInWords {
      begin()
      sink.write(condition)
    }
    if opening.utf8CodeUnitCount == 2 { sink.write(")") }
  }
}
