// What a run takes over from the one that it resumes, so that its record stands for itself, wherever it ends. It is
// under the number of the run below zero until the turn of each step comes. docs/design-state.md, "What is kept".

import Scheduling

/// What becomes of the result of an earlier run when a step has ended.
enum TakenOver {
  /// It is that of this run, too.
  case kept
  /// It is for the next run: the step ended before it was its turn.
  case awaiting
  /// It says nothing any more, or there is none.
  case forgotten
}

extension Database {
  /// Lets a run take over what may be kept of an earlier one.
  func takeOver(_ earlier: Int, by run: Int) throws(DatabaseFailure) {
    let isKeepable = """
      outcome & 31 IN (0, 1, 10, 11) OR outcome & 16 OR outcome & 31 = \(Outcome.cancelled.rawValue)
        AND (cause LIKE 'stopped the time limit of ''%' OR cause LIKE 'stopped ''%'' failed')
      """
    try execute(
      """
      INSERT INTO result(run, step, \(ResultRow.columnList), origin)
        SELECT \(-run), step, \(ResultRow.columnList), ifnull(origin, run)
        FROM \(try memory(ofRun: "\(earlier)")) WHERE \(isKeepable);
      INSERT OR REPLACE INTO output SELECT \(-run), step, name, value FROM output
        WHERE run IN (\(earlier), \(-earlier))
        AND step IN (SELECT step FROM result WHERE run = \(-run));
      """)
  }

  /// A table expression for the results that count when a run is resumed: its own, and those that it took over for
  /// steps whose turn did not come.
  func memory(ofRun number: String) throws(DatabaseFailure) -> String {
    let awaiting = "FROM result WHERE run = -\(number)"
    return """
      (SELECT * \(awaiting) UNION ALL SELECT * FROM \(try results(ofRun: number))
        WHERE step NOT IN (SELECT step \(awaiting)))
      """
  }

  /// Removes what runs took over and did not keep.
  func removeTakenOver(by runs: [Int]) throws(DatabaseFailure) {
    let list = runs.map { String(-$0) }.joined(separator: ", ")
    for table in ["result", "output"] {
      try execute("DELETE FROM \(table) WHERE run IN (\(list))")
    }
  }
}
