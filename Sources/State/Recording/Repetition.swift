// Runs in which nothing had changed, or little: steps that were not looked at have no rows of their own, but those of
// the run that is repeated.

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
        guard try find.bind(1, earlier).next(), let model = try find.number(0) else { return }
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
        for fact in RunFact.allCases where fact.isRepeated {
          guard let value = try database.fact(fact, ofRun: model) else { continue }
          try database.write(fact, value, ofRun: added)
        }
        try database.addRepetition(of: earlier, by: added)
        number = added
      }
      return number
    }
  }
}

/// The steps of a run that were not planned, because nothing of them had changed since another run, which has their
/// rows.
package struct UnplannedSteps {
  /// The name of the other run, in which they were up to date.
  package let run: String
  package let count: Int
  /// The number among all steps of each that was planned.
  package let numbers: [Int]

  package init(run: String, count: Int, numbers: [Int]) {
    self.run = run
    self.count = count
    self.numbers = numbers
  }
}

extension StateStore {
  /// Whether a run can be repeated: it is recorded and has succeeded.
  package func canRepeat(_ name: String) throws(StoreFailure) -> Bool {
    try perform("read") { database throws(DatabaseFailure) in
      let find = try database.prepare("SELECT 1 FROM run WHERE name = ? AND exit_status = 0")
      return try find.bind(1, name).next()
    }
  }
}

extension RunRecorder {
  /// Gives the run rows of its own for the steps that were not planned: others can repeat it then. False if that
  /// cannot be written.
  package func standAlone() -> Bool {
    guard let store else { return false }
    let number = database.runNumber
    let own = "SELECT step FROM result WHERE run = \(number)"
    let written: Void? = try? store.perform("write") { database throws(DatabaseFailure) in
      try database.transaction { () throws(DatabaseFailure) in
        try database.execute(
          """
          INSERT INTO result(run, step, \(ResultRow.columnList), origin)
            SELECT \(number), step, \(ResultRow.columnList), origin FROM result
            WHERE run = (SELECT repeats FROM repetition WHERE run = \(number)) AND step NOT IN (\(own));
          DELETE FROM repetition WHERE run = \(number);
          """)
      }
    }
    return written != nil
  }
}

extension Database {
  /// Lets a run have the rows of an earlier one for the steps that it has no rows of.
  func addRepetition(of earlier: String, by run: Int) throws(DatabaseFailure) {
    try execute(Schema.repetitions)
    try prepare(
      "INSERT INTO repetition(run, repeats) SELECT ?, id FROM run WHERE name = ? AND exit_status = 0"
    )
    .bind(1, run).bind(2, earlier).run()
  }

  /// A table expression for the results of all steps of a run; `number` is an expression for its number.
  func results(ofRun number: String) throws(DatabaseFailure) -> String {
    let own = "SELECT * FROM result WHERE run = \(number)"
    guard try Schema.has("repetition", in: self) else { return "(\(own))" }
    return """
      (\(own) UNION ALL SELECT * FROM result
        WHERE run = (SELECT repeats FROM repetition WHERE run = \(number))
        AND step NOT IN (SELECT step FROM result WHERE run = \(number)))
      """
  }

  /// Removes runs. The results of a run stay as long as others repeat it.
  func removeRuns(_ numbers: [Int]) throws(DatabaseFailure) {
    try removeTakenOver(by: numbers)
    let runs = numbers.map(String.init).joined(separator: ", ")
    for table in ["command", "output", "change", "placement", "fact"]
    where try Schema.has(table, in: self) {
      try execute("DELETE FROM \(table) WHERE run IN (\(runs))")
    }
    try execute("DELETE FROM run WHERE id IN (\(runs))")
    guard try Schema.has("repetition", in: self) else {
      return try execute("DELETE FROM result WHERE run IN (\(runs))")
    }
    try execute(
      """
      CREATE TEMP TABLE gone AS SELECT id FROM (SELECT repeats AS id FROM repetition WHERE run IN (\(runs))
        UNION SELECT run FROM result WHERE run IN (\(runs))) WHERE id NOT IN (SELECT id FROM run);
      DELETE FROM repetition WHERE run IN (\(runs));
      DELETE FROM result WHERE run IN (SELECT id FROM gone) AND run NOT IN (SELECT repeats FROM repetition);
      DROP TABLE gone;
      """)
  }
}
