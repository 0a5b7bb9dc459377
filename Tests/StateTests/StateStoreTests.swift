// The database as a file: made, migrated, refused, replaced.

import Foundation
import Plans
import RunFiles
import Scheduling
import Testing

@testable import State

struct StateStoreTests {
  private let place = StatePlace()

  @Test func `there is none until a run is recorded`() throws {
    #expect(try StateStore.find(in: place.folder) == nil)
    _ = try StateStore.make(in: place.folder)
    #expect(try StateStore.find(in: place.folder)?.runNames() == [])
    #expect(place.mode(of: "state.db") == 0o600)
    #expect(place.files == ["state.db", "state.db-shm", "state.db-wal"])
  }

  @Test func `another machine, whose process has the same number, can make one at the same time`()
    throws
  {
    let other = "state.db.\(getpid()).new"
    try place.write("half of it", to: other)
    _ = try StateStore.make(in: place.folder)
    #expect(place.bytes(of: other) == Data("half of it".utf8))
    #expect(place.files.count == 4)
  }

  @Test func `a new one waits for no disk until its first records are written`() throws {
    let new = try StateStore.make(in: place.folder)
    #expect(try new.database.number("PRAGMA synchronous") == 0)
    try new.beginSyncing()
    #expect(try new.database.number("PRAGMA synchronous") == 1)
    let again = try StateStore.make(in: place.folder)
    #expect(try again.database.number("PRAGMA synchronous") == 1)
  }

  @Test func `the log is copied into a file that was not written for an hour`() throws {
    for (age, copied) in [(3000, 0), (4000, 1), (-4000, 1)] {
      let store = try StateStore.make(in: place.folder)
      try store.database.execute("DELETE FROM step; INSERT INTO step(name) VALUES('unit')")
      #expect(utimensat(AT_FDCWD, "\(place.path)/state.db", modified(before: age), 0) == 0)
      store.copyLogNowAndThen()
      let file = try Database("\(place.path)/state.db", .readingUnchanged)
      #expect(try file.number("SELECT count(*) FROM step") == copied)
    }
  }

  private func modified(before seconds: Int) -> [timespec] {
    [timespec](repeating: timespec(tv_sec: time(nil) - seconds, tv_nsec: 0), count: 2)
  }

  @Test func `a file that its name does not lead to any more is noticed`() throws {
    for name in ["state.db", "state.db-wal"] {
      let store = try StateStore.make(in: place.folder)
      #expect(store.lostFile == nil)
      try place.write("another", to: "other")
      #expect(rename("\(place.path)/other", "\(place.path)/\(name)") == 0)
      #expect(store.lostFile == name)
      unlink("\(place.path)/\(name)")
      #expect(store.lostFile == name)
    }
  }

  @Test func `a database of a newer oprun is refused, and left as it is`() throws {
    _ = try StateStore.make(in: place.folder)
    try place.sql("PRAGMA user_version = 7")
    let before = place.bytes(of: "state.db")
    let refusal = StoreFailure(
      "'\(place.path)/state.db' was written by a newer oprun: its format has version 7, "
        + "this oprun knows version 1",
      help: "use the newer oprun, or another directory with --state-dir")
    #expect(throws: refusal) { try StateStore.find(in: place.folder) }
    #expect(throws: refusal) { try StateStore.make(in: place.folder) }
    #expect(place.bytes(of: "state.db") == before)
  }

