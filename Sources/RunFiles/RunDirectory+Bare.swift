// A directory of a run of which somebody has removed what was in it.

extension RunDirectory {
  /// Whether there is nothing in it but the file of locks, which is made again by who looks for the run.
  package var isBare: Bool { names.allSatisfy { $0 == Self.lockName } }
}
