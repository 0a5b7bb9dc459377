// The secrets of a pipeline and of those in it: all are read before anything runs.

import Diagnostics
import Plans
import Scheduling

extension [PipelineModel] {
  /// Each name once. What one pipeline needs, the run needs.
  var secrets: [SecretSource] {
    var found: [SecretSource] = []
    var indices: [String: Int] = [:]
    for source in flatMap(\.secrets).map(\.source) {
      if let index = indices[source.name] {
        guard source.isRequired else { continue }
        found[index] = source
      } else {
        indices[source.name] = found.count
        found.append(source)
      }
    }
    return found
  }

  /// Variables of oprun's own environment that are secrets; the value says whether one must be there.
  var secretVariables: [String: Bool] {
    var variables: [String: Bool] = [:]
    for source in secrets where source.location == .environment {
      variables[source.name] = source.isRequired
    }
    return variables
  }
}

extension Planner {
  /// A name stands for one value in a run.
  mutating func checkSecrets() {
    var first: [String: SecretModel] = [:]
    for secret in models.flatMap(\.secrets) {
      guard let other = first[secret.name] else {
        first[secret.name] = secret
        continue
      }
      guard other.source.location != secret.source.location else { continue }
      log.report(at: secret.span) {
        PlanningMessage.twoPlaces(secret.name, first: other.span, at: $0)
      }
    }
  }
}
