// The changes that people made to a run from outside while it went on, as they are recorded.

import Plans
import Scheduling

/// A change, and who made it. Times are in microseconds since the start of the run.
package struct RecordedChange: Hashable, Sendable {
  package let time: Int
  package let user: String
  /// The word of the command that asked for it.
  package let action: String
  /// `paused by anna`.
  package let words: String
}

extension RecordedChange {
  init(
    _ note: ControlNote, _ plan: Plan, at time: Nanoseconds, _ name: (OperationID) -> String
  ) {
    self.init(
      time: Int(time / 1000), user: note.user, action: "\(note.action.word)",
      words: note.words(queue: { plan.queues[$0.index].name }, step: name))
  }
}

extension StateStore {
  /// The changes of a run, in order.
  package func changes(of run: RecordedRunSummary) throws(StoreFailure) -> [RecordedChange] {
    try perform { database throws(DatabaseFailure) in
      guard try Schema.has("change", in: database) else { return [] }
      let rows = try database.prepare(
        "SELECT at, user, action, words FROM change WHERE run = ? ORDER BY id")
      rows.bind(1, run.number)
      var changes: [RecordedChange] = []
      while try rows.next() {
        guard let time = try rows.number(0), let user = rows.text(1), let action = rows.text(2),
          let words = rows.text(3)
        else { continue }
        changes.append(RecordedChange(time: time, user: user, action: action, words: words))
      }
      return changes
    }
  }
}
