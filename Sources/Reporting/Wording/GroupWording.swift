// Describes groups and steps that are decided late.

import Plans
import Scheduling

extension Plan {
  /// The priority that a step was given; a group has none.
  func ownPriority(of operation: OperationID) -> Int16 {
    standsForOthers(operation) ? 0 : graph.priority(of: operation)
  }

  /// The members of a group, in words; nil if the operation is not a group.
  func membersInWords(of operation: OperationID) -> String? {
    guard !groups.isEmpty, let group = groups[operation] else { return nil }
    let count = group.members.count
    switch group.kind {
    case .matrix where count == 0: return GroupPlan.emptyMatrix
    case .matrix: return "\(count) instance\(count == 1 ? "" : "s")"
    case .expanding(let axes): return "matrix of \(oneLine(axes)), known during the run"
    case .nested(let path):
      let steps = stepCount(in: group)
      let count = "\(steps) step\(steps == 1 ? "" : "s")"
      return path.map { "\(oneLine($0)), \(count)" } ?? count
    }
  }

  /// The number of steps in a group, including those of groups inside it, which come before it.
  private func stepCount(in group: GroupPlan) -> Int {
    var seen: Set<OperationID> = []
    var rest = group.members
    while let member = rest.popLast() {
      guard seen.insert(member).inserted, standsForOthers(member) else { continue }
      seen.remove(member)
      rest += groups[member]?.members ?? []
    }
    return seen.count
  }
}

extension LateStep {
  /// The condition, `if: params.deploy`, or why the step will not run; nil if nothing is left to be decided.
  var conditionInWords: String? {
    (skipReason ?? condition.map { "if: \($0)" }).map(joinedLines)
  }
}

extension Groups {
  /// True if the edge makes a group wait for one of its members, which is not written in the file.
  func holds(_ edge: Graph.Edge) -> Bool { group(of: edge.from) == edge.to }

  /// True if the edge makes a group wait for a member of a group inside it, which waits for that member anyway.
  func repeats(_ edge: Graph.Edge) -> Bool {
    var group = group(of: edge.from)
    if group == nil || group == edge.to { return false }
    while let next = group, next != edge.to { group = self.group(of: next) }
    return group == edge.to
  }
}

extension Plan {
  /// `service`, `service, ready: tcp localhost:5432`, `background` for several steps; nil for any other
  /// step.
  func serviceInWords(_ operation: OperationID) -> String? {
    guard !graph.takesSlot(operation) else { return nil }
    if isInBackground(operation) { return "background" }
    let conditions = steps[operation.index].late?.readiness ?? []
    return conditions.isEmpty
      ? "service" : "service, ready: " + conditions.map { oneLine($0) }.joined(separator: ", ")
  }

  /// True if the operation takes no slot because it is a group of several steps that go on, or of
  /// instances of a step.
  func isInBackground(_ operation: OperationID) -> Bool {
    guard let group = groups[operation], let member = group.members.first else { return false }
    return !group.isOfInstances || group.pattern != nil || groups[member] != nil
  }
}
