// Which instances of a matrix one line of a dry run stands for: those that would not run, all for the same reason. What
// would run always has a line of its own.

import Plans
import Scheduling

/// Instances without lines, and those whose line stands for them.
struct FoldedInstances {
  private(set) var hidden: Set<OperationID> = []
  /// What the lines say in place of an instance: `cc ×34`.
  private(set) var labels: [OperationID: String] = [:]

  /// Folds nothing.
  init() {}

  /// The line is that of the last of them, because all that they wait for has passed then.
  init(_ entries: [Forecast.Entry], of plan: Plan, _ reasons: Reasons) {
    struct Key: Hashable {
      let group: Int32
      let verdict: Forecast.Entry.Verdict
      let reason: String
    }
    let groups = plan.groupsOfInstances
    if groups.isEmpty { return }
    let sink = ByteSink.intoMemory()
    var folds: [Key: [OperationID]] = [:]
    for entry in entries where entry.verdict == .upToDate || entry.verdict == .skipped {
      let group = groups[entry.operation.index]
      if group < 0 { continue }
      let reason = sink.captured { reasons.write(for: entry, to: $0) }
      folds[Key(group: group, verdict: entry.verdict, reason: reason), default: []]
        .append(entry.operation)
    }
    for (key, instances) in folds where instances.count > 1 {
      hidden.formUnion(instances.dropLast())
      let last = instances[instances.count - 1]
      labels[last] = "\(plan.steps[Int(key.group)].id) ×\(instances.count)"
    }
  }
}
