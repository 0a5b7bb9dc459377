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

  /// Writes zeros over the page at which a table begins.
  private func damage(_ table: String) throws {
    let database = try Database("\(place.path)/state.db", .writing)
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
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

  @Test func `in the middle of a run lets the next one put the file aside`() throws {
    var graph = Graph()
    graph.append(OperationSpec())
    let step = PlannedStep(
      id: "a", span: Span(start: 0, end: 0), work: .known(.script("true")),
      settings: StepSettings())
    let plan = Plan(
      name: "p", sources: SourceMap(), steps: [step], graph: graph,
      queues: [QueueSpec(name: "default", width: 2)], pools: [], failurePolicy: .continue,
      timeout: nil, settings: StepSettings())
    let (recorder, beginning) = try place.recorder(of: plan, named: "20260402-101502-k3")
    recorder.observe(RunEvent(at: 0, beginning))
    try recorder.endTurn(at: 0)
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
}
