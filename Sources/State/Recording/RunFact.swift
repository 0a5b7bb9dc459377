// Facts that few runs have, as they are recorded: the trace that a run was part of, the exit status of a step that it
// gave in place of its own, where it ran, and which submission has started it.

import Diagnostics
package import Plans
import Scheduling

enum RunFact: String, CaseIterable {
  /// The text of `TraceContext.recorded`.
  case trace
  /// The status, a blank, and the step whose status it is.
  case passedOn = "passed_on"
  /// The directory in which it ran, if that is not the one that holds the state directory.
  case workspace
  /// The word of the submission that it is part of: a job that is started again goes on with its own run.
  case submission

  /// Whether a run in which nothing had changed has this fact from the run that it repeats.
  var isRepeated: Bool {
    switch self {
    // Both are runs of one pipeline.
    case .workspace: true
    // The other run was traced, submitted or asked for the status of a step by itself.
    case .trace, .passedOn, .submission: false
    }
  }
}

extension Database {
  /// Few runs have facts, so their table is made for the first one.
  func write(_ fact: RunFact, _ value: String, ofRun run: Int) throws(DatabaseFailure) {
    try execute(Schema.facts)
    try prepare("INSERT OR REPLACE INTO fact(run, name, value) VALUES(?, ?, ?)")
      .bind(1, run).bind(2, fact.rawValue).bind(3, value).run()
  }

  func fact(_ fact: RunFact, ofRun run: Int) throws(DatabaseFailure) -> String? {
    guard try Schema.has("fact", in: self) else { return nil }
    let rows = try prepare("SELECT value FROM fact WHERE run = ? AND name = ?")
    return try rows.bind(1, run).bind(2, fact.rawValue).next() ? rows.text(0) : nil
  }
}

/// The exit status of a step that a run gave in place of its own.
package struct RecordedPassedOnStatus: Hashable, Sendable {
  package let status: Int
  package let step: String

  /// The name of the step as the run printed it.
  package var shownStep: String { InstanceName.withoutNumber(step) }

  init?(_ value: String) {
    guard let blank = value.firstIndex(of: " "), let status = Int(value[..<blank]) else {
      return nil
    }
    self.status = status
    step = String(value[value.index(after: blank)...])
  }
}

extension StateStore {
  /// The trace that a run was part of; nil if nobody could see its spans.
  package func trace(of run: RecordedRunSummary) throws(StoreFailure) -> TraceContext? {
    let words = try perform { database throws(DatabaseFailure) in
      try database.fact(.trace, ofRun: run.number)
    }
    return words.flatMap { TraceContext(recorded: $0, runID: run.name) }
  }
}

extension StateStore {
  /// The newest run of a submission, or that has resumed one; nil if there is none.
  package func newestRun(ofSubmission word: String) throws(StoreFailure) -> String? {
    try perform { database throws(DatabaseFailure) in
      guard try Schema.has("fact", in: database) else { return nil }
      let rows = try database.prepare(
        """
        SELECT run.name FROM fact JOIN run ON run.id = fact.run
        WHERE fact.name = ? AND value = ? ORDER BY run.id DESC LIMIT 1
        """)
      rows.bind(1, RunFact.submission.rawValue).bind(2, word)
      return try rows.next() ? rows.text(0) : nil
    }
  }
}
