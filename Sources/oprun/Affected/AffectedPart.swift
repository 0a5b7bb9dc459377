// The part of a pipeline that is affected by what has changed since a commit, in words.

import Caching
import Diagnostics
import Glibc
import Plans
import Reporting
import Scheduling

/// The affected part. Everything in it is identified by the ids of steps, because the plan of the
/// part has other numbers.
struct AffectedPart {
  /// The commit as it was named.
  let reference: String
  /// The names that select the part for a run; empty if nothing is affected.
  let selection: [String]
  let isEverything: Bool
  /// The affected steps, and the number of all steps.
  let affected: [String]
  let count: Int
  /// True if only steps that were named were looked at.
  private let isOfNamedSteps: Bool
  private let unaffected: [String]
  private let words: [String: String]
  private static let longestList = 8

  init(_ steps: AffectedSteps, in plan: Plan, reference: String, workspace: String) {
    self.reference = reference
    let id = { (operation: OperationID) in plan.steps[operation.index].id }
    let leaves = steps.leaves
    count = leaves.count
    affected = steps.steps.map(id)
    isEverything = affected.count == count
    isOfNamedSteps = !plan.named.isEmpty
    selection = steps.selection.map(id)
    unaffected = leaves.filter { steps.reasons[$0] == nil }.map(id)
    var words: [String: String] = [:]
    for (operation, reason) in steps.reasons {
      let isCached = plan.steps[operation.index].settings.cache != nil
      words[id(operation)] = Self.words(reason, workspace, isCached: isCached)
    }
    self.words = words
  }

  /// The reason in words; nil for a step that depends on another one, which is reported anyway.
  private static func words(
    _ reason: AffectedSteps.Reason, _ workspace: String, isCached: Bool
  ) -> String? {
    switch reason {
    case .edited: "edited"
    case .new: "new"
    case .input(let files): shown(files, workspace)
    case .output(let files): "its output \(shown(files, workspace))"
    case .undeclared: isCached ? "reads values known only during the run" : "declares no inputs"
    case .outside(let path): "reads \(path), which is outside of the repository"
    case .upstream: nil
    }
  }

  private static func shown(_ files: ChangedPaths.Summary, _ workspace: String) -> String {
    let path = ByteText.shown(files.path.path(below: workspace) ?? files.path)
    if files.count > 1 { return "\(path) and \(files.count - 1) more changed" }
    var status = stat()
    let isThere = ByteText.withBytes(files.path) { lstat($0, &status) } == 0
    return "\(path) \(isThere ? "changed" : "removed")"
  }

  /// The message before a run.
  var announcement: String {
    "changes since \(quoted(reference)) affect \(affected.count) of \(count) steps: "
      + Self.list(affected)
  }

  var nothing: String {
    "changes since \(quoted(reference)) affect "
      + (isOfNamedSteps ? "none of the named steps" : "no step")
  }

  /// The remark in a dry run; nil if there is nothing to say.
  var remark: String? {
    unaffected.isEmpty
      ? nil
      : "not affected by changes since \(quoted(reference)): " + Self.list(unaffected)
  }

  private static func list(_ ids: [String]) -> String {
    firstNames(of: ids.lazy.map { printable($0) }, most: longestList)
  }

  /// The reasons why steps of the plan run, if they are special.
  func reasons(in plan: Plan) -> [OperationID: String] {
    var reasons: [OperationID: String] = [:]
    let runs = Set(affected)
    for index in plan.steps.indices where !plan.standsForOthers(OperationID(index)) {
      let id = plan.steps[index].id
      if let words = words[id] {
        reasons[OperationID(index)] = words
      } else if !runs.contains(id), let user = user(of: OperationID(index), in: plan) {
        reasons[OperationID(index)] = "needed by \(plan.steps[user.index].id)"
      }
    }
    return reasons
  }

  private func user(of operation: OperationID, in plan: Plan) -> OperationID? {
    var user: OperationID?
    plan.graph.forEachDependent(of: operation) { edge in
      if user == nil || edge.to < user ?? edge.to { user = edge.to }
    }
    return user
  }
}
