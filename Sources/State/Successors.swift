// Which runs go on with a run: those that have resumed it, those that have resumed these, and so on.

import Plans
import Scheduling

/// A run that goes on with another one.
package struct Successor: Hashable, Sendable {
  package let name: String
  /// Whether its end was recorded. One that was left has none.
  package let hasEnded: Bool
}

extension StateStore {
  /// All runs that go on with this one, the newest first.
  package func successors(of name: String) throws(StoreFailure) -> [Successor] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        WITH RECURSIVE chain(id) AS (
          SELECT id FROM run WHERE name = ?1 UNION SELECT run.id FROM run JOIN chain ON run.resumed = chain.id)
        SELECT name, exit_status IS NOT NULL AND stop IS NOT ?2 FROM run JOIN chain USING (id)
        WHERE name != ?1 ORDER BY id DESC
        """)
      rows.bind(1, name).bind(2, StopReason.leftWords)
      var successors: [Successor] = []
      while try rows.next() {
        successors.append(
          Successor(name: rows.text(0) ?? "", hasEnded: try rows.number(1) == 1))
      }
      return successors
    }
  }

  /// The jobs that a run had when it was left, or when its oprun died, by the names of their steps. Nil if it had none as
  /// far as is known, or has come to its end.
  package func openJobs(of name: String) throws(StoreFailure) -> [String: String]? {
    guard let run = try run(named: name), run.wasLeft || run.exitStatus == nil else { return nil }
    let open = Set(
      try steps(of: run).lazy.filter { $0.isLeft || $0.ending == nil }.map(\.name))
    var jobs: [String: String] = [:]
    for command in try placements(of: run) where open.contains(command.step) {
      jobs[command.step] = command.place.job
    }
    return run.wasLeft || !jobs.isEmpty ? jobs : nil
  }
}
