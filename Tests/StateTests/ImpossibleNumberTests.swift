// A database with numbers that oprun cannot have written, and ends of commands as it keeps them.

import Plans
import RunFiles
import Testing

@testable import State

struct `A damaged database` {
  private let place = StatePlace()

  private func store(with change: String) throws -> StateStore {
    _ = try StateStore.make(in: place.folder)
    try place.sql(
      "INSERT INTO run(name, pipeline, request, started, host, processors, process, cookie, steps)"
        + " VALUES('r', 'p.yml', '{}', 1, 'here', 2, 1, '', 1);"
        + "INSERT INTO step(name) VALUES('unit');"
        + "INSERT INTO result(run, step, place, written, outcome, started, duration, attempts, status)"
        + " VALUES(1, 1, 0, 0, 1, 0, 5, 1, 2);" + change)
    return try #require(try StateStore.find(in: place.folder))
  }

  private func damage(_ number: Int) -> StoreFailure {
    var failure = StoreFailure(
      "cannot read '\(place.path)/state.db': it is damaged (it contains the impossible number \(number))",
      help: "the next run moves the file aside and starts a new history")
    failure.isDamage = true
    return failure
  }

  @Test(arguments: [
    "exit_status = 1099511627776", "process = 1099511627776", "started = 9223372036854775807",
    "duration = 9223372036854775807", "log_bytes = -9223372036854775807, exit_status = 0",
  ])
  func `is one whose runs have impossible numbers`(_ change: String) throws {
    let store = try store(with: "UPDATE run SET \(change)")
    let number = try #require(
      change.split(whereSeparator: { !"-0123456789".contains($0) }).first.flatMap { Int($0) })
    #expect(throws: damage(number)) { try store.run(named: "r") }
    if change.hasPrefix("exit") || change.hasPrefix("process") {
      #expect(throws: damage(number)) { try store.earlierRun(named: "r") }
    }
  }

  @Test(arguments: ["started", "duration", "status", "processor", "memory", "output"])
  func `is one whose steps have impossible numbers`(_ column: String) throws {
    let store = try store(with: "UPDATE result SET \(column) = 9223372036854775807")
    let run = try #require(try store.run(named: "r"))
    #expect(throws: damage(.max)) { try store.steps(of: run) }
  }

  @Test func `may have any fingerprint`() throws {
    let store = try store(
      with: "UPDATE result SET written = -9223372036854775807, resolved = 9223372036854775807")
    #expect(try store.earlierRun(named: "r")?.steps["unit"]?.written == -.max)
  }
}

struct `The end of a recorded command` {
  @Test(arguments: [
    CommandEnd(.exited(0)), CommandEnd(.exited(3)), CommandEnd(.signalled(9)),
    CommandEnd(.exited(3), timedOut: true), CommandEnd(.signalled(15), timedOut: true),
    CommandEnd(.signalled(15), isStopped: true),
    CommandEnd(.notStarted("command not found: mkae", exitCode: 127)),
    CommandEnd(.notStarted("stopped before it started", exitCode: 126), isStopped: true),
    CommandEnd(.outputsRefused("no such type")), CommandEnd(.abandoned),
    CommandEnd(.lost("node n3 failed")),
  ])
  func `is the same when it is read`(_ end: CommandEnd) {
    #expect(CommandEnd(RecordedEnd(end)) == end)
  }
}
