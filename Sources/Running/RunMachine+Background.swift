// Groups in the background: ready as soon as all services and such groups in them are, and all else
// has ended. They end, like any group, after their members.

import Plans
package import Scheduling

extension RunMachine {
  /// Passes on that a member of groups in the background is ready, or has ended, with this ending.
  /// `root` is the operation where the problem began, if there was one.
  mutating func settleMember(
    _ member: OperationID, as ending: Ending, root: OperationID? = nil
  ) {
    for news in services.settle(member, as: ending, groups) {
      switch news {
      case .isComplete(let group): complete(group, root: root)
      case .hasFailed(let group): groupFailed(group, as: ending, root: root)
      }
    }
  }

  mutating func groupFailed(_ group: OperationID, as ending: Ending, root: OperationID?) {
    announce(group, as: ending, root: root)
    settleMember(group, as: ending, root: root)
  }

  /// Leaves a group in which nothing goes on to end like any other. If something does, its outputs
  /// are evaluated before the steps that depend on it start.
  private mutating func complete(_ group: OperationID, root: OperationID?) {
    let lasts = groups.members(of: group).contains { !scheduler.state(of: $0).hasEnded }
    guard lasts else { return }
    guard steps[group].late?.givesOutputs == true, !standsForCopies(group) else {
      return becomeReady(group, root: root)
    }
    groupStates[group].offer = .asked
    put(.ready, about: group)
  }

  private mutating func becomeReady(_ group: OperationID, root: OperationID? = nil) {
    let ending = endingSoFar(of: group)
    guard EdgeCondition.ready.isSatisfied(by: ending) else {
      services.giveUp(group)
      let worst = groups.endingSoFar(of: group, in: scheduler).member
      return groupFailed(group, as: ending, root: root ?? worst)
    }
    services.becameReady(group, as: ending)
    announce(group, as: ending)
    if !instanceLimits.isEmpty { instanceLimits.ended(group, groups) }
    settleMember(group, as: ending)
  }

  /// The ending of a group if everything that goes on in it succeeds.
  package mutating func endingSoFar(of group: OperationID) -> Ending {
    let ending = groups.endingSoFar(of: group, in: scheduler).ending
    return ending.outcome == .skipped || ending.outcome == .cached ? Ending(.succeeded) : ending
  }

  /// Handles the answer about the outputs of a group in the background that goes on.
  mutating func offered(_ group: OperationID, _ decision: Decision, at now: Nanoseconds) {
    groupStates[group].offer = .none
    switch decision {
    case .join: becomeReady(group)
    case .fail(let reason):
      groupStates[group].offer = .refused(reason)
      let ending = ownFailure(of: group)
      services.giveUp(group)
      if ending.isAllowed { services.becameReady(group, as: ending) }
      groupFailed(group, as: ending, root: group)
    case .run, .skip, .skipGroup, .expand, .keep, .later, .wait:
      preconditionFailure("a group is asked only what it gives")
    }
    tellSettled()
    startReady(at: now)
  }

  /// Tells the services about copies of the operations of a pattern.
  mutating func noteCopies(_ copies: [(copy: OperationID, original: OperationID)]) {
    let copies = copies.map { copy, original in
      ServiceCopy(
        copy, of: original, isGroup: groupPlan(copy) != nil, pattern: patterns.groups[copy])
    }
    let plans = (plan.groups, patterns.copiedGroups)
    let places = ServiceGraph(scheduler.graph, groups, plan.named) { group in
      (plans.0[group] ?? plans.1[group])?.isOfInstances == false
    }
    services.add(copies, places)
  }

  private mutating func announce(
    _ group: OperationID, as ending: Ending, root: OperationID? = nil
  ) {
    if scheduler.state(of: group).hasEnded || scheduler.isAnnounced(group) { return }
    scheduler.announce(group, as: ending, root: root)
  }
}
