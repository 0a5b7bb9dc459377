// Runs in which nothing had changed: their steps have no rows of their own, but those of the run that they repeat.

package import Plans
package import Scheduling

extension StateStore {
  /// Records a run that came to the same as an earlier one, which must have succeeded. Returns its number; nil if the
  /// earlier run is not recorded any more.
  package func repeatRun(
    _ earlier: String, as beginning: RunBeginning, duration: Nanoseconds
  ) throws(StoreFailure) -> Int? {
    try perform("write") { database throws(DatabaseFailure) in
      var number: Int?
      try database.transaction { () throws(DatabaseFailure) in
        let find = try database.prepare("SELECT id FROM run WHERE name = ? AND exit_status = 0")
        guard try find.bind(1, earlier).next(), let model = find.number(0) else { return }
        find.reset()
        try database.prepare(
          """
          INSERT INTO run(name, pipeline, file, request, started, duration, exit_status, host,
              processors, process, cookie, steps, ok, failed, allowed, kept)
            SELECT ?, pipeline, file, request, ?, ?, 0, ?, ?, ?, '', steps, ok, failed, allowed, kept
            FROM run WHERE id = ?
          """
        )
        .bind(1, beginning.runID).bind(2, Int(beginning.clock.wallTime / 1000))
        .bind(3, Int(duration / 1000)).bind(4, beginning.host.name)
        .bind(5, beginning.host.processorCount).bind(6, Int(beginning.processID)).bind(7, model)
        .run()
        let added = database.lastRow
        try database.execute(Schema.repetitions)
        try database.prepare("INSERT INTO repetition(run, repeats) VALUES(?, ?)")
          .bind(1, added).bind(2, model).run()
        number = added
      }
      return number
    }
  }
}

extension Database {
  /// An expression for the number of the run that has the rows of a run's steps; `number` is one for its own.
  func numberOfSteps(ofRun number: String) throws(DatabaseFailure) -> String {
    guard try Schema.has("repetition", in: self) else { return number }
    return "ifnull((SELECT repeats FROM repetition WHERE run = \(number)), \(number))"
  }

  /// Gives what is recorded of the steps of runs that are about to be removed to the oldest of the runs that repeat
  /// them and stay. `runs` are numbers with commas between them.
  func bequeathSteps(ofRuns runs: String) throws(DatabaseFailure) {
    guard try Schema.has("repetition", in: self) else { return }
    try execute(
      """
      CREATE TEMP TABLE heir AS SELECT repeats AS old, min(run) AS new FROM repetition
        WHERE repeats IN (\(runs)) AND run NOT IN (\(runs)) GROUP BY repeats;
      UPDATE result SET run = (SELECT new FROM heir WHERE old = run)
        WHERE run IN (SELECT old FROM heir);
      UPDATE repetition SET repeats = (SELECT new FROM heir WHERE old = repeats)
        WHERE repeats IN (SELECT old FROM heir);
      DROP TABLE heir;
      DELETE FROM repetition WHERE run IN (\(runs)) OR run = repeats;
      """)
  }
}
