// Old runs, and clocks that are wrong for a while.

import Foundation
import RunFiles
import Scheduling
import Testing

@testable import State

@Suite struct `Runs that are removed by themselves` {
  private static let day = 86_400_000_000
  /// In microseconds since 1970: a day in 2026.
  private static let today = 20_500 * day

  private static func name(_ number: Int) -> String { "20260101-000000-k\(number)" }

  /// A store with runs that started so many days from today.
  private func store(_ days: [Int], in place: StatePlace) throws -> StateStore {
    let store = try StateStore.make(in: place.folder)
    let rows = days.enumerated().map { index, day in
      "(\(index + 1), '\(Self.name(index + 1))', 'p', '{}', \(Self.today + day * Self.day), 'h', 1, 1, '', 1)"
    }
    try place.sql(
      """
      INSERT INTO run(id, name, pipeline, request, started, host, processors, process, cookie, steps)
      VALUES \(rows.joined(separator: ", "))
      """)
    return store
  }

  private func moment(_ day: Int) -> Nanoseconds {
    Nanoseconds(Self.today + day * Self.day) * 1000
  }

  /// The numbers of the runs that are left after the last of them.
  private func left(_ days: [Int], now: Int) throws -> [Int] {
    let place = StatePlace()
    let store = try store(days, in: place)
    _ = try store.pruneNowAndThen(.automatic, after: days.count, now: moment(now))
    return try store.runs().map(\.number).sorted()
  }

