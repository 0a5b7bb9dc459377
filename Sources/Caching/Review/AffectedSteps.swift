// Which steps changed files affect: those that declare them, those that declare nothing, and what
// depends on them. docs/watch.md, "What a change affects".

package import Plans
package import Scheduling

package struct AffectedSteps {
  /// Why a step is affected.
  package enum Reason: Hashable {
    /// The pipeline says something else about it.
    case edited
    /// The pipeline did not have it.
    case new
    case input(ChangedPaths.Summary)
    /// Somebody else has changed its outputs.
    case output(ChangedPaths.Summary)
    /// It does not say what it reads, so it may be anything.
    case undeclared(ChangedPaths.Summary)
    /// It reads this, of which it is not known whether it has changed.
    case outside(String)
    /// It depends on this one.
    case upstream(OperationID)
  }

  /// The changes that are looked at.
  package struct Changes {
    package var inputs: ChangedPaths
    /// The changed paths on which steps may depend that declare nothing.
    package var anything: ChangedPaths
    /// The changed paths that affect the steps that have made them.
    package var outputs = ChangedPaths([])
    /// The directory outside of which no changes are known; nil if they are known everywhere.
    package var root: String?
    package var edited: Set<OperationID> = []
    /// The operations of `edited` that the pipeline did not have.
    package var new: Set<OperationID> = []

    package init(_ inputs: ChangedPaths, anything: ChangedPaths) {
      self.inputs = inputs
      self.anything = anything
    }
  }

  package private(set) var reasons: [OperationID: Reason] = [:]
  private let plan: Plan
  private let workspace: String

  /// `workspace` is the absolute path of the directory that oprun was started in.
  package init(_ plan: Plan, _ changes: Changes, workspace: String) {
    self.plan = plan
    self.workspace = workspace
    var found: [ObjectIdentifier: Reason?] = [:]
    for index in plan.steps.indices {
      let operation = OperationID(index)
      if changes.edited.contains(operation) {
        add(operation, changes.new)
      } else if !isGroup(operation) {
        let settings = ObjectIdentifier(plan.steps[index].settings)
        let isShared = plan.steps[index].late?.parts.settings == nil
        let reason = (isShared ? found[settings] : nil) ?? self.reason(for: operation, changes)
        if isShared { found[settings] = .some(reason) }
        if let reason, mayBe(reason, of: operation) { reasons[operation] = reason }
      }
    }
    spread()
  }

  /// A service that declares nothing only serves other steps, as it did before.
  private func mayBe(_ reason: Reason, of operation: OperationID) -> Bool {
    if case .undeclared = reason { return plan.graph.takesSlot(operation) }
    return true
  }

  /// Groups are what is in them.
  private func isGroup(_ operation: OperationID) -> Bool {
    plan.standsForOthers(operation)
  }

  /// Adds an operation that was edited, with everything in it.
  private mutating func add(_ operation: OperationID, _ new: Set<OperationID>) {
    reasons[operation] = new.contains(operation) ? .new : .edited
    for member in plan.groups[operation]?.members ?? [] { add(member, new) }
  }

  private func reason(for operation: OperationID, _ changes: Changes) -> Reason? {
    guard let declaration = Declaration(plan.steps[operation.index], workspace) else {
      return changes.anything.summary.map { .undeclared($0) }
    }
    if let input = declaration.inputs(among: changes.inputs) { return .input(input) }
    if let output = declaration.outputs(among: changes.outputs) { return .output(output) }
    return changes.root.flatMap { declaration.input(outside: $0) }.map { .outside($0) }
  }

  /// Adds what depends on those that were found.
  private mutating func spread() {
    var open = reasons.keys.sorted()
    while let operation = open.popLast() {
      plan.graph.forEachDependent(of: operation) { edge in
        if reasons[edge.to] == nil {
          reasons[edge.to] = .upstream(operation)
          open.append(edge.to)
        }
      }
    }
  }
}

extension AffectedSteps {
  /// The steps that are affected, without groups and commands of `vars`, in file order.
  package var steps: [OperationID] { leaves.filter { reasons[$0] != nil } }

  /// All of them.
  package var leaves: [OperationID] {
    plan.steps.indices.lazy.map { OperationID($0) }.filter {
      !isGroup($0) && !plan.steps[$0.index].settings.capturesOutput
    }
  }

  /// The operations to name so that everything that is affected runs: a group if all of its members are, else steps.
  package var selection: [OperationID] {
    var whole: Set<OperationID> = Set(steps)
    var inside: Set<OperationID> = []
    // Members come before their groups.
    for number in plan.graph.dependenciesFirst() {
      let group = OperationID(Int(number))
      guard let members = plan.groups[group]?.members, !members.isEmpty,
        members.allSatisfy(whole.contains)
      else { continue }
      whole.insert(group)
      inside.formUnion(members)
    }
    return whole.subtracting(inside).sorted()
  }
}
