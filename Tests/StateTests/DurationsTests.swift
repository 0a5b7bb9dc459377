// How long steps took before.

import RunFiles
import Scheduling
import Testing

@testable import State

struct DurationsTests {
  private let place = StatePlace()
  private let store: StateStore

  init() throws { store = try StateStore.make(in: place.folder) }

  /// Adds a run with the durations of its steps in microseconds; nil for one that was up to date.
  private func add(_ results: [String: Int?], file: String = "/p.yml") throws {
    let ran = results.values.contains { $0 != nil }
    try store.database.execute(
      """
      INSERT INTO run(name, pipeline, file, request, started, exit_status, host, processors, process, cookie, steps,
        log_bytes) VALUES((SELECT count(*) FROM run), 'p', '\(file)', '{}', 0, 0, 'h', 2, 1, 'c', 1,
        \(ran ? "0" : "NULL"))
      """)
    for (step, duration) in results {
      try store.database.execute(
        """
        INSERT OR IGNORE INTO step(name) VALUES('\(step)');
        INSERT INTO result(run, step, place, started, outcome, duration)
          VALUES((SELECT max(id) FROM run), (SELECT id FROM step WHERE name = '\(step)'), 0, 0,
            \(duration == nil ? 10 : 0), \(duration.map(String.init) ?? "NULL"))
        """)
    }
  }

  private func durations(
    _ steps: [String], of file: String = "/p.yml", expanded: Set<String> = []
  ) throws -> [Nanoseconds?] {
    let durations = try store.durations(
      of: PipelinePlace(file: file, workspace: nil), stepCount: steps.count, expanded: expanded)
    return steps.map { durations[$0] }
  }

  @Test func `the last three times count, the newest most`() throws {
    for time in [900, 70, 14, 7] { try add(["a": time]) }
    try add(["a": nil])
    try add(["a": 1000], file: "/other.yml")
    #expect(try durations(["a", "b"]) == [(4 * 7 + 2 * 14 + 70) * 1000 / 7, nil])
    #expect(try durations(["a"], of: "/other.yml") == [1_000_000])
    #expect(try durations(["a"], of: "/none.yml") == [nil])
  }

  @Test func `a step may take years`() throws {
    for _ in 0..<3 { try add(["a": 1 << 50]) }
    #expect(try durations(["a"]) == [(1 << 50) * 1000])
    try add(["b": 1 << 52])
    #expect(try durations(["b"]) == [(1 << 50) * 1000])
  }

  @Test func `runs of other steps do not make a step forgotten`() throws {
    try add(["a": 10, "b": 20])
    for _ in 0..<20 { try add(["a": nil, "b": 40]) }
    #expect(try durations(["a", "b"]) == [10_000, 40_000])
  }

  @Test func `a step that failed or was kept says nothing`() throws {
    try add(["a": 10, "b": 10])
    try add(["a": 30, "b": 50])
    try store.database.execute(
      """
      UPDATE result SET outcome = 2 WHERE duration = 30;
      UPDATE result SET origin = 1 WHERE duration = 50
      """)
    #expect(try durations(["a", "b"]) == [10_000, 10_000])
  }

  @Test func `instances that became known during the run count as one step`() throws {
    try add(["m[1]": 10, "m[2]": 20, "g[a=1]/s": 7, "other[1]": 5])
    try store.database.execute(
      "UPDATE result SET started = 100 WHERE step = (SELECT id FROM step WHERE name = 'm[2]')")
    let steps = ["m", "g/s", "other", "m[2]"]
    let expanded: Set = ["m", "g", "g/s"]
    #expect(try durations(steps, expanded: expanded) == [120_000, 7000, nil, 20_000])
    #expect(try durations(steps) == [nil, nil, nil, 20_000])
    try add(["m[1]": 30, "m[2]": 40])
    try store.database.execute("UPDATE result SET outcome = 2 WHERE duration = 40")
    #expect(try durations(["m"], expanded: expanded) == [120_000])
  }

  @Test func `runs before the third are looked at while they have few results`() throws {
    func addMany(_ duration: Int) throws {
      try store.database.execute(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
          INSERT INTO result(run, step, place, started, outcome, duration)
            SELECT (SELECT max(id) FROM run), 100 + i, i, 0, 10, \(duration) FROM n
        """)
    }
    for time in [1, 2, 3, 4, 5] {
      try add(["a\(time)": time])
      try addMany(time)
    }
    // The first run is beyond the limit.
    #expect(
      try durations(["a1", "a2", "a3", "a4", "a5"]) == [nil, 2000, 3000, 4000, 5000])
  }
}
