// What each step of a resumed run comes to, and why, for people who look before they resume.

import Plans
package import Scheduling

/// What a step of a resumed run comes to.
package enum ForeseenStep: Hashable {
  case kept
  case leftOut(String)
  case runs(String)
}

/// How many instances are kept, and how many run again.
struct ForeseenInstances {
  let kept: Int
  let others: Int
}

extension Foresight {
  /// What the step comes to, with a reason in a few words.
  package func step(_ operation: OperationID) -> ForeseenStep {
    if let words = leftOut[operation] { return .leftOut(words) }
    if keptSteps.contains(operation), !neededServices.contains(operation) { return .kept }
    return .runs(reasonToRun(operation))
  }

  private func reasonToRun(_ operation: OperationID) -> String {
    if let option = selection.option(naming: plan.steps[operation.index].id) { return option }
    if edited.contains(operation) { return "changed" }
    if secretGivers.contains(operation) { return "gave a secret" }
    if downstream.contains(operation) || forced.contains(operation) {
      let changed = plan.graph.dependencies(of: operation).first { !isUnchanged($0.from) }
      return changed.map { "\(plan.steps[$0.from.index].id) runs again" } ?? "runs again"
    }
    if neededServices.contains(operation) { return "needed again" }
    if let instances = instances[operation], instances.kept > 0 {
      return "\(instances.others) of \(instances.kept + instances.others) instances"
    }
    return outcome(operation)?.reasonToRun ?? "did not run"
  }
}

extension ResumeSelection {
  /// The option that names the step, or what it is part of; nil if none does.
  fileprivate func option(naming id: String) -> String? {
    for (flag, names) in [("--from", from), ("--only", only)] {
      if let name = names.first(where: { StepName($0).covers(id) }) { return "\(flag) \(name)" }
    }
    return nil
  }
}

extension Outcome {
  fileprivate var reasonToRun: String {
    switch self {
    case .succeeded, .cached: "runs again"
    case .failed: "failed"
    case .timedOut: "timed out"
    case .cancelled: "was cancelled"
    case .skipped: "was skipped"
    case .blocked: "was blocked"
    }
  }
}

/// The recorded instances of steps whose matrix is known only while running.
struct LateInstances {
  private var names: [OperationID: [String]] = [:]

  /// Takes time for each such step and each recorded step in the same group.
  init(_ plan: Plan, _ earlier: EarlierRun) {
    let beginnings = Self.beginnings(plan)
    if beginnings.isEmpty { return }
    let recorded = earlier.steps.filter { !$0.value.outcome.isOfGroup }.keys.sorted()
    for (operation, beginning) in beginnings {
      let name = StepName(plan.steps[operation.index].id)
      names[operation] = recorded.lazy.filter { $0.hasPrefix(beginning) && name.covers($0) }
    }
  }

  /// What the names of the instances of steps begin with: the outermost group that is expanded, and its bracket.
  private static func beginnings(_ plan: Plan) -> [OperationID: String] {
    var beginnings: [OperationID: String] = [:]
    // Groups come after their members, so the outermost is the last to say.
    for (group, about) in plan.groups.sorted(by: { $0.key < $1.key }) where about.isExpanding {
      for operation in [group] + (about.pattern?.operations ?? []) {
        beginnings[operation] = plan.steps[group.index].id + "["
      }
    }
    return beginnings.filter { plan.groups[$0.key]?.members.isEmpty != false }
  }

  func names(of operation: OperationID) -> [String] { names[operation] ?? [] }
}
