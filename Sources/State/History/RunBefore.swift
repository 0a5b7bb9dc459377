// The run that another one is compared with.

extension StateStore {
  /// The newest run of a pipeline file that has ended, before the run with this name or, without a
  /// name, before one that is about to start.
  package func runBefore(
    _ name: String?, of place: PipelinePlace
  ) throws(StoreFailure) -> RecordedRunSummary? {
    let found: String? = try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        SELECT name FROM run WHERE \(try database.runsOfPlace()) AND exit_status IS NOT NULL
          AND (?3 IS NULL OR id < (SELECT id FROM run WHERE name = ?3)) ORDER BY id DESC LIMIT 1
        """)
      rows.bind(place)
      if let name { rows.bind(3, name) }
      return try rows.next() ? rows.text(0) : nil
    }
    return try found.flatMap { name throws(StoreFailure) in try run(named: name) }
  }
}

extension RunRecorder {
  /// The database with the earlier runs, and the pipeline of this one. Nil before the first run, or if the
  /// pipeline was read from standard input.
  package var history: (store: StateStore, place: PipelinePlace)? {
    guard let store = run.store, let place = run.request.place else { return nil }
    return (store, place)
  }
}
