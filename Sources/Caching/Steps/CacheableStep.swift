// A step as the cache is asked about it.

package import Plans

/// A step that is cached and runs something, with all values that it would run with.
package struct CacheableStep {
  let id: String
  let step: ReadyStep
  let action: Action
  /// The `cache` of the step.
  package let settings: CacheSettings

  /// Nil if the step is not cached, or runs nothing.
  package init?(_ id: String, _ step: ReadyStep) {
    guard let settings = step.settings.cache, let action = step.action else { return nil }
    self.id = id
    self.step = step
    self.action = action
    self.settings = settings
  }

  /// The directory in which its command starts; nil for that of the run.
  var directory: String? { step.settings.workingDirectory }
}