  @Test func `are those before the newest 1,000, which is said once`() throws {
    let place = StatePlace()
    let store = try store(Array(repeating: 0, count: 1008), in: place)
    #expect(try store.pruneNowAndThen(.automatic, after: 1007, now: moment(0)) == nil)
    #expect(try store.runs().count == 1008)
    #expect(
      try store.pruneNowAndThen(.automatic, after: 1008, now: moment(0))
        == "8 old runs were removed: 1,000 runs, 90 days and 5 GiB of logs are kept ('oprun prune --help')"
    )
    #expect(try store.runs().map(\.number).sorted() == Array(9...1008))
    try place.sql(
      "DELETE FROM run WHERE id > 1000; UPDATE run SET started = started - 200 * \(Self.day) WHERE id < 100"
    )
    #expect(try store.pruneNowAndThen(.automatic, after: 1008, now: moment(0)) == nil)
    #expect(try store.runs().map(\.number).sorted() == Array(100...1000))
  }

  @Test func `are found without looking at the results of all others`() throws {
    let place = StatePlace()
    let store = try store([0, 0, 0], in: place)
    try place.sql("DROP TABLE result")
    let pruned = try store.prune(PruneLimits(count: 1), now: moment(0), isDryRun: true)
    #expect(pruned.runs == [Self.name(2), Self.name(1)])
  }

  @Test func `are none of which something goes on elsewhere`() throws {
    let place = StatePlace()
    let store = try store([0, 0, 0], in: place)
    let pruned = try store.prune(PruneLimits(count: 1), now: moment(0)) { $0 == Self.name(1) }
    #expect(pruned.runs == [Self.name(2)])
    #expect(pruned.kept == [KeptRun(Self.name(1), .jobs)])
    #expect(try store.runs().map(\.number) == [3, 1])
  }

  @Test func `are none that another process claims`() throws {
    let place = StatePlace()
    let store = try store([0, 0, 0, 0, 0], in: place)
    let claimed = try #require(place.makeRun(Self.name(1)))
    #expect(claimed.takeClaim())
    let running = try #require(place.makeRun(Self.name(2)))
    running.lock()
    #expect(try !#require(place.makeRun(Self.name(2))).takeClaim())
    let late = try #require(place.makeRun(Self.name(3)))
    _ = place.makeRun(Self.name(4))
    // Somebody begins to resume it when it has been looked at.
    let pruned = try store.prune(PruneLimits(count: 1), now: moment(0)) {
      if $0 == Self.name(3) { #expect(late.takeClaim()) }
      return false
    }
    #expect(
      pruned
        == Pruned(runs: [Self.name(4)], kept: [2, 1, 3].map { KeptRun(Self.name($0), .inUse) }))
    #expect(try store.runs().map(\.number) == [5, 3, 2, 1])
    #expect(place.folder.names(in: "runs").sorted() == [1, 2, 3].map(Self.name))
    #expect(try !#require(place.makeRun(Self.name(3))).takeClaim())
    #expect(try #require(place.makeRun(Self.name(1))).isTaken)
  }

  @Test func `are gone from all listings if something of a directory cannot be removed yet`() throws
  {
    let place = StatePlace()
    let store = try store([0, 0, 0], in: place)
    for number in [1, 2] { _ = place.makeRun(Self.name(number)) }
    // As if a file in it had been open on NFS when it was to be removed.
    mkdir("\(place.path)/runs/.\(Self.name(7))", 0o700)
    try place.write("", to: "runs/.\(Self.name(7))/.nfs0001")
    #expect(try store.prune(PruneLimits(count: 1), now: moment(0)).kept.isEmpty)
    #expect(place.folder.names(in: "runs").isEmpty)
    #expect(try store.runs().map(\.number) == [3])
  }

  @Test func `are removed by the next one if who removed their rows could do no more`() throws {
    let place = StatePlace()
    let store = try store([0, 0, 0], in: place)
    for number in [1, 2] { _ = place.makeRun(Self.name(number)) }
    var claimed = place.makeRun(Self.name(2))
    #expect(claimed?.takeClaim() == true)
    try store.perform("write") { database throws(DatabaseFailure) in
      try database.removeRuns([1, 2])
      try database.noteRemovals(of: [1, 2].map(Self.name))
    }
    // A directory without a row and without a note may be that of a run whose record was lost.
    _ = place.makeRun(Self.name(9))
    #expect(
      try store.prune(PruneLimits(count: 3), now: moment(0)).kept
        == [KeptRun(Self.name(2), .inUse)])
    #expect(place.folder.names(in: "runs").sorted() == [2, 9].map(Self.name))
    #expect(try store.notedRemovals() == [Self.name(2)])
    claimed = nil
    while try #require(place.makeRun(Self.name(2))).isTaken { usleep(1000) }
    #expect(try store.prune(PruneLimits(count: 3), now: moment(0)).kept.isEmpty)
    #expect(place.folder.names(in: "runs") == [Self.name(9)])
    #expect(try store.notedRemovals().isEmpty)
  }

  @Test func `leave no note once their directories are put aside`() throws {
    let place = StatePlace()
    let store = try store([0, 0, 0], in: place)
    for number in [1, 2] { _ = place.makeRun(Self.name(number)) }
    #expect(try store.prune(PruneLimits(count: 1), now: moment(0)).runs.count == 2)
    #expect(try store.notedRemovals().isEmpty)
  }

  @Test func `are those of more than 90 days before the newest ones`() throws {
    #expect(try left(Array(repeating: -200, count: 16) + Array(-15...0), now: 0) == Array(17...32))
    #expect(try left(Array(-31...0), now: 0) == Array(1...32))
  }

  @Test func `are measured only if they printed too much: what a log has may be less`() throws {
    let place = StatePlace()
    let store = try store([0, 0, 0], in: place)
    try place.sql("UPDATE run SET log_bytes = 1000, exit_status = 0")
    for (number, size) in [(3, 10), (2, 200)] {
      _ = place.makeRun(Self.name(number))
      try place.write(
        String(repeating: "x", count: size), to: "runs/\(Self.name(number))/a.log")
    }
    func over(_ size: Int) throws -> [String] {
      try store.prune(PruneLimits(size: size), now: moment(0), isDryRun: true).runs
    }
    #expect(try over(3000).isEmpty)
    #expect(try over(150) == [Self.name(2)])
  }

  @Test func `are those without a record, if they are too old`() throws {
    let place = StatePlace()
    let store = try store([0], in: place)
    let names = ["20250901-000000-k8", "20260101-000000-k9"]
    for name in names { _ = place.makeRun(name) }
    let limits = PruneLimits(age: Nanoseconds(90 * Self.day) * 1000)
    #expect(try store.prune(limits, now: moment(0)).runs == [names[0]])
    #expect(place.folder.names(in: "runs") == [names[1]])
  }

  @Test func `are not all of them when the clock is ahead for a while`() throws {
    #expect(try left(Array(-15 ... -1) + [27_000], now: 27_000) == Array(1...16))
    let ahead = Array(repeating: 27_000, count: 15)
    #expect(try left(Array(-17 ... -1) + ahead, now: 27_000) == Array(1...32))
  }

  @Test func `are not the newest ones when the clock was behind`() throws {
    let behind = Array(repeating: -20_000, count: 3)
    #expect(try left(Array(-28 ... -1) + behind + [0], now: 0) == Array(1...32))
  }
}
