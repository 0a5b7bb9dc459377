// Limits on the number of instances of a matrix that Slurm enforces instead of oprun: the instances
// are submitted together, as one array with that limit, instead of one after the other.
// docs/design-slurm.md

import Diagnostics
import Scheduling

extension Plan {
  /// The plan with `max_parallel` of matrices of jobs left to Slurm: the pool of each such matrix
  /// has room for all instances, and `slurm` knows how many of them may run.
  package func leavingWidthsToSlurm() -> Plan {
    guard let slurm, pools.contains(where: { $0.name.hasSuffix(Self.widthEnding) }) else {
      return self
    }
    // Copies of a pattern have pools of their own, which are made during the run.
    let copied = Set(groups.values.flatMap { $0.pattern?.pools ?? [] })
    var plan = self
    var known = slurm
    for (group, groupPlan) in groups where isMatrixOfJobs(group, groupPlan) {
      let name = steps[group.index].id + Self.widthEnding
      let claims =
        groupPlan.members.first.map { graph[$0].claims }
        ?? steps[group.index].late?.parts.expansion?.spec.claims ?? []
      guard let pool = claims.first(where: { pools[$0.pool.index].name == name })?.pool,
        !copied.contains(pool)
      else { continue }
      known.widths[pool] = Int(pools[pool.index].capacity / 1_000_000)
      plan.pools[pool.index].capacity = .max
    }
    plan.slurm = known
    return plan
  }

  private static let widthEnding = ".max_parallel"

  private func isMatrixOfJobs(_ group: OperationID, _ groupPlan: GroupPlan) -> Bool {
    switch groupPlan.kind {
    case .matrix:
      groupPlan.members.allSatisfy { groups[$0] == nil && steps[$0.index].settings.slurm != nil }
    case .expanding: groupPlan.pattern == nil && steps[group.index].settings.slurm != nil
    case .nested: false
    }
  }
}
