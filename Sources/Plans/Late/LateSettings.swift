// The part of a step's settings that is left for the run.

import Diagnostics
package import Expressions
package import Scheduling

/// The part of a step's settings that is evaluated when its dependencies have ended; that of its
/// hooks, when their turn comes.
package struct LateSettings: Sendable {
  package var environment: [VariableModel] = []
  /// The pipeline's directory, then the step's, if one of them is late.
  package var workingDirectory: [GivenText] = []
  package var standardInput: Template?
  package var allowFailure: Expression?
  package var hooks: [HookKind: [CommandModel]] = [:]
  package var cache: CacheModel?
  /// The label for people.
  package var label: Template?

  package init() {}

  /// The pipeline uses that gave some of the settings.
  package var givers: Set<Int32> {
    Set(environment.map(\.giver) + workingDirectory.map(\.giver)).subtracting([-1])
  }

  package var isEmpty: Bool {
    environment.isEmpty && workingDirectory.isEmpty && standardInput == nil
      && allowFailure == nil && hooks.isEmpty && cache == nil && label == nil
  }
}

/// A path relative to a base that may be unknown: an absolute one stays as it is.
package func joined(_ base: String?, _ path: String) -> String {
  guard let base, !path.hasPrefix("/") else { return path }
  return base.hasSuffix("/") ? base + path : base + "/" + path
}
