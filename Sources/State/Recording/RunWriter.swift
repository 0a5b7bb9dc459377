// Writes the records of one run: the statements, and what goes into each column.

import Diagnostics
import Expressions
import Masking
import Plans
import RunFiles
import Scheduling

/// Writes to an open database.
final class RunWriter {
  private let database: Database
  private let folder: StateFolder
  private let run: RunToRecord
  /// Asks which run goes on with this one; nil if no other machine can.
  private let successor: Statement?
  /// The number of the run; 0 until its beginning is written.
  private(set) var number = 0
  /// The numbers of steps that have not ended, as far as they were needed.
  private var steps: [String: Int] = [:]
  private let begin: Statement
  private let commit: Statement
  private let findStep: Statement
  private let addStep: Statement
  private let result: Statement
  private let end: Statement
  private var statements: [String: Statement] = [:]
  /// Whether the table of placements is known to be there.
  private var hasPlacements = false

  init(
    _ database: Database, _ journal: JournalKind, _ folder: StateFolder, _ run: RunToRecord
  ) throws(DatabaseFailure) {
    self.database = database
    self.folder = folder
    self.run = run
    successor = journal == .rollback ? try database.prepare(Self.successor) : nil
    begin = try database.prepare("BEGIN IMMEDIATE")
    commit = try database.prepare("COMMIT")
    findStep = try database.prepare("SELECT id FROM step WHERE name = ?")
    addStep = try database.prepare("INSERT INTO step(name) VALUES(?)")
    result = try database.prepare(ResultRow.insertion("?2", "INSERT OR REPLACE"))
    // A run that waits for its first step has time for it, and none when that has ended.
    end = try database.prepare(
      """
      UPDATE run SET duration = ?, exit_status = ?, stop = ?, ok = ?, failed = ?, allowed = ?,
        kept = ?, log_bytes = ?, steps = ? WHERE id = ?
      """)
  }

  /// The newest run that goes on with this one, or with one that this one goes on with. The runs after this one are few,
  /// and are found by the key of the table.
  private static let successor = """
    WITH RECURSIVE chain(id) AS (
      SELECT ?1 UNION SELECT run.resumed FROM run JOIN chain USING (id) WHERE run.resumed NOTNULL)
    SELECT name, host FROM run WHERE id > ?1 AND resumed IN chain ORDER BY id DESC
    """

  /// Writes all of it, or nothing.
  func write(_ records: [Record], isPatient: Bool) throws(StoreFailure) {
    let numberBefore = number
    database.setPatience(isPatient)
    do throws(DatabaseFailure) {
      try begin.run()
      do throws(DatabaseFailure) {
        try checkSuccessor()
        try writeAll(records)
        try commit.run()
      } catch {
        try? database.execute("ROLLBACK")
        number = numberBefore
        hasPlacements = false
        // Steps that were added in this transaction are gone.
        steps = [:]
        throw error
      }
    } catch {
      throw StateStore.failure(error, "write", folder)
    }
  }

  /// The row of a step that has ended has its start, too. So if both are written at once, as with most steps of a run
  /// that has a journal, the row of its start would be replaced at once, and is left out.
  private func writeAll(_ records: [Record]) throws(DatabaseFailure) {
    var ends: [Int: Int] = [:]
    for (index, record) in records.enumerated() {
      if case .settled(let key, let settled) = record, settled.takenOver == .forgotten {
        ends[key.place] = index
      }
    }
    for (index, record) in records.enumerated() {
      if case .started(let key, _) = record, ends[key.place] ?? 0 > index { continue }
      try write(record)
    }
  }

  /// A machine that the network has left alone for a while loses its locks, and another one may have resumed the run
  /// since: both must not perform it.
  private func checkSuccessor() throws(DatabaseFailure) {
    guard let successor, number > 0, try successor.bind(1, number).next() else { return }
    let (name, host) = (successor.text(0) ?? "", successor.text(1) ?? "")
    successor.reset()
    throw .overtaken(by: name, on: host)
  }

