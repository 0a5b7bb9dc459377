// The database as one run uses it: opened early, written later, replaced if it turns out to be damaged.

import Diagnostics
import RunFiles
import Scheduling

/// The database to which the recorder of a run writes.
final class RunDatabase {
  private let run: RunToRecord
  private var opened: (store: StateStore, writer: RunWriter)?
  private var hasFirstRecords = false
  /// Messages for people about how it was opened; empty until it has the run.
  private(set) var notices: [String] = []
  /// How long the run was held up because another process had the lock.
  private(set) var standstill: Nanoseconds = 0

  init(of run: RunToRecord) { self.run = run }

  /// The open database, if it has the first records of the run.
  var store: StateStore? { hasFirstRecords ? opened?.store : nil }

  /// The number of the run; 0 before the database has it.
  var runNumber: Int { opened?.writer.number ?? 0 }

  /// Opens it without writing anything, unless it is open.
  func open() throws(StoreFailure) {
    if opened == nil { try open(toWrite: nil) }
  }

  /// Writes all records, or none. The first ones wait for other processes in any case.
  func write(_ records: [Record], isPatient: Bool) throws(StoreFailure) {
    guard hasFirstRecords, let writer = opened?.writer else { return try open(toWrite: records) }
    try write(records, with: writer, isPatient: isPatient)
  }

  private func open(toWrite first: [Record]?) throws(StoreFailure) {
    guard let folder = run.directory.state else {
      preconditionFailure("a run that is recorded has a state directory")
    }
    let store: StateStore
    if let known = opened?.store ?? run.store {
      store = known
    } else {
      store = try StateStore.make(in: folder, for: run.directory.name)
    }
    do throws(StoreFailure) {
      try use(store, toWrite: first)
    } catch {
      // Damage may be found only when something is written. A file that other runs need stays all the same.
      guard error.isDamage, run.resumption == nil,
        !store.hasRunInProgress(besides: run.directory.name)
      else { throw error }
      opened = nil
      try use(try StateStore.replace(store.number, in: folder), toWrite: first)
    }
  }

  private func use(
    _ store: StateStore, toWrite first: [Record]?
  ) throws(StoreFailure) {
    let writer: RunWriter
    if let known = opened?.writer { writer = known } else { writer = try makeWriter(store) }
    opened = (store, writer)
    guard let first else { return }
    try write(first, with: writer, isPatient: true)
    try store.beginSyncing()
    if run.isDurable { try store.makeDurable() }
    notices = store.notices
    hasFirstRecords = true
  }

  private func makeWriter(_ store: StateStore) throws(StoreFailure) -> RunWriter {
    try store.perform("open") { database throws(DatabaseFailure) in
      try RunWriter(database, store.journal, store.folder, run)
    }
  }

  /// Writes the records, and measures how long another process made it wait.
  private func write(
    _ records: [Record], with writer: RunWriter, isPatient: Bool
  ) throws(StoreFailure) {
    do throws(StoreFailure) {
      return try writer.write(records, isPatient: false)
    } catch {
      guard error.isLocked, isPatient else { throw error }
    }
    let start = monotonicTime()
    defer { standstill += monotonicTime() - start }
    try writer.write(records, isPatient: true)
  }
}
