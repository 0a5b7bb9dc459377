// Which steps of a pipeline are not what they were in another version of its file.

package import Masking
package import Plans
import Scheduling

/// The ids of the steps of a plan that are new, or of which something counts that was different: what
/// runs, what it declares, and what it depends on. Limits, priorities and names do not count.
package func editedSteps(of plan: Plan, since earlier: Plan, _ masker: Masker?) -> Set<String> {
  let before = Dictionary(
    definitions(of: earlier, masker), uniquingKeysWith: { _, last in last })
  return Set(definitions(of: plan, masker).filter { before[$0.0] != $0.1 }.map(\.0))
}

private struct StepDefinition: Hashable {
  let fingerprint: Int
  let cache: CacheSettings?
  let lateCache: CacheSettings?
  let needs: Set<String>
}

private func definitions(of plan: Plan, _ masker: Masker?) -> [(String, StepDefinition)] {
  var fingerprints = Fingerprints(masker)
  return plan.steps.indices.map { index in
    let step = plan.steps[index]
    let needs = plan.graph.dependencies(of: OperationID(index)).map {
      "\($0.condition) \(plan.steps[$0.from.index].id)"
    }
    return (
      step.id,
      StepDefinition(
        fingerprint: fingerprints.written(step), cache: step.settings.cache,
        lateCache: step.late?.parts.settings?.cache?.shown, needs: Set(needs))
    )
  }
}