  private func write(_ record: Record) throws(DatabaseFailure) {
    switch record {
    case .began(let beginning): try write(beginning)
    case .counted(let count):
      try statement("UPDATE run SET steps = ? WHERE id = ?").bind(1, count).bind(2, number).run()
    case .started(let key, let time): try write(key, startedAt: time)
    case .running(let step, let role, let time):
      try write(role, startedAt: time, of: try stepNumber(of: step))
    case .command(let step, let command): try write(command, of: try stepNumber(of: step))
    case .published(let step, let outputs): try write(outputs, of: try stepNumber(of: step))
    case .settled(let key, let settled):
      if settled.takenOver == .kept { try keep(key, settled) } else { try write(key, settled) }
    case .forgotten(let step): try forget(try stepNumber(of: step))
    case .reopened(let name):
      let step = try stepNumber(of: name)
      try forget(step)
      for table in ["result", "output"] {
        try statement("DELETE FROM \(table) WHERE run = ? AND step = ?")
          .bind(1, number).bind(2, step).run()
      }
    case .changed(let change): try write(change)
    case .placed(let step, let role, let place):
      try write(place, of: try stepNumber(of: step), role)
    case .finished(let end, let time, let tally): try write(end, at: time, tally)
    case .spoiled(let status, let stop):
      try statement("UPDATE run SET exit_status = ?, stop = ? WHERE id = ?")
        .bind(1, Int(status)).bind(2, stop).bind(3, number).run()
    }
  }

  private func write(_ beginning: RunBeginning) throws(DatabaseFailure) {
    let masker = run.masker
    try statement(
      """
      INSERT INTO run(name, pipeline, file, request, resumed, started, host, processors, process,
        cookie, mark, steps) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    )
    .bind(1, beginning.runID).bind(2, masker?.mask(run.plan.name) ?? run.plan.name)
    .bind(3, run.request.file)
    .bind(4, run.request.json { text in masker?.finds(in: text) ?? false })
    .bind(5, run.resumption?.runNumber).bind(6, Int(beginning.clock.wallTime / 1000))
    .bind(7, beginning.host.name).bind(8, beginning.host.processorCount)
    .bind(9, Int(beginning.processID)).bind(10, beginning.marks.cookie)
    .bind(11, beginning.marks.mark)
    .bind(12, run.stepCount).run()
    number = database.lastRow
    if let trace = beginning.trace { try database.write(.trace, trace.recorded, ofRun: number) }
    if let workspace = run.request.workspace {
      try database.write(.workspace, workspace, ofRun: number)
    }
    if let submission = run.request.submission {
      try database.write(.submission, submission, ofRun: number)
    }
    if let earlier = run.unplanned?.run { try database.addRepetition(of: earlier, by: number) }
    if let earlier = run.resumption?.earlier {
      try database.takeOver(earlier.number, earlier.successors, by: number)
    }
  }

  private func write(_ key: StepIdentity, startedAt time: Nanoseconds) throws(DatabaseFailure) {
    let step = try stepNumber(of: key)
    try forget(step)
    try write(ResultRow(key, startedAt: time), of: step)
  }

  /// Removes what was taken over from the run that is resumed.
  private func forget(_ step: Int) throws(DatabaseFailure) {
    guard run.resumption != nil else { return }
    for table in ["result", "output"] {
      try statement("DELETE FROM \(table) WHERE run = ? AND step = ?")
        .bind(1, -number).bind(2, step).run()
    }
  }

  /// Gives a result that was taken over to this run. One that was recorded as that of a group, because it stood for
  /// instances, and stands for none now, gets the outcome that it has by itself.
  private static let keeping = """
    UPDATE result SET run = ?, place = ?,
      outcome = \(RecordedOutcome.keeping(marks: "?3", orBecoming: "?4")) WHERE run = ? AND step = ?
    """

  /// Makes the result that was taken over for a step the result of this run.
  private func keep(_ key: StepIdentity, _ settled: Settled) throws(DatabaseFailure) {
    let step = try stepNumber(of: key)
    try statement(Self.keeping)
      .bind(1, number).bind(2, key.place).bind(3, settled.outcome.marks)
      .bind(4, settled.outcome.number).bind(5, -number).bind(6, step).run()
    try statement("UPDATE output SET run = ? WHERE run = ? AND step = ?")
      .bind(1, number).bind(2, -number).bind(3, step).run()
  }

  private func write(_ row: ResultRow, of step: Int) throws(DatabaseFailure) {
    result.bind(1, number).bind(2, step)
    row.bind(to: result)
    try result.run()
  }

  private func write(_ key: StepIdentity, _ settled: Settled) throws(DatabaseFailure) {
    let step = try stepNumber(of: key)
    if settled.takenOver == .forgotten { try forget(step) }
    try write(ResultRow(key, settled), of: step)
    steps[key.name] = nil
  }

  /// Writes the row of a command that starts. It has no duration until the command has ended.
  private func write(
    _ role: CommandRole, startedAt time: Nanoseconds, of step: Int
  ) throws(DatabaseFailure) {
    try statement("INSERT OR REPLACE INTO command(run, step, role, started) VALUES(?, ?, ?, ?)")
      .bind(1, number).bind(2, step).bind(3, role.name).bind(4, Int(time / 1000)).run()
  }

  private func write(_ command: RecordedCommand, of step: Int) throws(DatabaseFailure) {
    let end = RecordedEnd(command.end)
    try statement(
      """
      INSERT OR REPLACE INTO command(run, step, role, started, duration, status, detail, processor,
        memory, output) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    )
    .bind(1, number).bind(2, step).bind(3, command.role.name)
    .bind(4, Int(command.start / 1000)).bind(5, end.duration)
    .bind(6, end.status).bind(7, end.detail).bind(8, end.processor).bind(9, end.memory)
    .bind(10, end.output).run()
  }

