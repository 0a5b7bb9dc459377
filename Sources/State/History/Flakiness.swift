// Steps that came out in different ways although they were the same.

/// How often a step ran in the last runs, and how it ended.
package struct FlakyStep: Hashable, Sendable {
  package let name: String
  package let runs: Int
  package let failures: Int
  /// The runs in which it succeeded after an attempt that had failed.
  package let retries: Int
}

extension StateStore {
  /// The steps of a pipeline file that both failed and succeeded in its last runs, or that succeeded
  /// only after a retry, without having been edited in between; those that fail most come first.
  package func flakySteps(of place: PipelinePlace, lastRuns: Int) throws(StoreFailure)
    -> [FlakyStep]
  {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        SELECT step.name, count(*), sum(\(RecordedOutcome.isFailure)) AS failures,
          sum(\(RecordedOutcome.isPlainSuccess) AND attempts > 1) AS retries,
          sum(\(RecordedOutcome.isPlainSuccess)) AS successes
        FROM result JOIN step ON step.id = step
        WHERE run IN (SELECT id FROM run WHERE \(try database.runsOfPlace()) ORDER BY id DESC LIMIT ?3)
          AND \(RecordedOutcome.isOfCommand) AND NOT \(RecordedOutcome.isOfGroup)
          AND origin IS NULL AND attempts IS NOT NULL
        GROUP BY step, written HAVING successes > 0 AND failures + retries > 0
        ORDER BY failures DESC, retries DESC, step.name
        """)
      rows.bind(place).bind(3, lastRuns)
      var steps: [FlakyStep] = []
      while try rows.next() {
        steps.append(
          FlakyStep(
            name: rows.text(0) ?? "", runs: try rows.number(1) ?? 0,
            failures: try rows.number(2) ?? 0,
            retries: try rows.number(3) ?? 0))
      }
      return steps
    }
  }
}
