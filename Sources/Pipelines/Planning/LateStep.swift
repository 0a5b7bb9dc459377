// What of a step is decided only after its dependencies have ended.

/// Beside a `PlannedStep`, where expressions are left after planning, or a condition decides.
package final class LateStep: Sendable {
  /// Its `if` as people wrote it, for showing; nil if it has none or it is known to be true.
  package let condition: String?
  /// It is known already that it will not run, and why: `if: params.branch == 'main' is false`.
  package let skipReason: String?
  /// What it waits for besides its dependencies: `tcp localhost:5432`.
  package let waits: [String]

  package init(condition: String? = nil, skipReason: String? = nil, waits: [String] = []) {
    self.condition = condition
    self.skipReason = skipReason
    self.waits = waits
  }
}
