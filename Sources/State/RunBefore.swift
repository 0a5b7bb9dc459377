// The run that another one is compared with.

extension StateStore {
  /// The newest run of a pipeline file that has ended, before the run with this name or, without a
  /// name, before one that is about to start.
  package func runBefore(
    _ name: String?, of file: String
  ) throws(StoreFailure) -> RecordedRunSummary? {
    let found: String? = try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        SELECT name FROM run WHERE file = ?1 AND exit_status IS NOT NULL
          AND (?2 IS NULL OR id < (SELECT id FROM run WHERE name = ?2)) ORDER BY id DESC LIMIT 1
        """)
      rows.bind(1, file)
      if let name { rows.bind(2, name) }
      return try rows.next() ? rows.text(0) : nil
    }
    return try found.flatMap { name throws(StoreFailure) in try run(named: name) }
  }
}

extension RunRecorder {
  /// What is known of earlier runs, and the file of this one. Nil before the first run, or if the
  /// pipeline was read from standard input.
  package var history: (store: StateStore, file: String)? {
    guard let store = run.store, let file = run.request.file else { return nil }
    return (store, file)
  }
}
