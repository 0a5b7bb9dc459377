// A database whose damage is found only after it was opened.

import Diagnostics
import Foundation
import Plans
import RunFiles
import Scheduling
import Testing

@testable import State

struct `Damage that is found later` {
  private let place = StatePlace()

  /// The marks of suspected files.
  private var marks: [String] { place.files.filter { $0.hasPrefix("state.db.suspect-") } }
  private var aside: [String] { place.files.filter { $0.hasPrefix("state.db.damaged-") } }

  /// A database in which one number of a run is none that oprun has written.
  private func makeDamaged() throws {
    _ = try StateStore.make(in: place.folder)
    try place.sql(
      "INSERT INTO run(name, pipeline, request, started, host, processors, process, cookie, steps)"
        + " VALUES('r', 'p.yml', '{}', 9223372036854775807, 'here', 2, 1, '', 1)")
  }

  /// Lets the file have all that is recorded, and its log nothing.
  private func emptyLog() throws { try place.sql("PRAGMA wal_checkpoint(TRUNCATE)") }

  /// Writes zeros over the page at which a table begins.
  private func damage(_ table: String) throws {
    try emptyLog()
    let database = try Database("\(place.path)/state.db", .writing)
    let page = try #require(
      try database.number("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'"))
    let size = try #require(try database.number("PRAGMA page_size"))
    let file = try #require(FileHandle(forWritingAtPath: "\(place.path)/state.db"))
    try file.seek(toOffset: UInt64((page - 1) * size))
    try file.write(contentsOf: Data(count: size))
    try file.close()
  }

  @Test func `by a reader lets the next run put the file aside`() throws {
    try makeDamaged()
    let reader = try #require(try StateStore.find(in: place.folder))
    #expect(throws: StoreFailure.self) { try reader.runs() }
    #expect(marks.count == 1)
    #expect(aside.isEmpty)
    let store = try #require(try StateStore.findForRun(named: nil, in: place.folder))
    #expect(try store.runNames() == [])
    #expect(store.notices.count == 1)
    #expect(marks.isEmpty)
    #expect(!aside.isEmpty)
    #expect(try StateStore.make(in: place.folder).notices == [])
  }

  private let plan: Plan = {
    var graph = Graph()
    graph.append(OperationSpec())
    let step = PlannedStep(
      id: "a", span: Span(start: 0, end: 0), work: .known(.script("true")),
      settings: StepSettings())
    return Plan(
      name: "p", sources: SourceMap(), steps: [step], graph: graph,
      queues: [QueueSpec(name: "default", width: 2)], pools: [], failurePolicy: .continue,
      timeout: nil, settings: StepSettings())
  }()

  @Test func `in the middle of a run lets the next one put the file aside`() throws {
    let (recorder, beginning) = try place.recorder(of: plan, named: "20260402-101502-k3")
    recorder.observe(RunEvent(at: 0, beginning))
    try recorder.endTurns(at: 0)
    try damage("output")
    let output = PublishedOutput(name: "v", json: "1")
    recorder.observe(RunEvent(at: 1, .published(OperationID(0), [output])))
    let failure = #expect(throws: ObserverFailure.self) { try recorder.endTurn(at: 1) }
    #expect(
      failure?.message.hasSuffix("; the next run moves the file aside and starts a new history")
        == true)
    #expect(try StateStore.make(in: place.folder, for: "20260402-101502-k4").notices.count == 1)
    #expect(!aside.isEmpty)
  }

  @Test func `is looked for when somebody has found some, and nothing happens if there is none`()
    throws
  {
    let number = try #require(try StateStore.make(in: place.folder).number)
    try place.sql("INSERT INTO step(name) VALUES('unit')")
    try place.write("", to: "state.db.suspect-\(number)")
    let store = try StateStore.make(in: place.folder)
    #expect(try store.database.text("SELECT name FROM step") == "unit")
    #expect(marks.isEmpty)
    #expect(aside.isEmpty)
  }

  @Test func `waits as long as another run needs the database`() throws {
    try makeDamaged()
    let reader = try #require(try StateStore.find(in: place.folder))
    #expect(throws: StoreFailure.self) { try reader.runs() }
    let name = "20260402-101502-k3"
    let run = try #require(place.makeRun(name))
    run.lock()
    let store = try StateStore.make(in: place.folder, for: "20260402-101502-k4")
    #expect(try store.database.text("SELECT name FROM run") == "r")
    #expect(marks.count == 1)
    #expect(aside.isEmpty)
    // To the run itself it is no other one.
    #expect(try StateStore.make(in: place.folder, for: name).runNames() == [])
  }

  /// Lets nothing of the database be read that is not in memory.
  private func makeUnreadable() throws {
    let path = "\(place.path)/state.db"
    let writing = open(path, O_WRONLY | O_CLOEXEC)
    let listing = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    for file in listing.compactMap({ Int32($0) }) where file != writing {
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/\(file)")
      if target == path { dup2(writing, file) }
    }
    close(writing)
  }

  /// What SQLite says of a page depends on what is in it: a part of a table, of a large value, or nothing any more.
  @Test(arguments: [
    "INSERT INTO step(name) VALUES('unit')",
    "INSERT INTO step(name) VALUES(hex(zeroblob(10000)))",
    "INSERT INTO step(name) VALUES(hex(zeroblob(10000))); DELETE FROM step",
  ])
  func `is none if a page cannot be read`(_ content: String) throws {
    _ = try StateStore.make(in: place.folder)
    try place.sql(content)
    try emptyLog()
    let store = try #require(try StateStore.find(in: place.folder))
    try place.write("", to: "state.db.suspect-\(try #require(store.number))")
    try makeUnreadable()
    let failure = #expect(throws: StoreFailure.self) { try store.examineIfMarked { false } }
    #expect(failure?.isDamage == false)
    #expect(failure?.message.hasPrefix("cannot read '\(place.path)/state.db': ") == true)
    #expect(failure?.message.contains("\n") == false)
    #expect(marks.count == 1)
    // The probe can see: what is damaged would have been replaced.
    #expect(DatabaseFailure.unsound("wrong # of entries in index i").kind == .damaged)
  }

  @Test func `waits if another run has begun while the database was read`() throws {
    try makeDamaged()
    let reader = try #require(try StateStore.find(in: place.folder))
    #expect(throws: StoreFailure.self) { try reader.runs() }
    var answers = [false, true]
    try reader.examineIfMarked { answers.removeFirst() }
    #expect(answers.isEmpty)
    #expect(marks.count == 1)
    let failure = #expect(throws: StoreFailure.self) { try reader.examineIfMarked { false } }
    #expect(failure?.isDamage == true)
  }

  @Test(arguments: [false, true])
  func `by the first records of a run lets it put the file aside, unless another run needs it`(
    isNeeded: Bool
  ) throws {
    _ = try StateStore.make(in: place.folder)
    try damage("step")
    let other = try #require(place.makeRun("20260402-101502-k2"))
    if isNeeded { other.lock() }
    let (recorder, beginning) = try place.recorder(of: plan, named: "20260402-101502-k3")
    recorder.observe(RunEvent(at: 0, beginning))
    recorder.observe(RunEvent(at: 0, .started(OperationID(0), .attempt(1))))
    let failure: ObserverFailure?
    do throws(ObserverFailure) {
      try recorder.endTurns(at: 0)
      failure = nil
    } catch {
      failure = error
    }
    #expect((failure != nil) == isNeeded)
    #expect(aside.isEmpty == isNeeded)
    #expect(marks.count == (isNeeded ? 1 : 0))
    #expect(recorder.notices.count == (isNeeded ? 0 : 1))
    let names = try StateStore.make(in: place.folder, for: "20260402-101502-k3").runNames()
    #expect(names == (isNeeded ? [] : ["20260402-101502-k3"]))
  }
}
