// What groups have come to, besides how their members ended.

import Plans
import Scheduling

/// What happens to a group while its members run.
struct GroupState {
  /// The time that its steps may take together.
  enum Limit {
    case none
    /// None of its steps has started.
    case unstarted
    case running, over
  }

  /// The hooks of a used pipeline.
  enum Hooks {
    case none
    /// None of its steps has started.
    case idle
    /// They run when its steps have ended, the first of which started then.
    case owed(since: Nanoseconds)
    /// They wait for room, or run. Its steps took so long.
    case due(after: Nanoseconds)
  }

  /// The outputs of a group in the background, which it gives to others before it ends.
  enum Offer {
    case none
    /// It is asked for them.
    case asked
    /// It cannot give them; in words, why.
    case refused(String)
  }

  var limit = Limit.none
  var hooks = Hooks.none
  /// A part of it was left out, so that it has not succeeded yet.
  var isUnfinished = false
  var offer = Offer.none
  /// A step of it has failed, and its failure policy lets nothing new start in it, and no further attempts.
  var startsNothing = false
  /// Why the first of its members was cancelled.
  var cancelReason: StopReason?
  /// Why it failed, if that was not because of a member.
  var fault: Cause?

  /// Something begins with the first of its steps.
  fileprivate var isIdle: Bool {
    if case .idle = hooks { return true }
    return limit == .unstarted
  }

  /// True if it ends as its members did, and nothing else follows.
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
  /// The number of groups with which something begins.
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

  /// Whether the first step of some group is still to start.
  var hasIdle: Bool { idleCount > 0 }

  /// Whether some group is asked for its outputs.
  var hasAsked: Bool { askedCount > 0 }

  func isAsked(_ group: OperationID) -> Bool { hasAsked && self[group].isAsked }

  /// Nobody waits any more for the answer of a group that is asked for its outputs.
  mutating func withdrawQuestion(to group: OperationID) {
    if isAsked(group) { self[group].offer = .none }
  }

  /// How long the steps of a group took whose hooks wait or run; nil for every other operation.
  func durationBeforeHooks(of group: OperationID) -> Nanoseconds? {
    if case .due(let duration) = self[group].hooks { duration } else { nil }
  }

  /// No hooks begin any more.
  mutating func forgetOwedHooks() {
    for group in states.keys {
      if case .owed = self[group].hooks { self[group].hooks = .none }
    }
  }
}
