// The facts that a run would have when it decides about a step, as far as they are known without a run: outputs of
// steps that are up to date, secrets, and files.

import Diagnostics
package import Expressions
import Glibc
import Plans
package import Scheduling

/// Why something about a step is known only while running.
package enum LateReason: Hashable {
  /// It uses what this step gives, which would run.
  case step(String)
  /// It uses this secret, which is not available.
  case secret(String)
  /// It uses this member of `run`.
  case run(String)
  /// Its instances are not known.
  case matrix
  /// It uses what the instances of this step give, which are not known.
  case instances(String)
  /// It depends on the result of this step, which would run and may come to the same again.
  case result(String)
  /// It reads this, by another path or as a link, and it will be restored.
  case restored(String)
  /// It looks at files, which steps before it may change.
  case files
  /// There is no value, and this is why.
  case failure(String)
}

/// The surroundings of a review, which itself knows neither secrets nor how files are hashed.
package struct ReviewSurroundings {
  /// The value of a secret; nil if it is not available.
  package var secret: (String) -> String?
  /// The name of a secret that a string contains.
  package var secretHeld: (String) -> String?
  package var hashFiles: ([String]) -> Result<String, UnlocatedFailure>
  /// Where oprun was started; absolute.
  package var workspace: String
  /// True if an earlier run is resumed: steps that do not run have succeeded, for the expressions of others.
  package var isOfEarlierRun = false

  package init(
    workspace: String, secret: @escaping (String) -> String?,
    secretHeld: @escaping (String) -> String?,
    hashFiles: @escaping ([String]) -> Result<String, UnlocatedFailure>
  ) {
    self.workspace = workspace
    self.secret = secret
    self.secretHeld = secretHeld
    self.hashFiles = hashFiles
  }
}

/// How a step would end that does not run, and what it would give.
struct ReviewedEnd {
  let ending: Ending
  var outputs = ValueMap()
}

/// The facts for one evaluation. Whoever evaluates looks at `missing` afterwards: if there is something, what came out
/// says nothing.
final class ReviewedFacts: RunFacts {
  /// The first thing that is not known.
  private(set) var missing: LateReason?
  private let review: CacheReview
  private let plan: Plan
  private let surroundings: ReviewSurroundings
  private let operation: OperationID
  private var vars: [LateVarNumber: Value] = [:]
  let valueBudget: ValueBudget? = ValueBudget()

  /// Creates the facts for what is evaluated before `operation` runs.
  init(
    _ review: CacheReview, _ plan: Plan, _ surroundings: ReviewSurroundings,
    of operation: OperationID
  ) {
    self.operation = operation
    self.review = review
    self.plan = plan
    self.surroundings = surroundings
  }

  private func lack(_ reason: LateReason) { missing = missing ?? reason }

  private func end(of operation: OperationID) -> ReviewedEnd? {
    let end = review.end(of: operation)
    if end == nil {
      let id = plan.steps[operation.index].id
      lack(plan.groups[operation]?.isExpanding == true ? .instances(id) : .step(id))
    }
    return end
  }

  func ending(of operation: OperationID) -> Ending? {
    guard let ending = end(of: operation)?.ending else { return nil }
    return surroundings.isOfEarlierRun && ending.outcome == .cached ? Ending(.succeeded) : ending
  }

  func outputs(of operation: OperationID) -> ValueMap {
    end(of: operation)?.outputs ?? ValueMap()
  }

  func instances(of operation: OperationID) -> [(OperationID, ValueMap)]? {
    guard let group = plan.groups[operation], group.isOfInstances else { return nil }
    return Array(zip(group.members, group.combinations))
  }

  func copies(of operation: OperationID) -> [(OperationID, ValueMap)]? { nil }

  func keptList(of group: OperationID) -> Value? { review.lists[group] }

  func keep(_ list: Value, of group: OperationID) {
    if review.end(of: group) != nil { review.lists[group] = list }
  }

  func knowsToHold(conditionOf group: OperationID) -> Bool { false }

  func noteHolding(conditionOf group: OperationID) {}

  func keptVar(_ number: LateVarNumber) -> Value? { vars[number] }

  func keepVar(_ value: Value, _ number: LateVarNumber) { vars[number] = value }

  func runMember(_ name: String) -> String? {
    switch name {
    case "pipeline": return plan.name
    case "workspace": return surroundings.workspace
    default:
      lack(.run(name))
      return ""
    }
  }

  func secret(_ name: String) -> String? {
    let value = surroundings.secret(name)
    let isOptional = plan.secrets.contains { $0.name == name && !$0.isRequired }
    if value == nil, !isOptional { lack(.secret(name)) }
    return value
  }

  func secret(heldBy text: String) -> String? { surroundings.secretHeld(text) }

