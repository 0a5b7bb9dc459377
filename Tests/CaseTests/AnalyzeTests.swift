// `oprun analyze`: a run whose times are known, and what it says about it.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `The analysis of a run` {
  private static let pipeline = """
    max_parallel: 2
    queues: {net: {max_parallel: 1}}
    steps:
      - {id: build, run: 'true'}
      - {id: lint, run: 'true', depends_on: [build]}
      - {id: unit, run: 'true', depends_on: [build], mutex: db}
      - {id: system, run: 'true', depends_on: [build], mutex: db}
      - {id: first, run: 'true', queue: net}
      - {id: second, run: 'true', queue: net}
      - {id: sometimes, run: 'test "$OPRUN_ATTEMPT" = 2', retry: 1}
      - {id: all, run: 'true', depends_on: [unit, system, lint]}
    """

  /// When each step started and how long it took, in milliseconds, as if all had slept and the machine had nothing else
  /// to do.
  private static let times = """
    CREATE TEMP TABLE t(name TEXT, started INTEGER, duration INTEGER);
    INSERT INTO t VALUES('build', 0, 500), ('lint', 500, 200), ('unit', 500, 400), ('system', 900, 600),
      ('first', 0, 300), ('second', 300, 300), ('sometimes', 0, 2), ('all', 1500, 0);
    UPDATE result SET (started, duration) = (SELECT t.started * 1000, t.duration * 1000
      FROM t JOIN step USING(name) WHERE step.id = result.step);
    UPDATE command SET started = 1000 * (role = '2'), duration = 1000;
    UPDATE run SET duration = 1500000;
    """

  /// A run with these times.
  private func run() throws -> Workspace {
    let place = try Workspace(named: "analyze", holding: [])
    try place.write(Self.pipeline, to: "p.yml")
    try place.write(Self.times, to: "times.sql")
    let end = try place.run("oprun p.yml --output quiet; sqlite3 .oprun/state.db <times.sql")
    #expect(end.status == 0 && end.errors == "", "\(end.errors)")
    return place
  }

  private func analysis(
    _ place: Workspace, _ options: String = ""
  ) throws -> [String: Any] {
    let end = try place.run("oprun analyze --json \(options)")
    #expect(end.errors == "")
    let json = try JSONSerialization.jsonObject(with: Data(end.output.utf8))
    return try #require(json as? [String: Any])
  }

  @Test func `repeats the run in virtual time`() throws {
    let found = try analysis(try run())
    let wall = try #require(found["wall_ms"] as? Double)
    let simulated = try #require(found["simulated_ms"] as? Double)
    #expect(wall == 1500 && abs(wall - simulated) < 1, "\(wall) \(simulated)")
  }

  @Test func `says what would change the run`() throws {
    let place = try run()
    let base = try #require(try analysis(place)["simulated_ms"] as? Double)
    func changed(_ options: String) throws -> Double {
      try #require(try analysis(place, options)["what_if_ms"] as? Double)
    }
    #expect(try changed("-j 1") > base + 100)
    #expect(try changed("--without build") < base - 300)
    #expect(try changed("--faster system=2x") < base - 150)
    #expect(try changed("--queue net=2") <= base + 1)
  }

  @Test func `names the critical path, what steps waited for, and flaky steps`() throws {
    let found = try analysis(try run())
    let path = try #require(found["critical_path"] as? [[String: Any]])
    #expect(path.map { $0["step"] as? String } == ["build", "system", "all"])
    // The run is as long as build, unit and system, which share a mutex.
    let build = try #require(path.first)
    #expect(try #require(build["saves_per_second"] as? Double) > 0.5)
    #expect(try #require(build["saves_at_most_ms"] as? Double) > 200)
    let waits = try #require(found["waits"] as? [[String: Any]])
    #expect(waits.contains { $0["for"] as? String == "pool db" })
    #expect(waits.contains { ($0["for"] as? String)?.hasPrefix("queue ") == true })
    let flaky = try #require(found["flaky"] as? [[String: Any]])
    #expect(flaky.count == 1)
    #expect(flaky.first?["step"] as? String == "sometimes")
    #expect(flaky.first?["retried"] as? Int == 1)
    #expect(flaky.first?["failed"] as? Int == 0)
  }

  @Test func `says the same to people and to programs of steps that take less than a millisecond`()
    throws
  {
    let place = try Workspace(named: "analyze", holding: [])
    try place.write(
      """
      steps:
        - {id: a, run: 'true'}
        - {id: b, run: 'true', depends_on: [a]}
      """, to: "p.yml")
    try place.write(
      """
      UPDATE result SET (started, duration) = (SELECT (name = 'b') * 600, 600 FROM step WHERE id = step);
      UPDATE run SET duration = 1200;
      """, to: "times.sql")
    let run = try place.run("oprun p.yml --output quiet; sqlite3 .oprun/state.db <times.sql")
    #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    let path = try #require(try analysis(place)["critical_path"] as? [[String: Any]])
    #expect(path.map { $0["saves_per_second"] as? Double } == [1, 1])
    let told = try place.run("oprun analyze")
    #expect(
      told.output.hasSuffix(
        """
        critical path
          a      1ms  could save up to 1ms; each second less saves 1.00s of the run
          b      1ms  could save up to 1ms; each second less saves 1.00s of the run

        """), "\(told.output)")
  }

  @Test func `refuses what makes no sense`() throws {
    let place = try run()
    let mistakes = try place.run(
      """
      oprun analyze --queue nte=2; oprun analyze --queue net=0; oprun analyze --faster build=2
      oprun analyze --faster biuld=2x; oprun analyze --without none; oprun analyze nothing
      oprun analyze -j 0; oprun analyze --faster 'unit[x=1]=2x'; oprun analyze --faster build
      """)
    #expect(
      place.normalised(mistakes.errors) == """
        oprun: unknown queue 'nte'
          help: did you mean 'net'?
        oprun: '--queue' wants a number of at least 1 for 'net', found '0'
        try 'oprun analyze --help'
        oprun: '--faster' wants a factor such as 2x for 'build', found '2'
        try 'oprun analyze --help'
        oprun: '--faster' wants the id of a step that runs, found 'biuld'
          help: did you mean 'build'?
        oprun: '--without' wants the id of a step that runs, found 'none'
        try 'oprun analyze --help'
        oprun: unknown run 'nothing'
          help: 'oprun history' lists the runs
        oprun: '--jobs' wants a whole number of at least 1, found '0'
          help: leave it out for the usual number
        oprun: '--faster' wants the id of a step that runs, found 'unit[x=1]'
        try 'oprun analyze --help'
        oprun: '--faster' wants a step and a factor, as in test=2x, found 'build'
        try 'oprun analyze --help'

        """)
  }
}
