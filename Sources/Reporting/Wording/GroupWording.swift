// Groups and steps that are decided late, in words.

package import Pipelines
import Scheduling

extension Plan {
  /// Steps as people count them: a group is its members, if it has any.
  package var stepCount: Int {
    groups.isEmpty ? steps.count : steps.count - groups.values.count { !$0.members.isEmpty }
  }

  /// The operation stands for others, which the plan knows.
  func standsForOthers(_ operation: OperationID) -> Bool {
    groups.isEmpty ? false : groups[operation].map { !$0.members.isEmpty } ?? false
  }

  /// What a group stands for, in words; nil if the operation is no group.
  func membersInWords(of operation: OperationID) -> String? {
    groups.isEmpty ? nil : groups[operation]?.words
  }
}

extension GroupPlan {
  static let emptyMatrix = "its matrix is empty"

  /// `4 instances`, `./other.yml, 3 steps`, `matrix of params.names, known while running`.
  var words: String {
    switch kind {
    case .matrix: members.isEmpty ? Self.emptyMatrix : counted("instance")
    case .expanding(let axes): "matrix of \(oneLine(axes)), known while running"
    case .nested(let path): "\(oneLine(path)), \(counted("step"))"
    }
  }

  private func counted(_ noun: String) -> String {
    "\(members.count) \(noun)\(members.count == 1 ? "" : "s")"
  }
}

extension LateStep {
  /// `if: params.deploy`, or why it will not run; nil if nothing is left to be decided.
  var conditionInWords: String? {
    (skipReason ?? condition.map { "if: \($0)" }).map(joinedLines)
  }
}

/// Which group each operation is in.
struct Membership {
  private var groups: [OperationID: OperationID] = [:]

  /// Linear in the members of all groups.
  init(_ plan: Plan) {
    for (group, plan) in plan.groups {
      for member in plan.members { groups[member] = group }
    }
  }

  var isEmpty: Bool { groups.isEmpty }

  subscript(member: OperationID) -> OperationID? { groups.isEmpty ? nil : groups[member] }

  /// The edge makes a group wait for one of its members: nobody wrote it.
  func holds(_ edge: Graph.Edge) -> Bool { self[edge.from] == edge.to }
}