  @Test func `a newer oprun migrates an older database, and keeps a copy of it`() throws {
    _ = try StateStore.make(in: place.folder)
    try place.sql("INSERT INTO step(name) VALUES('unit')")
    let migrations = ["ALTER TABLE step ADD COLUMN colour TEXT DEFAULT 'red'"]
    let store = try StateStore.make(in: place.folder, migrations: migrations)
    #expect(try store.database.number("PRAGMA user_version") == 2)
    #expect(try store.database.text("SELECT name || colour FROM step") == "unitred")
    #expect(
      store.notices == [
        "\(place.path)/state.db now has the format of this oprun (version 2); "
          + "\(place.path)/state.db.v1 has the old format"
      ])
    let copy = try Database("\(place.path)/state.db.v1", .reading)
    #expect(try copy.number("PRAGMA user_version") == 1)
    #expect(try copy.text("SELECT name FROM step") == "unit")
    #expect(throws: StoreFailure.newer(2, than: 1, place.folder)) {
      try StateStore.find(in: place.folder)
    }
  }

  @Test func `a migration that fails changes nothing`() throws {
    _ = try StateStore.make(in: place.folder)
    let migrations = ["ALTER TABLE step ADD COLUMN colour TEXT", "no such statement"]
    #expect(throws: StoreFailure.self) {
      try StateStore.make(in: place.folder, migrations: migrations)
    }
    #expect(try StateStore.find(in: place.folder)?.database.number("PRAGMA user_version") == 1)
  }

  @Test(arguments: [
    "no database at all, but long enough to be read as one", "SQLite format 3\0xyz",
  ])
  func `what is damaged is put aside, and a new one made`(content: String) throws {
    try place.write(content + String(repeating: "#", count: 5000), to: "state.db")
    try place.write("its log", to: "state.db-wal")
    let store = try StateStore.make(in: place.folder)
    #expect(try store.runNames() == [])
    #expect(store.notices.count == 1)
    let aside = try #require(place.files.first { $0.contains("damaged") && !$0.hasSuffix("wal") })
    #expect(
      store.notices[0].hasSuffix("it is now \(place.path)/\(aside), and a new history starts"))
    #expect(place.bytes(of: aside)?.starts(with: Array(content.utf8)) == true)
  }

  @Test func `what was damaged before is still there after the next damage`() throws {
    for number in 1...3 {
      try place.write("damage \(number)", to: "state.db")
      _ = try StateStore.make(in: place.folder)
    }
    let aside = place.files.filter { $0.contains("damaged") && !$0.hasSuffix("wal") }
    let contents = aside.compactMap { place.bytes(of: $0) }.map {
      String(decoding: $0, as: UTF8.self)
    }
    #expect(contents.sorted() == ["damage 1", "damage 2", "damage 3"])
  }

  @Test func `a file that a power loss left empty is replaced without a word`() throws {
    try place.write("", to: "state.db")
    #expect(try StateStore.make(in: place.folder).notices == [])
    #expect(place.files == ["state.db", "state.db-shm", "state.db-wal"])
  }

  @Test func `looking at one that other programs have closed makes no log`() throws {
    _ = try StateStore.make(in: place.folder)
    try place.sql("INSERT INTO step(name) VALUES('unit'); PRAGMA wal_checkpoint(TRUNCATE)")
    for end in ["wal", "shm"] { unlink("\(place.path)/state.db-\(end)") }
    #expect(try StateStore.look(in: place.folder)?.database.text("SELECT name FROM step") == "unit")
    #expect(place.files == ["state.db"])
  }

  @Test func `what another process has put in the place of a damaged one stays there`() throws {
    try place.write("damage", to: "state.db")
    let damaged = StateStore.status(of: "state.db", in: place.folder)?.st_ino
    let first = try StateStore.replace(damaged, in: place.folder)
    try first.database.execute("INSERT INTO step(name) VALUES('unit')")
    let second = try StateStore.replace(damaged, in: place.folder)
    #expect(first.lostFile == nil)
    #expect(try second.database.number("SELECT count(*) FROM step") == 1)
    #expect(place.files.filter { $0.contains("damaged") }.count == 1)
  }

  @Test func `a lock that somebody has on the directory keeps nobody from a new one`() throws {
    let place = StatePlace()
    try place.write("damaged", to: "state.db")
    let other = open(place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(other) }
    #expect(flock(other, LOCK_EX) == 0)
    _ = try StateStore.make(in: place.folder)
    #expect(place.files.contains { $0.contains("damaged") })
  }

  @Test func `looking at what is damaged changes nothing`() throws {
    try place.write(String(repeating: "#", count: 5000), to: "state.db")
    #expect(throws: StoreFailure.self) { try StateStore.find(in: place.folder) }
    #expect(place.files == ["state.db"])
  }

  @Test func `a new database is what the schema makes`() throws {
    try place.write("", to: "model.db")
    try Schema.make(in: try Database("\(place.path)/model.db", .writing))
    let model = [UInt8](try #require(place.bytes(of: "model.db")))
    if ProcessInfo.processInfo.environment["OPRUN_BLESS"] == "1" { try bless(model) }
    let isCurrent = comparable(model) == EmptyDatabase.withBytes(.log) { comparable(Array($0)) }
    #expect(isCurrent, "run the tests with OPRUN_BLESS=1")
  }

  @Test func `the schema of a new database has what the migrations add`() throws {
    #expect(EmptyDatabase.version == Schema.version)
    try place.write("", to: "model.db")
    let model = try Database("\(place.path)/model.db", .writing)
    try Schema.make(in: model, by: ["ALTER TABLE step ADD COLUMN colour TEXT DEFAULT 'red'"])
    #expect(try model.number("PRAGMA user_version") == 2)
    try model.execute("INSERT INTO step(name) VALUES('unit')")
    #expect(try model.text("SELECT colour FROM step") == "red")
  }

  /// The image may be one of an older version, because nobody has made it anew.
  @Test func `a new database is migrated if its image is older`() throws {
    let migrations = ["ALTER TABLE step ADD COLUMN colour TEXT DEFAULT 'red'"]
    let store = try StateStore.make(in: place.folder, migrations: migrations)
    #expect(try store.database.number("PRAGMA user_version") == 2)
    try store.database.execute("INSERT INTO step(name) VALUES('unit')")
    #expect(try store.database.text("SELECT colour FROM step") == "red")
  }

  /// The bytes without the number of changes and the version of SQLite.
  private func comparable(_ bytes: [UInt8]) -> [UInt8] {
    bytes.enumerated().map { (24..<28).contains($0) || (92..<100).contains($0) ? 0 : $1 }
  }

  private func bless(_ bytes: [UInt8]) throws {
    var lines = ["   "]
    for start in stride(from: 0, to: bytes.count, by: 8) {
      let word = bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let text = word == 0 ? " 0," : " 0x\(String(word, radix: 16)),"
      if lines[lines.count - 1].count + text.count > 100 { lines.append("   ") }
      lines[lines.count - 1] += text
    }
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Sources/State/Store/EmptyDatabase.swift")
    let text = try String(contentsOf: file, encoding: .utf8)
    let head = try #require(text.range(of: "words: [UInt64] = [\n"))
    let tail = try #require(text.range(of: "  ]\n"))
    let content = lines.map { $0 + "\n" }.joined()
    try (text[..<head.upperBound] + content + text[tail.lowerBound...])
      .write(to: file, atomically: false, encoding: .utf8)
  }
}

