// The journal of a run: rows of the table `result` that the database has not got yet. A line costs far less than a
// transaction, and outlives oprun as well. docs/design-state.md, "The journal".

import Diagnostics
import Glibc
package import RunFiles

/// Adds to the journal of the run that this process performs.
final class RunJournal {
  static let fileName = "@journal"

  private let directory: RunDirectory
  private let file: Int32
  private var generation = 1
  private var position = 0
  private var lines: [UInt8] = []
  /// Another run has taken it.
  private var isTaken = false

  /// Nil if the file cannot be made, or is there: then another run goes on with this one.
  init?(in directory: RunDirectory) {
    guard let file = try? directory.make(Self.fileName, replacing: false) else { return nil }
    self.directory = directory
    self.file = file
  }

  deinit { close(file) }

  /// Adds the rows of records; false if one of them has none, it cannot be written, or another run has taken it: then
  /// none of them is there.
  func add(_ records: ArraySlice<Record>) -> Bool {
    if isTaken { return false }
    lines.removeAll(keepingCapacity: true)
    for record in records {
      guard let row = ResultRow(journaling: record) else { return false }
      row.write(to: &lines, generation: generation)
    }
    guard pwrite(file, lines, lines.count, off_t(position)) == lines.count else { return false }
    // Asked after writing: what was written before somebody took it is found there.
    isTaken = !hasName(file)
    if isTaken { return false }
    position += lines.count
    return true
  }

  /// Empties it, now that the database has everything. What is behind the first line has an old generation from
  /// now on.
  func clear() {
    guard position > 0 else { return }
    pwrite(file, "\n", 1, 0)
    position = 0
    generation += 1
  }

  /// Removes the file, at the end of the run.
  func remove() { directory.remove(Self.fileName) }

  /// The rows in the journal of a run; empty if it has none.
  static func rows(in directory: RunDirectory) -> [ResultRow] {
    let file = directory.open(fileName)
    guard file >= 0 else { return [] }
    defer { close(file) }
    return rows(in: file)
  }

  /// Reads up to the first line that is not whole. A file that cannot be read counts as empty: the journal only adds to
  /// the database.
  fileprivate static func rows(in file: Int32) -> [ResultRow] {
    let text = String(decoding: readToEnd(file) ?? [], as: UTF8.self)
    var rows: [ResultRow] = []
    var first: Int?
    for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      guard let (row, generation) = ResultRow.reading(line: line),
        generation == first ?? generation
      else { break }
      first = generation
      rows.append(row)
    }
    return rows
  }
}

extension StateStore {
  /// Takes what journals have into the database, so that everybody finds it there: those of runs that died, and of
  /// runs in progress. A run may do the same meanwhile, and has the last word.
  package func takeInJournals() throws(StoreFailure) {
    let names = try perform { database throws(DatabaseFailure) in
      let runs = try database.prepare("SELECT id, name FROM run WHERE exit_status IS NULL")
      var names: [(number: Int, name: String)] = []
      while try runs.next() {
        if let number = try runs.number(0), let name = runs.text(1) { names.append((number, name)) }
      }
      return names
    }
    for (number, name) in names {
      guard let directory = folder.run(named: name) else { continue }
      try takeIn(RunJournal.rows(in: directory), of: number)
    }
  }

  /// Takes the journal away from a run that is resumed, and what it has into the database. A machine that has lost its
  /// locks may still perform the run: it has to write to the database then, where it finds out that another run goes on.
  package func takeJournal(of run: String, in directory: RunDirectory) throws(StoreFailure) {
    // Somebody has emptied a bare directory; a new file in it would hide that.
    guard let run = try self.run(named: run), run.exitStatus == nil, !directory.isBare else {
      return
    }
    let file = directory.open(RunJournal.fileName)
    defer { if file >= 0 { close(file) } }
    // Another one that cannot be made, because it is there.
    let name = "\(RunJournal.fileName)-taken"
    guard let empty = try? directory.make(name) else { return }
    close(empty)
    renameat(directory.descriptor, name, directory.descriptor, RunJournal.fileName)
    if file >= 0 { try takeIn(RunJournal.rows(in: file), of: run.number) }
  }

  private func takeIn(_ rows: [ResultRow], of number: Int) throws(StoreFailure) {
    if rows.isEmpty { return }
    try perform("write") { database throws(DatabaseFailure) in
      try database.transaction { () throws(DatabaseFailure) in
        for row in rows { try database.complete(row, of: number) }
      }
    }
  }
}

extension Database {
  /// Writes a row unless there is a later one of the step. What the run had taken over for the step goes: it has begun.
  fileprivate func complete(_ row: ResultRow, of run: Int) throws(DatabaseFailure) {
    try prepare("INSERT OR IGNORE INTO step(name) VALUES(?)").bind(1, row.step).run()
    for table in ["result", "output"] {
      try prepare(
        "DELETE FROM \(table) WHERE run = ? AND step = (SELECT id FROM step WHERE name = ?)"
      ).bind(1, -run).bind(2, row.step).run()
    }
    let values = ResultRow.columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    let statement = try prepare(
      """
      \(ResultRow.insertion("(SELECT id FROM step WHERE name = ?2)"))
      ON CONFLICT(run, step) DO UPDATE SET \(values)
      WHERE result.outcome IS NULL AND excluded.outcome IS NOT NULL
      """)
    statement.bind(1, run).bind(2, row.step)
    row.bind(to: statement)
    try statement.run()
  }
}

extension ResultRow {
  /// The statement that adds a row: ?1 is the run, `step` the number of the step, and `bind` sets the rest.
  static func insertion(_ step: String, _ verb: String = "INSERT") -> String {
    let numbers = list(of: columns.indices.map { "?\($0 + 3)" })
    return "\(verb) INTO result(run, step, \(columnList)) VALUES(?1, \(step), \(numbers))"
  }

  /// Sets all but the run and the step.
  func bind(to statement: Statement) {
    statement.bind(3, place).bind(4, outcome).bind(5, cause).bind(6, started).bind(7, duration)
      .bind(8, attempts).bind(9, status).bind(10, detail).bind(11, processor).bind(12, memory)
      .bind(13, output).bind(14, written).bind(15, resolved)
  }
}
