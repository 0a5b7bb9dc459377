// What a step may have got from the cached steps that it depends on.

package import Plans

/// The results of the steps that a step depends on, and where those have no result, what they would make: it may be
/// there all the same, because a step failed, was skipped, or made what is not kept.
package struct Upstream {
  struct Result {
    /// The id of the step.
    let step: String
    let result: CacheDigest
    /// The one that its outputs are relative to; nil for where oprun was started.
    let directory: String?
  }

  private(set) var results: [Result] = []
  /// Patterns, for the inputs of the step.
  private(set) var inputs: [String] = []
  private let directory: String?
  private let workspace: String

  /// `directory` is the one that the inputs of the step are relative to, `workspace` where oprun was started.
  package init(of directory: String?, in workspace: String) {
    self.directory = directory
    self.workspace = workspace
  }

  package mutating func add(_ result: CacheDigest, of step: String, in directory: String?) {
    results.append(Result(step: step, result: result, directory: directory))
  }

  /// Adds a step that has no result.
  package mutating func addOutputs(of settings: StepSettings) {
    for pattern in settings.cache?.outputs ?? [] {
      let place = settings.workingDirectory
      let folder = place.map { joined(workspace, $0) } ?? workspace
      let path = place == directory ? pattern : joined(FilePattern.escaped(folder), pattern)
      inputs.append(path.hasSuffix("/") ? String(path.dropLast()) : path)
    }
  }

  /// What the step reads, with this.
  func added(to settings: CacheSettings) -> CacheSettings {
    if inputs.isEmpty { return settings }
    var settings = settings
    settings.inputs += inputs
    return settings
  }
}
