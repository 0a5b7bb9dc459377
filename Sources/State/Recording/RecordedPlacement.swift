// Where the commands of a run were that did not run on the machine of oprun, as it is recorded.

package import Plans

/// Where a command was.
package struct RecordedPlacement: Hashable, Sendable {
  package let step: String
  /// `1`, `on_failure.2`.
  package let role: String
  package let place: CommandPlacement
}

extension StateStore {
  /// Where the commands of a run were, as far as they did not run here.
  package func placements(
    of run: RecordedRunSummary
  ) throws(StoreFailure) -> [RecordedPlacement] {
    try perform { database throws(DatabaseFailure) in
      guard try Schema.has("placement", in: database) else { return [] }
      let rows = try database.prepare(
        """
        SELECT step.name, role, job, node, reason FROM placement JOIN step ON step.id = step
        WHERE run = ? ORDER BY step, role
        """)
      rows.bind(1, run.number)
      var placements: [RecordedPlacement] = []
      while try rows.next() {
        guard let step = rows.text(0), let role = rows.text(1), let job = rows.text(2) else {
          continue
        }
        placements.append(
          RecordedPlacement(
            step: step, role: role,
            place: CommandPlacement(job: job, node: rows.text(3), reason: rows.text(4))))
      }
      return placements
    }
  }
}
