// The groups of a plan as a tree: their members, and how each group ends. The run and the dry run's
// forecast share it.

package import Scheduling

/// The groups of a plan and their members: instances of a matrix, or steps of a nested pipeline. A
/// separate operation stands for each group, runs nothing, and ends when its members have ended.
package struct Groups: Sendable {
  private var members: [OperationID: [OperationID]] = [:]
  private var groupOfMember: [OperationID: OperationID] = [:]
  /// The groups whose failures are allowed.
  private var forgiving: Set<OperationID> = []

  /// Collects the groups of a plan. Linear in the members of all groups.
  package init(_ plan: Plan) {
    for (group, plan) in plan.groups {
      set(plan.members, of: group)
      if plan.allowsFailure { forgiving.insert(group) }
    }
  }

  /// Sets the members of a group that was expanded during the run.
  package mutating func set(_ members: [OperationID], of group: OperationID) {
    self.members[group] = members
    for member in members { groupOfMember[member] = group }
  }

  /// Sets the copies of an operation of a pattern; they are members of their own groups, too.
  package mutating func set(copies: [OperationID], of original: OperationID) {
    members[original] = copies
  }

  /// Adds a group whose failure is allowed.
  package mutating func forgive(_ group: OperationID) { forgiving.insert(group) }

  /// True if no operation is a member of a group.
  package var isEmpty: Bool { groupOfMember.isEmpty }

  /// The groups with members, in file order.
  package var all: [OperationID] { members.filter { !$0.value.isEmpty }.keys.sorted() }

  /// The members in file order; empty for an operation that is not a group.
  package func members(of group: OperationID) -> [OperationID] { members[group] ?? [] }

  package func group(of member: OperationID) -> OperationID? {
    groupOfMember.isEmpty ? nil : groupOfMember[member]
  }

  /// The groups around an operation, from the inside out. Linear in their number.
  package func around(_ member: OperationID) -> [OperationID] {
    Array(sequence(first: member) { group(of: $0) }.dropFirst())
  }

  /// True if a failure of the group is allowed.
  package func forgives(_ group: OperationID) -> Bool {
    forgiving.isEmpty ? false : forgiving.contains(group)
  }

  /// True if a failure of the operation is allowed because a group around it may fail.
  package func isForgiven(_ operation: OperationID) -> Bool {
    if forgiving.isEmpty { return false }
    var next = group(of: operation)
    while let group = next {
      if forgiving.contains(group) { return true }
      next = self.group(of: group)
    }
    return false
  }
}

/// How a group ends.
package struct GroupEnding {
  package let ending: Ending
  /// The member that has this ending; nil for a group without members.
  package let member: OperationID?
}

extension Groups {
  /// The worst ending of a member; a group without members is skipped.
  package func ending(of group: OperationID, in scheduler: Scheduler) -> GroupEnding {
    worst(of: group) { scheduler.ending(of: $0) }
  }

  /// The ending of a group in the background, in which services that go on count with their announced endings.
  package func endingSoFar(of group: OperationID, in scheduler: Scheduler) -> GroupEnding {
    worst(of: group) { scheduler.ending(of: $0) ?? scheduler.announcedEnding(of: $0) }
  }

  private func worst(of group: OperationID, _ ending: (OperationID) -> Ending?) -> GroupEnding {
    var worst = GroupEnding(ending: Ending(.skipped), member: nil)
    for member in members(of: group) {
      guard let ending = ending(member) else { continue }
      if worst.member == nil || ending.badness > worst.ending.badness {
        worst = GroupEnding(ending: ending, member: member)
      }
    }
    guard forgives(group) else { return worst }
    return GroupEnding(
      ending: Ending(worst.ending.outcome, isAllowed: true), member: worst.member)
  }

  /// The cause of a group's ending: a failure of a member is attributed to the member. `stop` is
  /// why the group was cancelled, if it was.
  package func cause(
    of end: GroupEnding, in scheduler: Scheduler, stop: StopReason? = nil
  ) -> Cause {
    switch end.ending.outcome {
    case .failed, .timedOut, .blocked:
      end.member.map { .dependency(root(of: $0, in: scheduler)) } ?? .itself
    case .cancelled: stop.map { .stopped($0) } ?? .itself
    case .skipped:
      .condition(end.member == nil ? GroupPlan.emptyMatrix : "everything in it was skipped")
    case .succeeded, .cached: .itself
    }
  }

  /// The operation in which the problem of an unsuccessful member began: a step inside it, unless
  /// it failed by itself.
  private func root(of member: OperationID, in scheduler: Scheduler) -> OperationID {
    var root = member
    while true {
      let worst = ending(of: root, in: scheduler)
      guard let inner = worst.member, worst.ending.outcome.isFailure,
        worst.ending == scheduler.ending(of: root)
      else { return scheduler.root(of: root) ?? root }
      root = inner
    }
  }

  /// All steps in the group that have not ended, including those of groups inside it, the last one first.
  package func unendedSteps(of group: OperationID, in scheduler: Scheduler) -> [OperationID] {
    var steps: [OperationID] = []
    var rest = members(of: group)
    while let member = rest.popLast() {
      let inner = members(of: member)
      if !inner.isEmpty {
        rest += inner
      } else if !scheduler.state(of: member).hasEnded {
        steps.append(member)
      }
    }
    return steps
  }
}

extension GroupPlan {
  package static let emptyMatrix = "its matrix is empty"
}

extension Ending {
  /// The rank of an ending: a group has the ending of the highest rank.
  fileprivate var badness: Int {
    switch (outcome, isAllowed) {
    case (.skipped, _): 0
    case (.cached, _): 1
    case (.succeeded, _): 2
    case (.timedOut, true): 3
    case (.failed, true): 4
    case (.blocked, _): 5
    case (.cancelled, _): 6
    case (.timedOut, false): 7
    case (.failed, false): 8
    }
  }
}
