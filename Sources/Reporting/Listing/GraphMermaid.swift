// A graph in the language of Mermaid, as Markdown viewers draw it.

import Pipelines
import Scheduling

struct GraphMermaid {
  private let plan: Plan

  init(_ plan: Plan) { self.plan = plan }

  func write(to sink: ByteSink) {
    sink.write("flowchart LR\n")
    if plan.queues.count > 1 {
      for (queue, operations) in plan.operationsByQueue().enumerated() where !operations.isEmpty {
        writeSubgraph(queue, operations, to: sink)
      }
    } else {
      for operation in plan.operations { writeNode(operation, indent: 2, to: sink) }
    }
    for operation in plan.operations {
      for edge in plan.graph.dependencies(of: operation) { write(edge, to: sink) }
    }
  }

  private func writeSubgraph(_ queue: Int, _ operations: [OperationID], to sink: ByteSink) {
    let spec = plan.queues[queue]
    sink.write("  subgraph q")
    sink.write(decimal: queue)
    sink.write(mermaidLabel("\(spec.name), \(spec.width) at once"))
    sink.writeNewline()
    for operation in operations { writeNode(operation, indent: 4, to: sink) }
    sink.write("  end\n")
  }

  /// Ids of steps may be words of the language (`end`), so nodes are numbered.
  private func writeNode(_ operation: OperationID, indent: Int, to sink: ByteSink) {
    sink.write(spaces: indent)
    writeID(operation, to: sink)
    sink.write(mermaidLabel(plan.label(of: operation)))
    sink.writeNewline()
  }

  private func writeID(_ operation: OperationID, to sink: ByteSink) {
    sink.write("n")
    sink.write(decimal: operation.index)
  }

  private func write(_ edge: Graph.Edge, to sink: ByteSink) {
    sink.write("  ")
    writeID(edge.from, to: sink)
    if let condition = edge.condition.words {
      sink.write(" -. ")
      sink.write(condition)
      sink.write(" .-> ")
    } else {
      sink.write(" --> ")
    }
    writeID(edge.to, to: sink)
    sink.writeNewline()
  }
}

/// `["text"]`, with what Mermaid or the HTML that it makes would act on as entities.
private func mermaidLabel(_ text: String) -> String {
  var result = "[\""
  for scalar in oneLine(text).unicodeScalars {
    switch scalar {
    case "\"": result += "#quot;"
    case "#": result += "#35;"
    case "&": result += "#amp;"
    case "<": result += "#lt;"
    case ">": result += "#gt;"
    case "`": result += "#96;"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\"]"
}
