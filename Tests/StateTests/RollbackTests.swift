// The database where several machines may use it: no log, nothing in shared memory, and nobody waits for ever.

import Foundation
import RunFiles
import TestSupport
import Testing

@testable import State

@Suite(.blocking) struct `A database on a network file system` {
  private static let network = FileSystem(network: "NFS")
  private let place = StatePlace(on: network)

  private func add(_ name: String, to store: StateStore) throws {
    try store.database.execute("INSERT INTO step(name) VALUES('\(name)')")
  }

  private func names(_ database: Database) throws -> String? {
    try database.text("SELECT group_concat(name) FROM (SELECT name FROM step ORDER BY name)")
  }

  @Test func `has a rollback journal, and every commit waits for the disk`() throws {
    let store = try StateStore.make(in: place.folder)
    #expect(store.journal == .rollback)
    #expect(place.files == ["state.db"])
    try store.beginSyncing()
    try add("unit", to: store)
    #expect(place.files == ["state.db", "state.db-journal"])
    #expect(try store.database.number("PRAGMA synchronous") == 2)
    #expect(try store.database.text("PRAGMA journal_mode") == "persist")
    try store.makeDurable()
    #expect(try store.database.number("PRAGMA synchronous") == 2)
    #expect(store.lostFile == nil)
    #expect(try names(try #require(try StateStore.find(in: place.folder)).database) == "unit")
    #expect(place.mode(of: "state.db-journal") == 0o600)
  }

  @Test func `holds no lock between transactions`() throws {
    let store = try StateStore.make(in: place.folder)
    try add("unit", to: store)
    // Another process sees what this one has locked.
    let other = Process()
    other.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    other.arguments = ["sqlite3", "\(place.path)/state.db", "BEGIN EXCLUSIVE; ROLLBACK"]
    try other.run()
    other.waitUntilExit()
    #expect(other.terminationStatus == 0)
  }

  @Test func `takes over what the log of one has that was copied there`() throws {
    do {
      let store = try StateStore.make(in: place.folder(on: nil))
      #expect(store.journal == .log)
      try add("logged", to: store)
    }
    #expect(place.files == ["state.db", "state.db-shm", "state.db-wal"])
    #expect(StateStore.look(in: place.folder) == nil)
    let store = try #require(try StateStore.find(in: place.folder))
    #expect(store.journal == .rollback)
    #expect(try names(store.database) == "logged")
    #expect(!place.files.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") })
    try add("more", to: store)
    #expect(try names(try #require(StateStore.look(in: place.folder)).database) == "logged,more")
  }

  @Test func `leaves the log of one alone that is open`() throws {
    let store = try StateStore.make(in: place.folder(on: nil))
    try add("logged", to: store)
    let failure = #expect(throws: DatabaseFailure.self) {
      _ = try StateStore.open(place.folder, patience: 0)
    }
    #expect(failure?.kind == .locked)
    try add("more", to: store)
    #expect(try names(store.database) == "logged,more")
    #expect(store.lostFile == nil)
  }

  @Test func `keeps its journal on the disk of the machine that lends it to the others`() throws {
    do { try add("unit", to: try StateStore.make(in: place.folder)) }
    let local = place.folder(on: nil)
    #expect(StateStore.journal(in: local) == .rollback)
    let store = try StateStore.make(in: local)
    #expect(store.journal == .rollback)
    try add("more", to: store)
    #expect(try store.database.text("PRAGMA journal_mode") == "persist")
    #expect(try store.database.number("PRAGMA synchronous") == 2)
    #expect(!place.files.contains("state.db-wal"))
    let seen = try #require(StateStore.look(in: local))
    #expect(try names(seen.database) == "more,unit")
  }

  @Test func `is not looked at while it is half written`() throws {
    let store = try StateStore.make(in: place.folder)
    try add("unit", to: store)
    try store.database.execute("BEGIN EXCLUSIVE; INSERT INTO step(name) VALUES('half')")
    let reader = try Database("\(place.path)/state.db", .reading)
    reader.setPatience(false)
    #expect(throws: DatabaseFailure.self) { try names(reader) }
    try store.database.execute("COMMIT")
    #expect(try names(reader) == "half,unit")
  }

  @Test func `has no transaction before its readers are done`() throws {
    let store = try StateStore.make(in: place.folder)
    for name in ["a", "b", "c"] { try add(name, to: store) }
    let reader = try Database("\(place.path)/state.db", .reading)
    let rows = try reader.prepare("SELECT name FROM step")
    #expect(try rows.next())
    store.database.setPatience(false)
    let failure = #expect(throws: DatabaseFailure.self) { try add("d", to: store) }
    #expect(failure?.kind == .locked)
    #expect(try rows.next())
    rows.reset()
    try add("d", to: store)
    #expect(try names(reader) == "a,b,c,d")
  }

  @Test func `is replaced with its journal if it is damaged`() throws {
    try place.write(String(repeating: "#", count: 5000), to: "state.db")
    try place.write("its journal", to: "state.db-journal")
    let damaged = StateStore.status(of: "state.db", in: place.folder)?.st_ino
    let store = try StateStore.replace(damaged, in: place.folder)
    try add("unit", to: store)
    #expect(store.journal == .rollback)
    let aside = try #require(
      place.files.first { $0.contains("damaged") && $0.hasSuffix("journal") })
    #expect(place.bytes(of: aside) == Data("its journal".utf8))
    #expect(try names(try #require(try StateStore.find(in: place.folder)).database) == "unit")
  }

  @Test func `is refused where the locks of files are not seen elsewhere, or there are none`() {
    let local = StateFolder(
      owning: open(place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: "state",
      on: FileSystem(network: "NFS", lockLimit: "mounted with 'nolock'"))
    #expect(
      StateStore.refusal(in: local)
        == StoreFailure(
          "locks in the state directory 'state' do not reach other machines (NFS, mounted with 'nolock'), "
            + "and its database would not be safe",
          help:
            "ask for another mount, or choose another directory with --state-dir or OPRUN_STATE_DIR"
        ))
    let none = StateFolder(
      owning: open(place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: "state",
      on: FileSystem(network: "Lustre"), lockFault: ENOSYS)
    #expect(
      StateStore.refusal(in: none)
        == StoreFailure(
          "no file in the state directory 'state' can be locked (Lustre): function not implemented",
          help:
            "ask for a mount with the option 'flock', or choose another directory with --state-dir or OPRUN_STATE_DIR"
        ))
    #expect(StateStore.placeRefusal(place.folder) == nil)
    #expect(place.files.isEmpty)
  }

  @Test func `gives its records time to gather where a commit takes long`() {
    var pace = RecordingPace()
    pace.noteWrite(at: 0, took: 40_000_000, .log)
    #expect(pace.nextWrite == 100_000_000)
    #expect(!pace.isWorthAJournal)
    pace.noteWrite(at: 0, took: 40_000_000, .rollback)
    #expect(pace.nextWrite == 800_000_000)
    #expect(pace.isWorthAJournal)
    pace.noteWrite(at: 0, took: 1_000_000, .rollback)
    #expect(pace.nextWrite == 100_000_000)
    pace.noteWrite(at: 0, took: 1_000_000_000, .rollback)
    #expect(pace.nextWrite == 2_000_000_000)
  }
}
