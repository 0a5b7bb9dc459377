// A graph in the language of Mermaid, as Markdown viewers draw it.

import Plans
import Scheduling

struct GraphMermaid {
  private let plan: Plan
  private let groups: Groups
  /// The node of each operation: itself, or the group whose instances are not drawn. Empty if all are drawn.
  private let nodes: [OperationID]

  /// The maximum number of edges that Mermaid draws.
  private static let mostEdges = 500

  init(_ plan: Plan) {
    self.plan = plan
    groups = Groups(plan)
    let isCollapsed = plan.graph.edgeCount > Self.mostEdges && !groups.isEmpty
    nodes = isCollapsed ? Self.collapsed(plan, groups) : []
  }

  /// Replaces each operation in a matrix by the outermost group that it is in.
  private static func collapsed(_ plan: Plan, _ groups: Groups) -> [OperationID] {
    plan.operations.map { operation in
      var node = operation
      var next = groups.group(of: operation)
      while let group = next {
        if plan.groups[group]?.kind == .matrix { node = group }
        next = groups.group(of: group)
      }
      return node
    }
  }

  private func node(of operation: OperationID) -> OperationID {
    nodes.isEmpty ? operation : nodes[operation.index]
  }

  func write(to sink: ByteSink) {
    sink.write("flowchart LR\n")
    if plan.queues.count > 1 {
      for (queue, operations) in plan.operationsByQueue().enumerated() where !operations.isEmpty {
        writeSubgraph(queue, operations, to: sink)
      }
    } else {
      for operation in plan.operations { writeNode(operation, indent: 2, to: sink) }
    }
    var drawn: Set<Graph.Edge> = []
    for operation in plan.operations {
      for edge in plan.graph.dependencies(of: operation) where !groups.repeats(edge) {
        if nodes.isEmpty { write(edge, to: sink) } else { writeOnce(edge, &drawn, to: sink) }
      }
    }
  }

  private func writeOnce(_ edge: Graph.Edge, _ drawn: inout Set<Graph.Edge>, to sink: ByteSink) {
    let from = node(of: edge.from)
    let to = node(of: edge.to)
    if from == to { return }
    let edge = Graph.Edge(from: from, to: to, condition: edge.condition)
    if drawn.insert(edge).inserted { write(edge, to: sink) }
  }

  private func writeSubgraph(_ queue: Int, _ operations: [OperationID], to sink: ByteSink) {
    let spec = plan.queues[queue]
    sink.write("  subgraph q")
    sink.write(decimal: queue)
    sink.write(own: mermaidLabel(sink.masked("\(spec.name), \(spec.width) at once")))
    sink.writeNewline()
    for operation in operations { writeNode(operation, indent: 4, to: sink) }
    sink.write("  end\n")
  }

  /// Writes a node. Ids of steps may be keywords of the language (`end`), so nodes are numbered.
  private func writeNode(_ operation: OperationID, indent: Int, to sink: ByteSink) {
    if node(of: operation) != operation { return }
    sink.write(spaces: indent)
    writeID(operation, to: sink)
    let label = mermaidLabel(sink.masked(plan.label(of: operation, in: groups)))
    sink.write(own: plan.groups[operation] == nil ? label : "[\(label)]")
    sink.writeNewline()
  }

  private func writeID(_ operation: OperationID, to sink: ByteSink) {
    sink.write("n")
    sink.write(decimal: operation.index)
  }

  private func write(_ edge: Graph.Edge, to sink: ByteSink) {
    sink.write("  ")
    writeID(edge.from, to: sink)
    if groups.holds(edge) {
      sink.write(" -.- ")
    } else if let condition = edge.condition.words {
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

/// A label `["text"]`, with entities for characters that are special to Mermaid or to the HTML that
/// it makes.
private func mermaidLabel(_ text: String) -> String {
  let label = escaped(oneLine(text)) { scalar in
    switch scalar {
    case "\"": "#quot;"
    case "#": "#35;"
    case "&": "#amp;"
    case "<": "#lt;"
    case ">": "#gt;"
    case "`": "#96;"
    default: nil
    }
  }
  return "[\"" + label + "\"]"
}
