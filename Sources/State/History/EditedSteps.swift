// Which steps of a pipeline are not what they were in another version of its file.

import Expressions
package import Masking
package import Plans
import Scheduling

/// The ids of the steps of a plan that differ from the other version in something that counts: what runs, what it
/// declares, and what it depends on. Limits, priorities and names do not count.
package struct EditedSteps {
  /// The new ones are among them.
  package private(set) var all: Set<String> = []
  /// The steps that the other version does not have.
  package private(set) var new: Set<String> = []

  package init(of plan: Plan, since earlier: Plan, _ masker: Masker?) {
    let before = Dictionary(
      definitions(of: earlier, masker), uniquingKeysWith: { _, last in last })
    for (id, definition) in definitions(of: plan, masker) where before[id] != definition {
      all.insert(id.text)
      if before[id] == nil { new.insert(id.text) }
    }
  }
}

private struct StepDefinition: Hashable {
  let fingerprint: Int
  let cache: Int?
  let lateCache: Int?
  let needs: Set<ExactText>
}

private func definitions(of plan: Plan, _ masker: Masker?) -> [(ExactText, StepDefinition)] {
  var fingerprints = Fingerprints(masker)
  return plan.steps.indices.map { index in
    let step = plan.steps[index]
    let needs = plan.graph.dependencies(of: OperationID(index)).map {
      ExactText(text: "\($0.condition) \(plan.steps[$0.from.index].id)")
    }
    return (
      ExactText(text: step.id),
      StepDefinition(
        fingerprint: fingerprints.written(step), cache: step.settings.cache?.fingerprint,
        lateCache: step.late?.parts.settings?.cache?.shown.fingerprint, needs: Set(needs))
    )
  }
}

extension CacheSettings {
  fileprivate var fingerprint: Int {
    var digest = FingerprintDigest()
    for texts in [inputs, outputs, scratch, environment, tools] { digest.add(texts) }
    digest.add(isEnforced ? 1 : 0)
    return digest.finish()
  }
}