/// A state directory of a test.
final class StatePlace {
  let path: String
  let folder: StateFolder

  init(on fileSystem: FileSystem? = nil) {
    path = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString)").path
    mkdir(path, 0o700)
    mkdir("\(path)/runs", 0o700)
    folder = Self.open(path, fileSystem)
  }

  private static func open(_ path: String, _ fileSystem: FileSystem?) -> StateFolder {
    let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard let fileSystem else { return StateFolder(owning: folder, path: path) }
    return StateFolder(owning: folder, path: path, on: fileSystem)
  }

  /// The same directory, as if it were on another file system.
  func folder(on fileSystem: FileSystem?) -> StateFolder { Self.open(path, fileSystem) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// What records a run of this plan, and the event with which the run begins.
  func recorder(
    of plan: Plan, named name: String, resuming resumption: Resumption? = nil
  ) throws -> (RunRecorder, RunEvent.Kind) {
    var run = RunToRecord(
      plan: plan, directory: try #require(makeRun(name)),
      request: RunRequest(file: "p.yml", json: "{}"))
    run.resumption = resumption
    let recorder = RunRecorder(run)
    let beginning = RunBeginning(
      runID: name, clock: RunClock(wallTime: 0, monotonicTime: 0),
      host: RunHost(name: "here", processorCount: 1), processID: 1)
    return (recorder, .began(beginning))
  }

  /// The names of the files, sorted.
  var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { $0 != "runs" }
      .sorted()
  }

  func mode(of name: String) -> mode_t {
    var status = stat()
    return lstat("\(path)/\(name)", &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  func bytes(of name: String) -> Data? { FileManager.default.contents(atPath: "\(path)/\(name)") }

  func write(_ text: String, to name: String) throws {
    try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
  }

  func sql(_ text: String) throws { try Database("\(path)/state.db", .writing).execute(text) }

  func makeRun(_ name: String) -> RunDirectory? {
    mkdir("\(path)/runs/\(name)", 0o700)
    return folder.run(named: name)
  }
}

extension RunRecorder {
  /// Ends a turn, and the one at whose end the first records are written at the latest.
  func endTurns(at time: Nanoseconds) throws(ObserverFailure) {
    try endTurn(at: time)
    if let deadline { try endTurn(at: deadline) }
  }
}
