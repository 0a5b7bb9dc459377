// How a run makes the database of a directory that has none: in one piece if it is over soon.

import Diagnostics
import Foundation
import Plans
import RunFiles
import Scheduling
import Testing

@testable import State

struct NewDatabaseTests {
  private let place = StatePlace()
  private let name = "20260402-101502-k3"
  private let a = OperationID(0)

  /// A recorder of a run of one step that has been told that it began and that the step was started.
  private func begun(isDurable: Bool = false) throws -> RunRecorder {
    var graph = Graph()
    graph.append(OperationSpec())
    let step = PlannedStep(
      id: "a", span: Span(start: 0, end: 0), work: .known(.script("true")), settings: StepSettings()
    )
    let plan = Plan(
      name: "test", sources: SourceMap(), steps: [step], graph: graph,
      queues: [QueueSpec(name: "default", width: 2)], pools: [], failurePolicy: .continue,
      timeout: nil, settings: StepSettings())
    var run = RecordedRun(
      plan: plan, directory: try #require(place.makeRun(name)),
      request: RunRequest(file: "p.yml", json: "{}"))
    run.isDurable = isDurable
    let recorder = RunRecorder(run)
    let beginning = RunBeginning(
      runID: name, clock: RunClock(wallTime: 0, monotonicTime: 0),
      host: RunHost(name: "here", processorCount: 1), processID: 1)
    recorder.observe(RunEvent(at: 0, .began(beginning)))
    recorder.observe(RunEvent(at: 0, .started(a, .attempt(1))))
    return recorder
  }

  private func endStep(_ recorder: RunRecorder) {
    recorder.observe(RunEvent(at: 2_000_000, .ended(a, .attempt(1), CommandEnd(.exited(0)))))
    recorder.observe(RunEvent(at: 2_000_000, .settled(a, Ending(.succeeded), .itself)))
  }

  private func end(_ recorder: RunRecorder) throws {
    recorder.observe(RunEvent(at: 2_000_000, .finished(RunEnd(exitStatus: 0))))
    try recorder.commit()
    try recorder.endTurn(at: 2_000_000)
  }

  /// `name: step outcome` of each result.
  private func recorded() throws -> [String] {
    guard let store = try StateStore.find(in: place.folder) else { return [] }
    let rows = try store.database.prepare(
      """
      SELECT run.name || ': ' || step.name || ' ' || ifnull(outcome, '-') || ', '
        || ifnull(exit_status, '-') FROM result JOIN run ON run.id = run JOIN step ON step.id = step ORDER BY run.id
      """)
    var found: [String] = []
    while try rows.next() { found.append(rows.text(0) ?? "") }
    return found
  }

  @Test func `a run that is over soon makes it in one piece`() throws {
    let recorder = try begun()
    try recorder.endTurn(at: 1_000_000)
    #expect(place.files == [])
    endStep(recorder)
    try end(recorder)
    #expect(place.files == ["state.db"])
    #expect(place.mode(of: "state.db") == 0o600)
    // Looking at it makes nothing beside it.
    #expect(try StateStore.look(in: place.folder)?.runNames() == [name])
    #expect(place.files == ["state.db"])
    #expect(try recorded() == ["\(name): a 0, 0"])
    // Others write to a log.
    #expect(try StateStore.make(in: place.folder).database.text("PRAGMA journal_mode") == "wal")
    #expect(try StateStore.make(in: place.folder).database.text("PRAGMA integrity_check") == "ok")
  }

  @Test func `a run that lasts longer makes it after ten milliseconds`() throws {
    let recorder = try begun()
    try recorder.endTurn(at: 1_000_000)
    #expect(recorder.deadline == 11_000_000)
    try recorder.endTurn(at: 10_999_999)
    #expect(recorder.deadline == 11_000_000)
    #expect(place.files == [])
    try recorder.endTurn(at: 11_000_000)
    #expect(recorder.deadline == nil)
    #expect(try recorded() == ["\(name): a -, -"])
    endStep(recorder)
    try end(recorder)
    #expect(try recorded() == ["\(name): a 0, 0"])
  }

  @Test func `a success is written before other commands start`() throws {
    let recorder = try begun()
    try recorder.endTurn(at: 1_000_000)
    endStep(recorder)
    try recorder.commit()
    #expect(try recorded() == ["\(name): a 0, -"])
  }

  @Test func `a success is written before it is shown`() throws {
    let recorder = try begun()
    endStep(recorder)
    try recorder.endTurn(at: 2_000_000)
    #expect(try recorded() == ["\(name): a 0, -"])
  }

  @Test func `if another run makes one meanwhile, that is written to`() throws {
    let recorder = try begun()
    try recorder.endTurn(at: 1_000_000)
    let other = try StateStore.make(in: place.folder)
    endStep(recorder)
    try end(recorder)
    #expect(try recorded() == ["\(name): a 0, 0"])
    #expect(try other.runNames() == [name])
    let isMade = try StateStore.makeWhole(in: place.folder) { _ in Issue.record("there is one") }
    #expect(!isMade)
  }

  @Test func `who asks about runs waits for one that has just begun`() throws {
    #expect(try StateStore.findSoon(in: place.folder) == nil)
    let (path, made) = (place.path, DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      usleep(2_000)
      let folder = StateFolder(owning: open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: path)
      _ = try? StateStore.make(in: folder)
      made.signal()
    }
    #expect(try StateStore.findSoon(in: place.folder)?.runNames() == [])
    made.wait()
  }

  @Test func `a run that waits for the disk makes it at once`() throws {
    let recorder = try begun(isDurable: true)
    try recorder.endTurn(at: 1_000_000)
    #expect(try recorded() == ["\(name): a -, -"])
  }

  @Test func `a database that cannot be made is a failure of the state`() throws {
    let recorder = try begun()
    try recorder.endTurn(at: 1_000_000)
    endStep(recorder)
    try FileManager.default.removeItem(atPath: place.path)
    let failure = ObserverFailure(
      "the run is not recorded: cannot make '\(place.path)/state.db': no such file or directory")
    #expect(throws: failure) { try end(recorder) }
  }
}