  func hashFiles(_ patterns: [String]) throws(UnlocatedFailure) -> String {
    if review.mayChangeFiles(before: operation) { lack(.files) }
    return try surroundings.hashFiles(patterns).get()
  }

  func exists(_ path: String) throws(UnlocatedFailure) -> Bool {
    if review.mayChangeFiles(before: operation) { lack(.files) }
    return access(path, F_OK) == 0
  }
}

extension CacheReview {
  /// Why the step will be skipped, as far as its conditions are known; nil if it is not known that it will.
  package func skipReason(of operation: OperationID) -> String? {
    if let other = failuresInVain(of: operation)?.first {
      return "\(quoted(plan.steps[other.index].id)) is up to date"
    }
    guard let late = plan.steps[operation.index].late, !late.parts.conditions.isEmpty else {
      return nil
    }
    let facts = facts(for: operation)
    guard let verdict = try? late.verdict(facts), facts.missing == nil,
      case .skips(let reason, _) = verdict
    else { return nil }
    return reason
  }

  /// A step without a cache that would run before a step that is up to date now, and may change what that
  /// reads; nil if there is none. The recursion is as deep as cached steps depend on each other.
  package func disturber(of operation: OperationID) -> OperationID? {
    if let known = disturbers[operation] { return known }
    let found = plan.graph.dependencies(of: operation).lazy
      .compactMap { self.disturber(in: $0.from) }.first
    disturbers[operation] = .some(found)
    return found
  }

  /// The steps that an operation runs after only if they fail, if none of them will: nothing fails that does not run.
  private func failuresInVain(of operation: OperationID) -> [OperationID]? {
    let awaited = plan.graph.dependencies(of: operation).filter { $0.condition == .failed }
    guard !awaited.isEmpty,
      awaited.allSatisfy({ end(of: $0.from)?.ending.outcome == .cached })
    else { return nil }
    return awaited.map(\.from)
  }

  /// Whether files may be put back or changed before the operation runs.
  func mayChangeFiles(before operation: OperationID) -> Bool {
    restoresFiles || disturber(of: operation) != nil
      || plan.graph.dependencies(of: operation).contains { end(of: $0.from) == nil }
  }

  private func disturber(in operation: OperationID) -> OperationID? {
    if let members = plan.groups[operation]?.members, !members.isEmpty {
      return members.lazy.compactMap { self.disturber(in: $0) }.first
    }
    if end(of: operation)?.ending.outcome == .skipped { return nil }
    if plan.steps[operation.index].settings.cache != nil { return disturber(of: operation) }
    return plan.graph.takesSlot(operation) ? operation : nil
  }

  /// How the operation would end without running anything; nil if it would run, or if that is not known.
  func end(of operation: OperationID) -> ReviewedEnd? {
    if let known = ends[operation] { return known }
    let end = endNow(of: operation)
    ends[operation] = .some(end)
    return end
  }

  private func endNow(of operation: OperationID) -> ReviewedEnd? {
    let step = plan.steps[operation.index]
    if step.late?.skipReason != nil { return ReviewedEnd(ending: Ending(.skipped)) }
    if let group = plan.groups[operation] { return end(of: group, operation, step) }
    if plan.graph.dependencies(of: operation).contains(where: { $0.condition == .failed }) {
      return failuresInVain(of: operation).map { _ in ReviewedEnd(ending: Ending(.skipped)) }
    }
    if let late = step.late, !late.parts.conditions.isEmpty {
      let facts = facts(for: operation)
      guard let verdict = try? late.verdict(facts), facts.missing == nil else { return nil }
      if case .skips = verdict { return ReviewedEnd(ending: Ending(.skipped)) }
    }
    return hit(on: operation).flatMap { hit in
      hit.outputs.values.map { ReviewedEnd(ending: Ending(.cached), outputs: $0) }
    }
  }

  /// The end of a group: that of its members.
  private func end(
    of group: GroupPlan, _ operation: OperationID, _ step: PlannedStep
  ) -> ReviewedEnd? {
    if case .expanding = group.kind { return nil }
    var ending = Ending(.skipped)
    for member in group.members {
      guard let end = end(of: member) else { return nil }
      if end.ending.outcome == .cached { ending = end.ending }
    }
    // A step that was skipped has no outputs.
    guard ending.outcome == .cached, let late = step.late, !late.parts.outputs.isEmpty else {
      return ReviewedEnd(ending: ending)
    }
    let facts = facts(for: operation)
    guard let outputs = try? late.outputs(facts, isPartial: false), facts.missing == nil else {
      return nil
    }
    return ReviewedEnd(ending: ending, outputs: outputs)
  }
}

extension [PublishedOutput] {
  /// The values; nil if one of them cannot be read.
  fileprivate var values: ValueMap? {
    var values = ValueMap()
    for output in self {
      guard let value = try? JSONReader.value(of: output.json) else { return nil }
      values[output.name] = value
    }
    return values
  }
}
