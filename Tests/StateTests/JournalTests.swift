// The journal of a run: what it keeps, and how the database gets it.

import Plans
import RunFiles
import Scheduling
import Testing

@testable import State

@Suite struct `The journal of a run` {
  private let place = StatePlace()
  private static let run = "20260101-000000-k1"

  private func key(_ name: String, _ place: Int = 0) -> StepIdentity {
    StepIdentity(name: name, place: place, written: 7)
  }

  private func settled(
    _ outcome: Outcome = .succeeded, cause: String? = nil, start: Nanoseconds = 1_000_000,
    status: CommandEnd.Status = .exited(0)
  ) -> Settled {
    let end = CommandEnd(
      status, duration: 5_000_000, processorTime: 3_000_000, peakMemory: 1 << 20,
      outputByteCount: 12)
    return Settled(
      outcome: RecordedOutcome(Ending(outcome), isOfGroup: false), cause: cause, start: start,
      end: start + 6_000_000,
      last: RecordedCommand(role: .attempt(2), start: start, end: end), resolved: 9,
      takenOver: .forgotten)
  }

  private func rows() throws -> [ResultRow] {
    let directory = try #require(place.folder.run(named: Self.run))
    return RunJournal.rows(in: directory)
  }

  private func makeJournal() throws -> RunJournal {
    let directory = try #require(place.makeRun(Self.run))
    return try #require(RunJournal(in: directory))
  }

  /// A database with a run that has not ended.
  private func makeStore() throws -> StateStore {
    let store = try StateStore.make(in: place.folder)
    try place.sql(
      """
      INSERT INTO run(id, name, pipeline, request, started, host, processors, process, cookie, steps)
      VALUES(1, '\(Self.run)', 'p', '{}', 5, 'h', 1, 1, 'c', 3)
      """)
    return store
  }

  private func results(_ store: StateStore) throws -> String? {
    try store.database.text(
      """
      SELECT group_concat(step.name || ' ' || place || ' ' || ifnull(outcome, '-') || ' '
        || ifnull(started, '-') || ' ' || ifnull(duration, '-'), '; ')
      FROM result JOIN step ON step.id = step ORDER BY place
      """)
  }

  @Test func `keeps rows with any names and reasons`() throws {
    let names = ["plain", "a\tb", "line\nbreak", "50%", "%09;", "", "ü[x=1]/ß", "\"\\"]
    let records: [Record] = names.enumerated().flatMap { number, name in
      [
        .started(key(name, number), at: Nanoseconds(number) * 1000),
        .settled(key(name, number), settled(cause: "hook \(name)")),
      ]
    }
    let journal = try makeJournal()
    #expect(journal.add(records[...]))
    #expect(try rows() == records.compactMap { ResultRow(journaling: $0) })
    #expect(try rows().count == 2 * names.count)
  }

  @Test func `takes all of some records, or none`() throws {
    let journal = try makeJournal()
    let failed = settled(.failed, status: .exited(1))
    #expect(!journal.add([.started(key("a"), at: 0), .settled(key("b"), failed)]))
    #expect(!journal.add([.counted(3)]))
    #expect(try rows().isEmpty)
    #expect(journal.add([.started(key("a"), at: 0)]))
    #expect(try rows().map(\.step) == ["a"])
  }

  @Test func `has no old rows once it was emptied`() throws {
    let journal = try makeJournal()
    #expect(journal.add([.started(key("a"), at: 0), .started(key("b"), at: 0)]))
    journal.clear()
    #expect(try rows().isEmpty)
    // Its line has the length of the first, so that the second one would follow.
    #expect(journal.add([.started(key("c"), at: 0)]))
    #expect(try rows().map(\.step) == ["c"])
    journal.remove()
    #expect(try rows().isEmpty)
  }

