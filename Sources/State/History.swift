// What was recorded, for lists: runs, their steps, the commands and outputs of steps.

import Diagnostics
package import Scheduling

/// A recorded run. Times are in microseconds.
package struct RecordedRunSummary: Hashable, Sendable {
  package let number: Int
  package let name: String
  package let pipeline: String
  package let file: String?
  /// Since 1970.
  package let started: Int
  /// Nil if its end was not recorded.
  package let duration: Int?
  package let exitStatus: Int?
  package let stop: String?
  package let host: String
  package let processors: Int
  package let process: Int
  package let resumed: String?
  package let steps: Int
  package let ok: Int
  package let failed: Int
  package let allowed: Int
  package let kept: Int
  package let logBytes: Int
}

/// A recorded step. Times are in microseconds since the start of the run in which it ran.
package struct RecordedStep: Hashable, Sendable {
  package let name: String
  /// Nil if it started, and no end was recorded.
  package let ending: Ending?
  package let isGroup: Bool
  /// `dependency unit`: a word and what it is about.
  package let cause: String?
  package let started: Int?
  package let duration: Int?
  package let attempts: Int?
  package let status: Int?
  package let detail: String?
  package let processor: Int?
  /// In KiB.
  package let memory: Int?
  package let output: Int?
  /// The run in which it ran, if that was another one.
  package let origin: String?
  /// The number of its row.
  let number: Int
}

/// A recorded hook, or an attempt that another one followed.
package struct RecordedStepCommand: Hashable, Sendable {
  package let step: String
  /// `1`, `on_failure.2`.
  package let role: String
  package let started: Int?
  package let duration: Int?
  package let status: Int?
  package let detail: String?
  package let processor: Int?
  package let memory: Int?
  package let output: Int?
}

package struct RecordedOutput: Hashable, Sendable {
  package let step: String
  package let name: String
  /// Nil if it held a secret.
  package let json: String?
}

extension StateStore {
  private static let runColumns = """
    SELECT run.id, run.name, run.pipeline, run.file, run.started, run.duration, run.exit_status,
      run.stop, run.host, run.process, before.name, run.steps, run.ok, run.failed, run.allowed,
      run.kept, run.log_bytes, run.processors FROM run LEFT JOIN run AS before ON before.id = run.resumed
    """

