// What a run takes over from the one that it resumes, so that its record stands for itself, wherever it ends. It is
// under the number of the run below zero until the turn of each step comes. docs/design-state.md, "What is kept".

import Scheduling

/// What becomes of the result of an earlier run when a step has ended.
enum TakenOver {
  /// It is that of this run, too.
  case kept
  /// It is for the next run: the step ended before it was its turn.
  case awaiting
  /// It is of no use any more, or there is none.
  case forgotten
}

extension Database {
  /// The condition for results that may be kept.
  private static let isKeepable = """
    (\(RecordedOutcome.isOK) OR \(RecordedOutcome.isOfGroup)
      OR \(RecordedOutcome.isCancelled) AND \(RecordedCause.hasCulprit))
    """

  /// Lets a run take over what may be kept of an earlier one, and of those that went on with it, the oldest first.
  func takeOver(_ earlier: Int, _ successors: [Int], by run: Int) throws(DatabaseFailure) {
    try takeOver(try memory(ofRun: "\(earlier)"), outputsOf: "\(earlier), \(-earlier)", by: run)
    for successor in successors {
      let results = Self.ownResults(ofRun: "\(successor)")
      try execute(
        "DELETE FROM output WHERE run = \(-run) AND step IN (SELECT step FROM \(results))")
      try takeOver(results, outputsOf: "\(successor)", by: run)
      for table in ["result", "output"] {
        try execute(
          """
          DELETE FROM \(table) WHERE run = \(-run)
            AND step IN (SELECT step FROM \(Self.begunInVain(inRun: "\(successor)")))
          """)
      }
    }
  }

  private func takeOver(
    _ results: String, outputsOf sources: String, by run: Int
  ) throws(DatabaseFailure) {
    try execute(
      """
      INSERT OR REPLACE INTO result(run, step, \(ResultRow.columnList), origin)
        SELECT \(-run), step, \(ResultRow.columnList), ifnull(origin, run)
        FROM \(results) WHERE \(Self.isKeepable);
      INSERT OR REPLACE INTO output SELECT \(-run), step, name, value FROM output
        WHERE run IN (\(sources)) AND step IN (SELECT step FROM \(results) WHERE \(Self.isKeepable));
      """)
  }

  /// A table expression for what ran to its end in a run itself and may be kept, and the groups of that.
  static func ownResults(ofRun number: String) -> String {
    """
    (SELECT * FROM result WHERE run = \(number) AND origin IS NULL AND \(isKeepable)
      AND NOT \(RecordedOutcome.isLeftOut) AND NOT \(RecordedOutcome.isOfNothing))
    """
  }

  /// A table expression for what began in a run itself, and has no end there that may be kept: what was there before is not
  /// what is there now.
  static func begunInVain(inRun number: String) -> String {
    """
    (SELECT * FROM result WHERE run = \(number) AND origin IS NULL AND started IS NOT NULL
      AND (outcome IS NULL OR NOT \(RecordedOutcome.isOfGroup) AND \(isKeepable) IS NOT TRUE))
    """
  }

  /// A table expression for what was skipped or blocked in a run itself, by an option only if that names the step: without
  /// those that were not decided about, for which there is something that it took over.
  static func passedOver(inRun number: String) -> String {
    """
    (SELECT * FROM result WHERE run = \(number) AND origin IS NULL AND \(RecordedOutcome.isOfNothing)
      AND (NOT \(RecordedOutcome.isLeftOut) OR \(RecordedCause.isSkipOption))
      AND step NOT IN (SELECT step FROM result WHERE run = -\(number)))
    """
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