  @Test func `is read up to the first line that is damaged`() throws {
    let journal = try makeJournal()
    #expect(journal.add([.started(key("a"), at: 0), .started(key("b"), at: 0)]))
    let path = "runs/\(Self.run)/\(RunJournal.fileName)"
    let text = String(decoding: try #require(place.bytes(of: path)), as: UTF8.self)
    for cut in 0..<text.utf8.count {
      try place.write(String(text.dropLast(cut + 1)), to: path)
      #expect(try rows().count <= 1 || cut == 0, "\(cut)")
    }
    try place.write(text.replacing("b", with: "c"), to: path)
    #expect(try rows().map(\.step) == ["a"])
  }

  @Test func `completes the database, and changes nothing that is there`() throws {
    let store = try makeStore()
    try place.sql(
      """
      INSERT INTO step VALUES(1, 'started'), (2, 'failed'), (3, 'later');
      INSERT INTO result(run, step, place, outcome, started, duration, written) VALUES
        (1, 1, 0, NULL, 1, NULL, 7), (1, 2, 1, 2, 2, 20, 7), (1, 3, 2, NULL, 30, NULL, 7);
      """)
    let journal = try makeJournal()
    #expect(
      journal.add([
        .settled(key("started", 0), settled()), .started(key("failed", 1), at: 9),
        .settled(key("failed", 1), settled()), .started(key("later", 2), at: 9),
        .started(key("new", 3), at: 4000), .settled(key("done", 4), settled()),
      ]))
    for _ in 1...2 {
      try store.takeInJournals()
      #expect(
        try results(store)
          == "started 0 0 1000 6000; failed 1 2 2 20; later 2 - 30 -; new 3 - 4 -; done 4 0 1000 6000"
      )
    }
    let row = try #require(
      try store.database.text(
        """
        SELECT attempts || ' ' || status || ' ' || processor || ' ' || memory || ' ' || output || ' '
          || written || ' ' || resolved FROM result WHERE place = 4
        """))
    #expect(row == "2 0 3000 1024 12 7 9")
  }

  @Test func `ends what a resumed run had taken over for a step that has begun`() throws {
    let store = try makeStore()
    try place.sql(
      """
      INSERT INTO step VALUES(1, 'begun'), (2, 'done'), (3, 'awaiting'), (4, 'kept');
      INSERT INTO result(run, step, place, outcome, started, duration, written, origin) VALUES
        (-1, 1, 0, 0, 1, 1, 7, 0), (-1, 2, 1, 0, 1, 1, 7, 0), (-1, 3, 2, 0, 1, 1, 7, 0),
        (1, 4, 3, 0, 1, 1, 7, 0);
      INSERT INTO output(run, step, name, value) VALUES
        (-1, 1, 'o', '1'), (-1, 2, 'o', '2'), (-1, 3, 'o', '3'), (1, 4, 'o', '4');
      """)
    let journal = try makeJournal()
    #expect(
      journal.add([
        .started(key("begun", 0), at: 9), .started(key("done", 1), at: 9),
        .settled(key("done", 1), settled()),
      ]))
    // Once as who only looks sees it, and once as it is in the database.
    for _ in 1...2 {
      let run = try #require(try store.earlierRun(named: Self.run))
      #expect(run.steps.keys.sorted() == ["awaiting", "done", "kept"])
      #expect(run.unfinished == ["begun"])
      #expect(["done", "awaiting", "kept"].map { run.steps[$0]?.origin } == [1, 0, 0])
      #expect(["done", "awaiting", "kept"].map { run.steps[$0]?.outputs.count } == [0, 1, 1])
      try store.takeInJournals()
    }
    #expect(
      try store.database.text("SELECT group_concat(run || ' ' || step, ', ') FROM output")
        == "-1 3, 1 4")
  }

  @Test func `keeps nothing any more when another run has taken it`() throws {
    let store = try makeStore()
    let journal = try makeJournal()
    #expect(journal.add([.settled(key("a"), settled())]))
    let directory = try #require(place.folder.run(named: Self.run))
    try store.takeJournal(of: Self.run, in: directory)
    #expect(try results(store) == "a 0 0 1000 6000")
    #expect(!journal.add([.settled(key("b", 1), settled())]))
    #expect(RunJournal(in: directory) == nil)
    #expect(try rows().isEmpty)
  }

  @Test func `cannot be made any more when another run has taken it before`() throws {
    let store = try makeStore()
    let directory = try #require(place.makeRun(Self.run))
    // What is empty has lost its files.
    try store.takeJournal(of: Self.run, in: directory)
    #expect(directory.isBare)
    try place.write("", to: "runs/\(Self.run)/a.log")
    try store.takeJournal(of: Self.run, in: directory)
    #expect(RunJournal(in: directory) == nil)
  }

  @Test func `counts for no run that has ended`() throws {
    let store = try makeStore()
    try place.sql("UPDATE run SET exit_status = 0")
    #expect(try makeJournal().add([.settled(key("a"), settled())]))
    try store.takeInJournals()
    #expect(try results(store) == nil)
  }
}
