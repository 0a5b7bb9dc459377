// A recorded run without its steps, for lists.

import Plans
import RunFiles
import Scheduling

/// A recorded run. Times are in microseconds.
package struct RecordedRunSummary: Hashable, Sendable {
  package let number: Int
  package let name: String
  package let pipeline: String
  package let file: String?
  /// The directory in which it ran, as in `PipelinePlace`.
  package let workspace: String?
  /// The time of the start in microseconds since 1970.
  package let started: Int
  /// Nil if its end was not recorded.
  package let duration: Int?
  package let exitStatus: Int?
  /// Why it ended early; nil if it did not.
  package let stop: RecordedStop?
  package let host: String
  package let processors: Int
  package let process: Int
  package let resumed: String?
  package let steps: Int
  /// How many steps ended in each way, without groups whose members stand for them.
  package let endings: [EndingNumber]
  /// The size of its logs; nil if its end was not recorded.
  package let logBytes: Int?
  /// True if a hook of the run itself failed.
  package let hookFailed: Bool
  /// The status that it gave in place of `exitStatus`.
  package let passedOn: RecordedPassedOnStatus?

  /// Whether it was left while jobs went on: whatever its exit status, it has not come to its end.
  package var wasLeft: Bool { stop == .left }

  /// The pipeline; nil for one from standard input.
  package var place: PipelinePlace? {
    file.map { PipelinePlace(file: $0, workspace: workspace) }
  }
}

/// A column of the query for runs. Their order is that of the query.
private enum RunColumn: Int32, CaseIterable {
  case number, name, pipeline, file, started, duration, exitStatus, stop, host, processors
  case process, resumed, steps, logBytes

  private var expression: String {
    switch self {
    case .number: "run.id"
    case .name: "run.name"
    case .pipeline: "run.pipeline"
    case .file: "run.file"
    case .started: "run.started"
    case .duration: "run.duration"
    case .exitStatus: "run.exit_status"
    case .stop: "run.stop"
    case .host: "run.host"
    case .processors: "run.processors"
    case .process: "run.process"
    case .resumed: "before.name"
    case .steps: "run.steps"
    case .logBytes: "run.log_bytes"
    }
  }

  static let query =
    "SELECT \(ResultRow.list(of: allCases.map(\.expression))) "
    + "FROM run LEFT JOIN run AS before ON before.id = run.resumed"
}

/// A row of the query for runs.
private struct RunRow {
  let values: Statement

  init(_ values: Statement) { self.values = values }

  func text(_ column: RunColumn) -> String? { values.text(column.rawValue) }

  func number(_ column: RunColumn) throws(DatabaseFailure) -> Int? {
    try values.number(column.rawValue)
  }

  func int32(_ column: RunColumn) throws(DatabaseFailure) -> Int32? {
    try values.int32(column.rawValue)
  }
}

extension StateStore {
  /// The newest runs, the newest first.
  package func runs(limit: Int = .max) throws(StoreFailure) -> [RecordedRunSummary] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare("\(RunColumn.query) ORDER BY run.id DESC LIMIT ?")
      rows.bind(1, limit)
      var runs: [RecordedRunSummary] = []
      while try rows.next() { runs.append(try summary(RunRow(rows), database, counting: true)) }
      return runs
    }
  }

  /// Unless `counting` is set, it has no endings: to count them, all of its results are read.
  package func run(
    named name: String, counting: Bool = true
  ) throws(StoreFailure) -> RecordedRunSummary? {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare("\(RunColumn.query) WHERE run.name = ?")
      guard try rows.bind(1, name).next() else { return nil }
      return try summary(RunRow(rows), database, counting: counting)
    }
  }

  private func summary(
    _ row: RunRow, _ database: Database, counting: Bool
  ) throws(DatabaseFailure) -> RecordedRunSummary {
    let number = try row.number(.number) ?? 0
    let exitStatus = try row.int32(.exitStatus).map { Int($0) }
    return RecordedRunSummary(
      number: number, name: row.text(.name) ?? "", pipeline: row.text(.pipeline) ?? "",
      file: row.text(.file), workspace: try database.fact(.workspace, ofRun: number),
      started: try row.number(.started) ?? 0, duration: try row.number(.duration),
      exitStatus: exitStatus, stop: row.text(.stop).map { RecordedStop($0) },
      host: row.text(.host) ?? "", processors: try row.number(.processors) ?? 1,
      process: Int(try row.int32(.process) ?? 0), resumed: row.text(.resumed),
      steps: try row.number(.steps) ?? 0,
      endings: counting ? try endings(of: number, database) : [],
      logBytes: exitStatus == nil ? nil : try row.number(.logBytes) ?? 0,
      hookFailed: exitStatus == 0 ? false : try hasFailedHook(number, database),
      passedOn: try database.fact(.passedOn, ofRun: number).flatMap { RecordedPassedOnStatus($0) })
  }

  private func hasFailedHook(_ run: Int, _ database: Database) throws(DatabaseFailure) -> Bool {
    let rows = try database.prepare(
      """
      SELECT 1 FROM command JOIN step ON step.id = step
      WHERE step.name = ? AND run = ? AND duration IS NOT NULL
        AND (status IS NOT 0 OR detail IS NOT NULL)
      """)
    return try rows.bind(1, RunDirectory.runHookName).bind(2, run).next()
  }
}
