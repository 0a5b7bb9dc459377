// A graph as one JSON object. The fields are documented in docs/command-line.md, "Graph as JSON".

import Masking
import Plans
import Scheduling

struct GraphJSON {
  private let plan: Plan
  private let fields: OperationFields
  private let lines: StepLines
  private let names: OperationNames

  init(_ plan: Plan, _ masker: Masker?) {
    self.plan = plan
    names = OperationNames(plan, masker)
    fields = OperationFields(plan, name: names.callAsFunction)
    lines = StepLines(plan)
  }

  func write(to sink: ByteSink) {
    sink.write("{")
    sink.write(field: "version", isFirst: true)
    sink.write(decimal: 1)
    sink.write(field: "name")
    sink.write(json: plan.name)
    if plan.isExclusive {
      sink.write(field: "mutex")
      sink.write("\"pipeline\"")
    }
    sink.write(field: "operations")
    sink.write(jsonList: plan.operations) { write($0, to: sink) }
    sink.write(field: "edges")
    var isFirst = true
    sink.write("[")
    for operation in plan.operations {
      for edge in plan.graph.dependencies(of: operation)
      where !fields.groups.repeats(edge) {
        if !isFirst { sink.write(",") }
        isFirst = false
        write(edge, to: sink)
      }
    }
    sink.write("]")
    sink.write(field: "queues")
    sink.write(jsonList: plan.queues) { write($0, to: sink) }
    sink.write("}\n")
  }

  private func write(_ operation: OperationID, to sink: ByteSink) {
    let spec = plan.graph[operation]
    sink.write("\n{")
    fields.writeStep(operation, to: sink)
    sink.write(field: "queue")
    sink.write(json: plan.queues[spec.queue.index].name)
    sink.write(field: "priority")
    sink.write(decimal: Int(plan.ownPriority(of: operation)))
    if let expected = spec.expected {
      sink.write(field: "expected_ms")
      sink.write(decimal: Int(expected / 1_000_000))
    }
    fields.writeCommand(of: operation, to: sink)
    lines.writeFields(of: operation, to: sink)
    sink.write("}")
  }

  private func write(_ edge: Graph.Edge, to sink: ByteSink) {
    sink.write("\n{")
    sink.write(field: "from", isFirst: true)
    sink.write(json: names(edge.from))
    sink.write(field: "to")
    sink.write(json: names(edge.to))
    sink.write(field: "when")
    sink.write("\"")
    sink.write(edge.condition.words ?? "ok")
    sink.write("\"}")
  }

  private func write(_ queue: QueueSpec, to sink: ByteSink) {
    sink.write("\n{")
    sink.write(field: "name", isFirst: true)
    sink.write(json: queue.name)
    sink.write(field: "max_parallel")
    sink.write(decimal: queue.width)
    sink.write(field: "suspended")
    sink.write(queue.isSuspended ? "true" : "false")
    sink.write("}")
  }
}
