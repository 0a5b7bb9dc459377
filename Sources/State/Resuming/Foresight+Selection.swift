// Which part of a run is resumed: what a selection names, what that needs, and what it leaves out.

import Plans
package import Scheduling

extension Foresight {
  func operations(of ids: [String]) -> Set<OperationID> {
    Set(ids.lazy.flatMap(operations))
  }

  /// The operations of a step: its own, and everything inside it.
  func operations(of id: String) -> Set<OperationID> {
    let name = StepName(id)
    return Set(
      plan.steps.indices.lazy.filter { name.covers(plan.steps[$0].id) }.map { OperationID($0) })
  }

  /// The operations that a selection is about; empty if there is none.
  func core(of selection: ResumeSelection) -> Set<OperationID> {
    if !selection.from.isEmpty { return withDependents(operations(of: selection.from)) }
    if !selection.only.isEmpty { return operations(of: selection.only) }
    // A group that failed because of a member is represented by the member.
    let failed = failed
    return selection.isOfFailed ? failed.filter { !hasFailedMember($0, failed) } : []
  }

  /// Whether a step failed that a selection of what failed is about.
  package var hasFailed: Bool { !failed.isEmpty }

  private var failed: Set<OperationID> {
    Set(
      plan.steps.indices.lazy.map { OperationID($0) }.filter {
        outcome($0)?.isFailure == true || earlier.failed.contains(recordedName(of: $0))
      })
  }

  private func hasFailedMember(_ group: OperationID, _ failed: Set<OperationID>) -> Bool {
    !failed.isDisjoint(with: plan.groups[group]?.members ?? [])
  }

  /// The steps that may run if a part of the run is resumed; with `--only`, nothing but the named ones.
  func inside(_ core: Set<OperationID>) -> Set<OperationID> {
    let named = core.union(selection.isOfFailed ? failed : [])
    return selection.only.isEmpty ? withAll(named) { _ in true } : named
  }

  /// Whether no selection leaves anything out.
  var isOfAll: Bool { selectionInWords == nil }

  /// Whether the operation does not run, whatever it turns out to be, as a selection does not name it.
  func isOutside(_ operation: OperationID) -> Bool {
    selectionInWords != nil && !inside.contains(operation) && !neededServices.contains(operation)
  }

  private func withDependents(_ operations: Set<OperationID>) -> Set<OperationID> {
    var found = operations
    var open = Array(operations)
    while let operation = open.popLast() {
      plan.graph.forEachDependent(of: operation) { edge in
        if found.insert(edge.to).inserted { open.append(edge.to) }
      }
    }
    return found
  }

  mutating func apply(_ selection: ResumeSelection, _ core: Set<OperationID>) {
    for id in selection.skipped {
      for operation in operations(of: id) { leftOut[operation] = RecordedCause.skipOption + id }
    }
    guard let words = selection.words else { return }
    var needed = selection.only.isEmpty ? withDependencies(core) : core
    if selection.isOfFailed { needed.formUnion(failed) }
    for index in plan.steps.indices {
      let operation = OperationID(index)
      if fate(of: operation) == .unneeded { continue }
      let wasSkipped = record(of: operation)?.wasSkipped == true
      if !needed.contains(operation), !fate(of: operation).isKept || wasSkipped {
        leftOut[operation] = words
      }
    }
    // Without their group there would be no instances to keep or to run.
    for (group, about) in plan.groups where about.isExpanding {
      let members = about.pattern?.operations ?? []
      if !members.allSatisfy({ leftOut[$0] != nil && instances[$0]?.kept ?? 0 == 0 }) {
        leftOut[group] = nil
      }
    }
  }

  /// The operations, and what they depend on as far as it is not kept.
  private func withDependencies(_ operations: Set<OperationID>) -> Set<OperationID> {
    withAll(operations) { !fate(of: $0).isKept }
  }

  /// The operations, and what they depend on as far as that counts.
  private func withAll(
    _ operations: Set<OperationID>, where counts: (OperationID) -> Bool
  ) -> Set<OperationID> {
    var found = operations
    var open = Array(operations)
    while let operation = open.popLast() {
      for edge in plan.graph.dependencies(of: operation) where counts(edge.from) {
        if found.insert(edge.from).inserted { open.append(edge.from) }
      }
    }
    return found
  }

  /// A step that is not kept although a selection of single steps needs it, and the step that needs it; nil if nothing
  /// is missing.
  package var missingUpstream: (needed: OperationID, by: OperationID)? {
    for operation in forced.sorted() {
      for edge in plan.graph.dependencies(of: operation)
      where !forced.contains(edge.from) && !isUnchanged(edge, since: .last) {
        // Services run besides what is named.
        if !plan.graph.takesSlot(edge.from), !edge.condition.waitsForReadiness { continue }
        return (edge.from, operation)
      }
    }
    return nil
  }
}

extension ResumeSelection {
  /// Why a step is left out; nil if the selection is all of it.
  var words: String? {
    if !from.isEmpty { return "not needed for \(Self.shown("--from", from))" }
    if !only.isEmpty { return "not in \(Self.shown("--only", only))" }
    return isOfFailed ? "did not fail (--failed)" : nil
  }

  /// The option as it was given, with the first few of its steps: the words are kept for each step.
  private static func shown(_ flag: String, _ steps: [String]) -> String {
    let most = 3
    let words = steps.prefix(most).map { "\(flag) \($0)" }.joined(separator: " ")
    return steps.count > most ? "\(words) and \(steps.count - most) more" : words
  }
}
