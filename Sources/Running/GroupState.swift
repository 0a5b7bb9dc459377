// The state of groups, besides how their members ended.

import Plans
import Scheduling

/// The state of a group while its members run.
struct GroupState {
  /// The time limit of the steps of the group together.
  enum Limit {
    case none
    /// No step of the group has started.
    case unstarted
    case running, over
  }

  /// The hooks of a used pipeline.
  enum Hooks {
    case none
    /// No step of the group has started.
    case idle
    /// The hooks run when the steps have ended, the first of which started at this time.
    case owed(since: Nanoseconds)
    /// The hooks wait for room, or run; the steps took this long.
    case due(after: Nanoseconds)
  }

  /// The state of the outputs that a group in the background gives to others before it ends.
  enum Offer {
    case none
    /// The outputs were asked for.
    case asked
    /// The outputs cannot be made; the string says why.
    case refused(String)
  }

  var limit = Limit.none
  var hooks = Hooks.none
  /// True if a part of the group was left out: it has not succeeded yet, and runs no hooks of success.
  var isUnfinished = false
  var offer = Offer.none
  /// True if a step has failed and the failure policy lets nothing new start in the group, and no further attempts.
  var startsNothing = false
  /// Why the first cancelled member was cancelled.
  var cancelReason: StopReason?
  /// The cause of a failure of the group itself, not of a member.
  var fault: Cause?

  /// True if hooks or a time limit begin with the first step of the group.
  fileprivate var isIdle: Bool {
    if case .idle = hooks { return true }
    return limit == .unstarted
  }

  /// True if the group ends as its members did: no hooks are owed, no outputs refused, no time limit exceeded.
  var endsPlainly: Bool {
    if case .owed = hooks { return false }
    if case .refused = offer { return false }
    return limit != .over
  }

  fileprivate var isAsked: Bool { if case .asked = offer { true } else { false } }
}

/// The states of groups; most have none but the initial one, which is not stored.
struct GroupStates {
  private var states: [OperationID: GroupState] = [:]
  /// The number of groups whose hooks or time limit begin with their first step.
  private var idleCount = 0
  /// The number of groups that are asked for their outputs.
  private var askedCount = 0

  init(_ plan: Plan) {
    for (group, groupPlan) in plan.groups { add(group, groupPlan, plan.steps[group.index]) }
  }

  mutating func add(_ group: OperationID, _ plan: GroupPlan, _ step: PlannedStep) {
    if plan.timeout != nil { self[group].limit = .unstarted }
    if !step.settings.hooks.isEmpty, case .nested = plan.kind { self[group].hooks = .idle }
  }

  subscript(group: OperationID) -> GroupState {
    get { states.isEmpty ? GroupState() : states[group] ?? GroupState() }
    set {
      let old = self[group]
      idleCount += (newValue.isIdle ? 1 : 0) - (old.isIdle ? 1 : 0)
      askedCount += (newValue.isAsked ? 1 : 0) - (old.isAsked ? 1 : 0)
      states[group] = newValue
    }
  }

  /// True if hooks or a time limit of some group begin with a step that has not started.
  var hasIdle: Bool { idleCount > 0 }

  /// True if the outputs of some group are asked for.
  var hasAsked: Bool { askedCount > 0 }

  func isAsked(_ group: OperationID) -> Bool { hasAsked && self[group].isAsked }

  /// Withdraws the question about the outputs of a group: nobody waits for the answer any more.
  mutating func withdrawQuestion(to group: OperationID) {
    if isAsked(group) { self[group].offer = .none }
  }

  /// The time that the steps of a group took, while its hooks wait or run; nil for every other operation.
  func durationBeforeHooks(of group: OperationID) -> Nanoseconds? {
    if case .due(let duration) = self[group].hooks { duration } else { nil }
  }

  /// Drops the owed hooks of all groups.
  mutating func forgetOwedHooks() {
    for group in states.keys {
      if case .owed = self[group].hooks { self[group].hooks = .none }
    }
  }
}
