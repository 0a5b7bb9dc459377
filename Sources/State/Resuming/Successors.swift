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
      rows.bind(1, name).bind(2, RecordedStop.left.text)
      var successors: [Successor] = []
      while try rows.next() {
        successors.append(
          Successor(name: rows.text(0) ?? "", hasEnded: try rows.number(1) == 1))
      }
      return successors
    }
  }

  /// The runs that this one goes on with, the newest first.
  package func predecessors(of name: String) throws(StoreFailure) -> [String] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        WITH RECURSIVE chain(id, resumed) AS (
          SELECT id, resumed FROM run WHERE name = ?1
          UNION SELECT run.id, run.resumed FROM run JOIN chain ON run.id = chain.resumed)
        SELECT name FROM run JOIN chain USING (id) WHERE name != ?1 ORDER BY id DESC
        """)
      rows.bind(1, name)
      var names: [String] = []
      while try rows.next() { names.append(rows.text(0) ?? "") }
      return names
    }
  }

  /// Whether a run had jobs when it was left, or when its oprun died.
  package func jobsAtEnd(of name: String) throws(StoreFailure) -> JobsAtEnd {
    guard let run = try run(named: name) else { return .none }
    if run.wasLeft { return .some }
    guard run.exitStatus == nil else { return .none }
    let placed = Set(try placements(of: run).map(\.step))
    if placed.isEmpty { return .none }
    return try steps(of: run).contains { $0.ending == nil && placed.contains($0.name) }
      ? .possible : .none
  }
}

extension Database {
  /// The numbers of all runs that go on with a run, the oldest first.
  func successors(of run: Int) throws(DatabaseFailure) -> [Int] {
    let rows = try prepare(
      """
      WITH RECURSIVE chain(id) AS (
        SELECT ?1 UNION SELECT run.id FROM run JOIN chain ON run.resumed = chain.id)
      SELECT id FROM chain WHERE id != ?1 ORDER BY id
      """)
    rows.bind(1, run)
    var successors: [Int] = []
    while try rows.next() {
      if let number = try rows.number(0) { successors.append(number) }
    }
    return successors
  }
}

package enum JobsAtEnd: Sendable {
  case none
  /// Steps ran elsewhere, which may have been nodes of the job that oprun was in.
  case possible
  case some
}
