// What a resumed run knows of the jobs that earlier runs have left, before it begins.

import Plans
import Scheduling

extension Resumption {
  /// The steps of these, with the runs that have started them, that cannot go on, because something that they depend on
  /// runs again. Of others that is known later.
  package func outdated(among open: [String: Set<String>]) -> Set<String> {
    Set(
      open.filter { name, runs in
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
}