  /// The newest runs, the newest first.
  package func runs(limit: Int = .max) throws(StoreFailure) -> [RecordedRunSummary] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare("\(Self.runColumns) ORDER BY run.id DESC LIMIT ?")
      rows.bind(1, limit)
      var runs: [RecordedRunSummary] = []
      while try rows.next() { runs.append(try summary(rows, database)) }
      return runs
    }
  }

  package func run(named name: String) throws(StoreFailure) -> RecordedRunSummary? {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare("\(Self.runColumns) WHERE run.name = ?")
      return try rows.bind(1, name).next() ? try summary(rows, database) : nil
    }
  }

  /// The names of all runs, the newest first.
  package func runNames() throws(StoreFailure) -> [String] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare("SELECT name FROM run ORDER BY id DESC")
      var names: [String] = []
      while try rows.next() { if let name = rows.text(0) { names.append(name) } }
      return names
    }
  }

  /// The newest run of a pipeline file; nil if there is none.
  package func newestRun(of file: String) throws(StoreFailure) -> String? {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        "SELECT name FROM run WHERE file = ? ORDER BY id DESC LIMIT 1")
      return try rows.bind(1, file).next() ? rows.text(0) : nil
    }
  }

  /// How long the steps of a pipeline file take, by id: of the last runs in which they succeeded,
  /// the newest counts most. Runs in which everything was up to date say nothing about it.
  package func durations(of file: String) throws(StoreFailure) -> [String: Nanoseconds] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        SELECT step.name, duration FROM result JOIN step ON step.id = step
        WHERE run IN (SELECT id FROM run WHERE file = ?
            AND (log_bytes IS NOT NULL OR exit_status IS NULL) ORDER BY id DESC LIMIT 3)
          AND outcome = 0 AND origin IS NULL AND duration IS NOT NULL ORDER BY run
        """)
      rows.bind(1, file)
      var durations: [String: Nanoseconds] = [:]
      while try rows.next() {
        guard let name = rows.text(0), let time = rows.number(1).map({ Nanoseconds($0) * 1000 })
        else { continue }
        durations[name] = durations[name].map { ($0 + time) / 2 } ?? time
      }
      return durations
    }
  }

  private func summary(
    _ rows: Statement, _ database: Database
  ) throws(DatabaseFailure) -> RecordedRunSummary {
    let number = rows.number(0) ?? 0
    var counts = Tally()
    if rows.number(6) == nil { counts = try tally(of: number, database) }
    return RecordedRunSummary(
      number: number, name: rows.text(1) ?? "", pipeline: rows.text(2) ?? "", file: rows.text(3),
      started: rows.number(4) ?? 0, duration: rows.number(5), exitStatus: rows.number(6),
      stop: rows.text(7), host: rows.text(8) ?? "",
      processors: rows.number(17) ?? 1, process: rows.number(9) ?? 0,
      resumed: rows.text(10), steps: rows.number(11) ?? 0, ok: rows.number(12) ?? counts.ok,
      failed: rows.number(13) ?? counts.failed, allowed: rows.number(14) ?? counts.allowed,
      kept: rows.number(15) ?? counts.kept, logBytes: rows.number(16) ?? 0)
  }

  /// The counts of a run whose end was not recorded.
  private func tally(of run: Int, _ database: Database) throws(DatabaseFailure) -> Tally {
    let rows = try database.prepare(
      "SELECT outcome, origin FROM result WHERE run = ? AND place >= 0 AND outcome IS NOT NULL")
    rows.bind(1, run)
    var tally = Tally()
    while try rows.next() {
      guard let outcome = rows.number(0).flatMap(RecordedOutcome.init), !outcome.isOfGroup else {
        continue
      }
      tally.count(outcome.ending, isKept: rows.number(1) != nil)
    }
    return tally
  }

  /// The steps of a run, in file order.
  package func steps(of run: RecordedRunSummary) throws(StoreFailure) -> [RecordedStep] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        SELECT step.name, outcome, cause, result.started, result.duration, attempts, status, detail,
          processor, memory, output, ifnull(run.name, origin), step.id
        FROM result JOIN step ON step.id = step LEFT JOIN run ON run.id = origin
        WHERE result.run = ? AND place >= 0 ORDER BY place
        """)
      rows.bind(1, run.number)
      var steps: [RecordedStep] = []
      while try rows.next() { steps.append(step(rows)) }
      return steps
    }
  }

  private func step(_ rows: Statement) -> RecordedStep {
    let outcome = rows.number(1).flatMap(RecordedOutcome.init)
    return RecordedStep(
      name: rows.text(0) ?? "", ending: outcome?.ending, isGroup: outcome?.isOfGroup ?? false,
      cause: rows.text(2), started: rows.number(3), duration: rows.number(4),
      attempts: rows.number(5), status: rows.number(6), detail: rows.text(7),
      processor: rows.number(8), memory: rows.number(9), output: rows.number(10),
      origin: rows.text(11), number: rows.number(12) ?? 0)
  }

  /// The hooks and the earlier attempts of a run; those of the run itself have the step `@run`.
  package func commands(
    of run: RecordedRunSummary
  ) throws(StoreFailure) -> [RecordedStepCommand] {
    let isEarlier = "role != CAST(ifnull(attempts, '') AS TEXT)"
    return try commands(of: run, where: isEarlier)
  }

  /// All commands that have a record of their own.
  func allCommands(of run: RecordedRunSummary) throws(StoreFailure) -> [RecordedStepCommand] {
    try commands(of: run, where: "1")
  }

  private func commands(
    of run: RecordedRunSummary, where condition: String
  ) throws(StoreFailure) -> [RecordedStepCommand] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        SELECT name, role, command.started, command.duration, command.status, command.detail,
          command.processor, command.memory, command.output
        FROM command JOIN step ON step.id = command.step
        LEFT JOIN result ON result.run = command.run AND result.step = command.step
        WHERE command.run = ? AND \(condition) ORDER BY command.step, command.started
        """)
      rows.bind(1, run.number)
      var commands: [RecordedStepCommand] = []
      while try rows.next() {
        commands.append(
          RecordedStepCommand(
            step: rows.text(0) ?? "", role: rows.text(1) ?? "", started: rows.number(2),
            duration: rows.number(3), status: rows.number(4), detail: rows.text(5),
            processor: rows.number(6), memory: rows.number(7), output: rows.number(8)))
      }
      return commands
    }
  }

  package func outputs(of run: RecordedRunSummary) throws(StoreFailure) -> [RecordedOutput] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        SELECT step.name, output.name, value FROM output JOIN step ON step.id = step
        WHERE run = ? ORDER BY step, output.name
        """)
      rows.bind(1, run.number)
      var outputs: [RecordedOutput] = []
      while try rows.next() {
        outputs.append(
          RecordedOutput(
            step: rows.text(0) ?? "", name: rows.text(1) ?? "", json: rows.text(2)))
      }
      return outputs
    }
  }
}
