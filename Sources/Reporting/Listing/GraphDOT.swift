// A graph in the language of Graphviz.

import Masking
import Plans
import Scheduling

struct GraphDOT {
  private let plan: Plan
  private let groups: Groups
  private let names: OperationNames

  init(_ plan: Plan, _ masker: Masker?) {
    self.plan = plan
    names = OperationNames(plan, masker)
    groups = Groups(plan)
  }

  func write(to sink: ByteSink) {
    sink.write("digraph ")
    sink.write(dot: shortName(plan.name))
    sink.write(" {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n")
    if plan.queues.count > 1 {
      for (queue, operations) in plan.operationsByQueue().enumerated() where !operations.isEmpty {
        writeCluster(queue, operations, to: sink)
      }
    } else {
      for operation in plan.operations { writeNode(operation, indent: 2, to: sink) }
    }
    for operation in plan.operations {
      for edge in plan.graph.dependencies(of: operation) where !groups.repeats(edge) {
        write(edge, to: sink)
      }
    }
    sink.write("}\n")
  }

  private func writeCluster(_ queue: Int, _ operations: [OperationID], to sink: ByteSink) {
    let spec = plan.queues[queue]
    sink.write("  subgraph ")
    sink.write(own: "\"cluster_\(queue)\"")
    sink.write(" {\n    label=")
    sink.write(dot: "\(spec.name), \(spec.width) at once")
    sink.write(";\n")
    for operation in operations { writeNode(operation, indent: 4, to: sink) }
    sink.write("  }\n")
  }

  private func writeNode(_ operation: OperationID, indent: Int, to sink: ByteSink) {
    sink.write(spaces: indent)
    let id = plan.steps[operation.index].id
    sink.write(dot: names(operation))
    let label = plan.label(of: operation, in: groups)
    if label != id {
      sink.write(" [label=")
      sink.write(dot: label)
      if let group = plan.groups[operation] {
        sink.write(", shape=")
        sink.write(group.shape)
      }
      sink.write("]")
    }
    sink.write(";\n")
  }

  private func write(_ edge: Graph.Edge, to sink: ByteSink) {
    sink.write("  ")
    sink.write(dot: names(edge.from))
    sink.write(" -> ")
    sink.write(dot: names(edge.to))
    if groups.holds(edge) {
      sink.write(" [style=dotted, arrowhead=none]")
    } else if let condition = edge.condition.words {
      sink.write(" [label=")
      sink.write(own: dotQuoted("\(condition)"))
      sink.write(", style=dashed]")
    }
    sink.write(";\n")
  }
}

extension GroupPlan {
  /// The shape of a group, whose label always differs from its id.
  fileprivate var shape: StaticString {
    switch kind {
    case .matrix, .expanding: "box3d"
    case .nested: "folder"
    }
  }
}

extension ByteSink {
  fileprivate func write(dot text: String) { write(own: dotQuoted(masked(text))) }
}

/// In a quoted string DOT gives a meaning to `"`, and in labels to `\`.
private func dotQuoted(_ text: String) -> String {
  if text.utf8.allSatisfy(isPlainInQuotes) { return "\"" + text + "\"" }
  let label = escaped(oneLine(text)) { $0 == "\"" || $0 == "\\" ? "\\\($0)" : nil }
  return "\"" + label + "\""
}