  /// Values that hold a secret are not kept, only that there are such values.
  private func write(_ outputs: [PublishedOutput], of step: Int) throws(DatabaseFailure) {
    let statement = try statement(
      "INSERT OR REPLACE INTO output(run, step, name, value) VALUES(?, ?, ?, ?)")
    for output in outputs {
      try statement.bind(1, number).bind(2, step).bind(3, output.name)
        .bind(4, output.isMasked ? nil : output.json).run()
    }
  }

  private func write(
    _ runEnd: RunEnd, at time: Nanoseconds, _ tally: Tally
  ) throws(DatabaseFailure) {
    try end.bind(1, Int(time / 1000)).bind(2, Int(runEnd.exitStatus)).bind(3, tally.stop)
      .bind(4, tally.ok).bind(5, tally.failed).bind(6, tally.allowed).bind(7, tally.kept)
      .bind(8, tally.logBytes).bind(9, tally.steps).bind(10, number).run()
    if let passedOn = tally.passedOn {
      try database.write(.passedOn, passedOn, ofRun: number)
    }
    // Results that were taken over for steps that are gone are of no use any more. With a selection, they may be those
    // of instances of a matrix that was not looked at.
    if runEnd.exitStatus == 0, !runEnd.wasLeft, run.resumption?.foreseen.isOfAll == true {
      try database.removeTakenOver(by: [number])
    }
  }

  private func stepNumber(of key: StepIdentity) throws(DatabaseFailure) -> Int {
    if steps[key.name] == nil { try numberSteps(around: key.place) }
    return try stepNumber(of: key.name)
  }

  /// Finds or adds the steps that stand around one in the plan. The pages of their table are so written
  /// in few of the many transactions of a run.
  private func numberSteps(around place: Int) throws(DatabaseFailure) {
    let blockSize = 64
    let start = place / blockSize * blockSize
    guard place >= 0, place < run.plan.steps.count else { return }
    for index in start..<min(start + blockSize, run.plan.steps.count) {
      _ = try stepNumber(of: run.name(run.plan.steps[index].id, of: index))
    }
  }

  /// Few runs are changed while they go on, so the table is made when the first of them is.
  private func write(_ change: RecordedChange) throws(DatabaseFailure) {
    try database.execute(Schema.changes)
    try statement("INSERT INTO change(run, at, user, action, words) VALUES(?, ?, ?, ?, ?)")
      .bind(1, number).bind(2, change.time).bind(3, change.user).bind(4, change.action)
      .bind(5, change.words).run()
  }

  /// Few runs have commands elsewhere, so this table is made when there is the first.
  private func write(
    _ place: CommandPlacement, of step: Int, _ role: CommandRole
  ) throws(DatabaseFailure) {
    if !hasPlacements { try database.execute(Schema.placements) }
    hasPlacements = true
    try statement(
      "INSERT OR REPLACE INTO placement(run, step, role, job, node, reason) VALUES(?, ?, ?, ?, ?, ?)"
    )
    .bind(1, number).bind(2, step).bind(3, role.name).bind(4, place.job).bind(5, place.node)
    .bind(6, place.reason).run()
  }

  private func stepNumber(of name: String) throws(DatabaseFailure) -> Int {
    if let known = steps[name] { return known }
    let isKnown = try findStep.bind(1, name).next()
    let found = isKnown ? try findStep.number(0) : nil
    findStep.reset()
    if found == nil { try addStep.bind(1, name).run() }
    let number = found ?? database.lastRow
    steps[name] = number
    return number
  }

  private func statement(_ text: String) throws(DatabaseFailure) -> Statement {
    if let known = statements[text] { return known }
    let statement = try database.prepare(text)
    statements[text] = statement
    return statement
  }
}
