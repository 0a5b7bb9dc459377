// A run's directory whose files somebody has removed.

extension RunDirectory {
  /// True if nothing is in the directory but the file of locks, which is made again when a process
  /// looks for the run.
  package var isBare: Bool { names.allSatisfy { $0 == Self.lockName } }
}
