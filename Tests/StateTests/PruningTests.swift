// Old runs, and clocks that are wrong for a while.

import Foundation
import Scheduling
import Testing

@testable import State

@Suite struct `Runs that are removed by themselves` {
  private static let day = 86_400_000_000
  /// In microseconds since 1970: a day in 2026.
  private static let today = 20_500 * day

  /// The numbers of the runs that are left after the last of some that started so many days from today.
  private func left(_ days: [Int], now: Int) throws -> [Int] {
    let place = StatePlace()
    let store = try StateStore.make(in: place.folder)
    func name(_ number: Int) -> String { "20260101-000000-k\(number)" }
    for (index, day) in days.enumerated() {
      try place.sql(
        """
        INSERT INTO run(id, name, pipeline, request, started, host, processors, process, cookie, steps)
        VALUES(\(index + 1), '\(name(index + 1))', 'p', '{}', \(Self.today + day * Self.day), 'h', 1, 1, '', 1)
        """)
    }
    let moment = Nanoseconds(Self.today + now * Self.day) * 1000
    _ = try store.pruneNowAndThen(.automatic, after: days.count, now: moment)
    return try store.runs().map(\.number).sorted()
  }

  @Test func `are those of more than 90 days before the newest ones`() throws {
    #expect(try left(Array(repeating: -200, count: 16) + Array(-15...0), now: 0) == Array(17...32))
    #expect(try left(Array(-31...0), now: 0) == Array(1...32))
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
