// The results that a step may have read of the cached steps that it depends on.

import Diagnostics
package import Plans

/// The results of the steps that a step depends on, as far as their files are what these steps have made; and of the
/// others, what they would make: it may be there all the same, because a step failed, was skipped, or made what is not
/// kept, or because somebody has changed it since.
package struct Upstream {
  struct Result {
    /// The id of the step.
    let step: String
    let result: CacheDigest
    let settings: StepSettings
    /// The stamps of directories into which other steps have written, whose results are in the key, too; by their places
    /// among what the step has made.
    var folders: [Int: FileStamp] = [:]

    /// The one that its outputs are relative to; nil for where oprun was started.
    var directory: String? { settings.workingDirectory }
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

  package mutating func add(_ result: CacheDigest, of step: String, _ settings: StepSettings) {
    results.append(Result(step: step, result: result, settings: settings))
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

  /// Goes through the results; those for which there is nil are added as steps that have none. `body` gets all of them,
  /// too.
  mutating func replaceResults(_ body: (Result, [Result]) -> Result?) {
    let all = results
    results = []
    for part in all {
      if let part = body(part, all) { results.append(part) } else { addOutputs(of: part.settings) }
    }
  }

  /// The settings of a step with these inputs added.
  func added(to settings: CacheSettings) -> CacheSettings {
    if inputs.isEmpty { return settings }
    var settings = settings
    settings.inputs += inputs
    return settings
  }
}
