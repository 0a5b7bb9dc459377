// The ways a graph can be written, and what they have in common.

import Masking
import Plans
import Scheduling

/// The values of `--format` of `oprun graph`.
package enum GraphFormat: String, CaseIterable, Sendable {
  case tree, dot, mermaid, json
}

/// The ids of operations for programs: ids that are equal without their secrets are told apart by numbers.
struct OperationNames {
  private let plan: Plan
  private let masker: Masker?

  init(_ plan: Plan, _ masker: Masker?) {
    self.plan = plan
    self.masker = masker
  }

  func callAsFunction(_ operation: OperationID) -> String {
    let id = plan.steps[operation.index].id
    return masker?.name(id, number: operation.index) ?? id
  }
}

extension Plan {
  /// Writes the graph. Linear in operations and edges.
  package func writeGraph(
    _ format: GraphFormat, options: DrawingOptions, to sink: ByteSink
  ) {
    sink.isFormat = format != .tree
    switch format {
    case .tree: GraphTree(self, options: options).write(to: sink)
    case .dot: GraphDOT(self, sink.masker).write(to: sink)
    case .mermaid: GraphMermaid(self).write(to: sink)
    case .json: GraphJSON(self, sink.masker).write(to: sink)
    }
  }

  /// The ids of operations in file order.
  var operations: some Sequence<OperationID> { (0..<steps.count).lazy.map { OperationID($0) } }

  /// The text in a drawing: the name, and what is unusual about the operation.
  func label(of operation: OperationID, in groups: Groups) -> String {
    let step = steps[operation.index]
    let isStep = groups.group(of: operation) == nil
    let name = isStep ? step.settings.name.map(shortName) ?? step.id : step.id
    var notes = membersInWords(of: operation).map { [$0] } ?? []
    let priority = ownPriority(of: operation)
    if priority != 0 { notes.append("priority \(priorityName(priority))") }
    if let condition = step.late?.conditionInWords { notes.append(condition) }
    return notes.isEmpty ? name : "\(name) (\(notes.joined(separator: ", ")))"
  }

  /// The operations of each queue, in file order.
  func operationsByQueue() -> [[OperationID]] {
    var groups = [[OperationID]](repeating: [], count: queues.count)
    for operation in operations { groups[graph[operation].queue.index].append(operation) }
    return groups
  }
}
