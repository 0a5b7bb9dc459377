// The jobs that earlier runs have left, as a resumed run sees them before it begins.

import Diagnostics
import Plans
import Scheduling

extension Resumption {
  /// The steps of these, with the runs that have started them, that cannot go on, because the run does not have them any
  /// more, or has them run here, or because something that they depend on runs again. Of others that is known later.
  package func outdated(among open: [String: Set<String>]) -> Set<String> {
    Set(
      open.filter { name, runs in
        if isWhole && isGone(name) || runsHere(name) { return true }
        // A cached step depends on contents, which may be the same again.
        guard let operation = operation(named: name),
          operation.index < plan.steps.count,
          plan.steps[operation.index].settings.cache == nil
        else { return false }
        let newest = runs.map { $0 == earlier.name ? earlier.number : Int.max }.max() ?? Int.max
        return plan.graph.dependencies(of: operation).contains { edge in
          !foreseen.cached.undecided.contains(edge.from)
            && !foreseen.isUnchanged(edge, since: Moment(newest).endOfRun)
        }
      }.keys)
  }

  /// The steps of these that a selection leaves out.
  package func leftOut(among open: Set<String>) -> Set<String> {
    open.filter { name in
      guard let operation = operation(named: name) else { return !isWhole && isGone(name) }
      return foreseen.leftOut[operation] != nil
    }
  }

  /// Whether neither run is one of steps that were named: then what the plan lacks, the file does not have.
  private var isWhole: Bool { plan.named.isEmpty && earlier.request.steps.isEmpty }

  /// Whether no step has the name, and none can get it while running.
  private func isGone(_ name: String) -> Bool {
    // The name of a step that contains a secret is not known.
    if name.hasPrefix("#") || operation(named: name) != nil { return false }
    return ([name] + InstanceName(name).origins).allSatisfy { name in
      // Only groups whose matrix is not known get members while running.
      let parts = name.split(separator: "/", omittingEmptySubsequences: false)
      return (1...parts.count).allSatisfy { count in
        let group = operation(named: parts.prefix(count).joined(separator: "/"))
        return group.flatMap { plan.groups[$0] }?.isExpanding != true
      }
    }
  }

  private func runsHere(_ name: String) -> Bool {
    guard let operation = operation(named: name), operation.index < plan.steps.count else {
      return false
    }
    return plan.groups[operation] == nil && plan.steps[operation.index].settings.slurm == nil
  }
}
