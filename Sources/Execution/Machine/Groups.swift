// Steps that became several operations: which belong together, and how the whole ended.

import Pipelines
import Scheduling

/// The groups of a run: instances of a matrix, steps of a nested pipeline. An operation of its own
/// stands for each, runs nothing, and ends when its members have.
struct Groups {
  private struct Group {
    var members: [OperationID]
    let isFailFast: Bool
    /// Members that have not ended; nil if the group's edges see to that.
    var unfinishedCount: Int?
    var cancelReason: StopReason?
  }

  private var groups: [OperationID: Group] = [:]
  private var groupOfMember: [OperationID: OperationID] = [:]

  init(_ plan: Plan) {
    for (id, group) in plan.groups {
      groups[id] = Group(members: group.members, isFailFast: group.isFailFast)
      for member in group.members { groupOfMember[member] = id }
    }
  }

  func members(of group: OperationID) -> [OperationID] { groups[group]?.members ?? [] }

  func group(of member: OperationID) -> OperationID? { groupOfMember[member] }

  /// Whether a failure of a member ends the others.
  func isFailFast(_ group: OperationID) -> Bool { groups[group]?.isFailFast == true }

  /// Why it was cancelled by itself, with all in it.
  func cancelReason(of group: OperationID) -> StopReason? { groups[group]?.cancelReason }

  mutating func cancelled(_ group: OperationID, _ reason: StopReason) {
    groups[group]?.cancelReason = reason
  }

  /// The members that a step was expanded to while running.
  mutating func expand(_ group: OperationID, to members: [OperationID]) {
    groups[group]?.members = members
    groups[group]?.unfinishedCount = members.count
    for member in members { groupOfMember[member] = group }
  }

  /// The member's group, if it was expanded while running and this was the last to end.
  mutating func memberEnded(_ member: OperationID) -> OperationID? {
    guard let group = groupOfMember[member], let count = groups[group]?.unfinishedCount else {
      return nil
    }
    groups[group]?.unfinishedCount = count - 1
    return count == 1 ? group : nil
  }
}

extension Groups {
  /// The worst that happened to a member, and where; a group without members was skipped.
  func ending(of group: OperationID, in scheduler: Scheduler) -> (Ending, OperationID?) {
    var worst: (ending: Ending, member: OperationID?) = (Ending(.skipped), nil)
    for member in members(of: group) {
      guard let ending = scheduler.ending(of: member) else { continue }
      if ending.badness > worst.ending.badness { worst = (ending, member) }
    }
    return (worst.ending, worst.member)
  }

  /// Where the trouble of a member that did not succeed began: not at a group in it.
  func root(of member: OperationID, in scheduler: Scheduler) -> OperationID {
    var root = member
    while let inner = ending(of: root, in: scheduler).1,
      scheduler.ending(of: inner)?.outcome.isFailure == true
    {
      root = inner
    }
    return scheduler.root(of: root) ?? root
  }
}

extension Ending {
  /// What a group of several endings is called by: the highest.
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
