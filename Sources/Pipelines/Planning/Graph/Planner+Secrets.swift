// The secrets of a pipeline and of nested ones: all are read before anything runs.

import Diagnostics
import Plans
import Scheduling

extension [PipelineModel] {
  /// The secrets, each name once. A secret that one pipeline requires is required by the run.
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

  /// The variables of oprun's own environment that are secrets; the value says whether one is
  /// required.
  var secretVariables: [String: Bool] {
    var variables: [String: Bool] = [:]
    for source in secrets where source.location == .environment {
      variables[source.name] = source.isRequired
    }
    return variables
  }
}

extension Planner {
  /// Checks that a name stands for only one secret in a run.
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
