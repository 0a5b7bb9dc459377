// Which runs are of one pipeline: those of the same file in the same directory.

/// A pipeline, identified so that its runs are found again.
package struct PipelinePlace: Hashable, Sendable {
  /// The path of the file: from the directory in which the pipeline runs if it is below that, or absolute.
  package let file: String
  /// That directory, as `StateFolder.currentPlace` gives it; nil for the one that holds the state directory.
  package let workspace: String?

  package init(file: String, workspace: String?) {
    self.file = file
    self.workspace = workspace
  }

  /// One string that no other pipeline has in the same state directory.
  package var key: String { workspace.map { "\($0)\n\(file)" } ?? file }
}

extension Database {
  /// The condition for the runs of a pipeline; ?1 is its file, and ?2 its workspace.
  func runsOfPlace() throws(DatabaseFailure) -> String {
    guard try Schema.has("fact", in: self) else { return "run.file = ?1 AND ?2 IS NULL" }
    let workspace =
      "SELECT value FROM fact WHERE fact.run = run.id AND name = '\(RunFact.workspace.rawValue)'"
    return "run.file = ?1 AND (\(workspace)) IS ?2"
  }
}

extension Statement {
  /// Binds the parameters of `runsOfPlace`.
  @discardableResult
  func bind(_ place: PipelinePlace) -> Statement { bind(1, place.file).bind(2, place.workspace) }
}
