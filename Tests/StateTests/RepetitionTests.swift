// Runs whose steps are those of a run before.

import Plans
import Scheduling
import Testing

@testable import State

@Suite struct `A run that repeats another` {
  private let place = StatePlace()

  private static func name(_ number: Int) -> String { "20260101-000000-k\(number)" }

  /// A database with a run, number 1, in which `a` was up to date, and those that repeat it.
  private func makeStore(repetitions: Int) throws -> StateStore {
    let store = try StateStore.make(in: place.folder)
    try place.sql(
      """
      INSERT INTO run(id, name, pipeline, file, request, started, duration, exit_status, host, processors, process,
        cookie, mark, steps, ok, failed, allowed, kept, log_bytes)
      VALUES(1, '\(Self.name(1))', 'p', 'p.yml', '{}', 5, 6, 0, 'h', 1, 1, 'c', 'm', 1, 1, 0, 0, 0, NULL);
      INSERT INTO step VALUES(1, 'a');
      INSERT INTO result(run, step, place, outcome, written) VALUES(1, 1, 0, 1, 7);
      """)
    for number in 2..<(2 + repetitions) {
      #expect(try repeatRun(Self.name(1), as: number, in: store) == number)
    }
    return store
  }

  private func repeatRun(_ earlier: String, as number: Int, in store: StateStore) throws -> Int? {
    let beginning = RunBeginning(
      runID: Self.name(number), clock: RunClock(wallTime: Int64(number) * 1000, monotonicTime: 0),
      host: RunHost(name: "other", processorCount: 2), processID: 9)
    return try store.repeatRun(earlier, as: beginning, duration: 4000)
  }

  /// The newest run first: its number and the names of its steps.
  private func steps(_ store: StateStore) throws -> [[String]] {
    try store.runs().map { run in
      #expect(run.endings.map(\.number).reduce(0, +) == 1)
      return ["\(run.number)"] + (try store.steps(of: run).map(\.name))
    }
  }

  private func prune(_ store: StateStore, keeping count: Int) throws {
    _ = try store.prune(PruneLimits(count: count), now: 0)
  }

  @Test func `has its steps, and all else of its own`() throws {
    let store = try makeStore(repetitions: 1)
    #expect(try steps(store) == [["2", "a"], ["1", "a"]])
    let run = try #require(try store.run(named: Self.name(2)))
    #expect(run.started == 2 && run.duration == 4 && run.exitStatus == 0 && run.host == "other")
    #expect(run.processors == 2 && run.process == 9 && run.pipeline == "p" && run.file == "p.yml")
    let earlier = try #require(try store.earlierRun(named: Self.name(2)))
    #expect(earlier.steps["a"]?.written == 7 && earlier.marks == RunMarks())
  }

  @Test func `has of the facts that are known of that one only the workspace`() throws {
    let store = try makeStore(repetitions: 0)
    for fact in RunFact.allCases { try store.database.write(fact, "0 a", ofRun: 1) }
    #expect(try repeatRun(Self.name(1), as: 2, in: store) == 2)
    let facts = try RunFact.allCases.filter { try store.database.fact($0, ofRun: 2) == "0 a" }
    #expect(facts == [.workspace])
  }

  @Test func `has none if that one is gone, failed or never ended`() throws {
    let store = try makeStore(repetitions: 0)
    #expect(try repeatRun(Self.name(5), as: 2, in: store) == nil)
    for status in ["1", "NULL"] {
      try place.sql("UPDATE run SET exit_status = \(status)")
      #expect(try repeatRun(Self.name(1), as: 2, in: store) == nil)
    }
    #expect(try store.runs().count == 1)
  }

  /// A run that ran step `b` itself and has `a` from the first one.
  private func addPart(_ number: Int, to store: StateStore) throws {
    try place.sql(
      """
      INSERT OR IGNORE INTO step VALUES(2, 'b');
      INSERT OR IGNORE INTO result(run, step, place, outcome, written) VALUES(1, 2, 1, 1, 8);
      UPDATE run SET steps = 2, ok = 2;
      INSERT INTO run(id, name, pipeline, file, request, started, duration, exit_status, host, processors, process,
        cookie, mark, steps, ok, failed, allowed, kept, log_bytes)
      VALUES(\(number), '\(Self.name(number))', 'p', 'p.yml', '{}', 5, 6, 1, 'h', 1, 1, 'c', 'm', 2, 1, 1, 0, 0, 9);
      INSERT INTO result(run, step, place, outcome, written) VALUES(\(number), 2, 1, 2, 8);
      """)
    try store.perform { database throws(DatabaseFailure) in
      try database.addRepetition(of: Self.name(1), by: number)
    }
  }

  /// The steps of a run: name and outcome.
  private func outcomes(_ store: StateStore, _ number: Int) throws -> [String] {
    let run = try #require(try store.run(named: Self.name(number)))
    let steps = try store.steps(of: run)
    #expect(run.endings.map(\.number).reduce(0, +) == steps.count)
    let earlier = try #require(try store.earlierRun(named: Self.name(number)))
    #expect(Set(earlier.steps.keys) == Set(steps.map(\.name)))
    return steps.map { "\($0.name) \($0.ending.map { "\($0.outcome)" } ?? "-")" }
  }

  @Test func `may have steps of its own beside them`() throws {
    let store = try makeStore(repetitions: 0)
    try addPart(2, to: store)
    _ = try repeatRun(Self.name(1), as: 3, in: store)
    try addPart(4, to: store)
    #expect(try outcomes(store, 1) == ["a cached", "b cached"])
    #expect(try outcomes(store, 2) == ["a cached", "b failed"])
    #expect(try outcomes(store, 3) == ["a cached", "b cached"])
    // That a run is removed changes nothing for those that repeat it.
    try prune(store, keeping: 3)
    #expect(try outcomes(store, 2) == ["a cached", "b failed"])
    #expect(try outcomes(store, 3) == ["a cached", "b cached"])
    #expect(try !store.canRepeat(Self.name(1)))
    try prune(store, keeping: 1)
    #expect(try outcomes(store, 4) == ["a cached", "b failed"])
    try prune(store, keeping: 0)
    try store.perform { database throws(DatabaseFailure) in
      for table in ["result", "repetition"] {
        #expect(try database.number("SELECT count(*) FROM \(table)") == 0)
      }
    }
  }

  @Test func `repeats only what succeeded`() throws {
    let store = try makeStore(repetitions: 0)
    #expect(try store.canRepeat(Self.name(1)))
    #expect(try !store.canRepeat(Self.name(2)))
    try addPart(2, to: store)
    #expect(try !store.canRepeat(Self.name(2)))
  }

  @Test func `keeps them when that one is removed`() throws {
    let store = try makeStore(repetitions: 3)
    try prune(store, keeping: 3)
    #expect(try steps(store) == [["4", "a"], ["3", "a"], ["2", "a"]])
    try prune(store, keeping: 1)
    #expect(try steps(store) == [["4", "a"]])
    try prune(store, keeping: 0)
    #expect(try store.runs().isEmpty)
    try store.perform { database throws(DatabaseFailure) in
      for table in ["result", "repetition"] {
        #expect(try database.number("SELECT count(*) FROM \(table)") == 0)
      }
    }
  }
}
