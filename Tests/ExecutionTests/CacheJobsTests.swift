// The order in which the answers of the cache's processes are used.

import Scheduling
import TestSupport
import Testing

@testable import Caching
@testable import Execution

@Suite(.blocking) struct CacheJobsTests {
  private static func key(_ number: Int) -> RunCache.Key { .step(OperationID(number)) }

  private static func jobs(_ count: Int, width: Int = 4) -> CacheJobs {
    var jobs = CacheJobs(width: width)
    for number in 0..<count {
      jobs.add(.inspect(directory: "", patterns: [], known: []), for: key(number))
    }
    return jobs
  }

  private static let reply = CacheReply.inspected([])

  @Test(arguments: [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
  func `answers are used in the order of the questions, whoever is first`(_ slots: [Int]) {
    var jobs = Self.jobs(4)
    while jobs.takeNext() != nil {}
    for slot in slots {
      #expect(jobs.takeAnswers(at: 0).isEmpty)
      #expect(jobs.finish(slot, Self.reply, at: 0) == nil)
    }
    #expect(jobs.takeAnswers(at: 0).map(\.key) == (0..<4).map(Self.key))
    #expect(jobs.answersDue == nil)
  }

  @Test func `one that takes long holds the others up for a moment only`() {
    var jobs = Self.jobs(3)
    while jobs.takeNext() != nil {}
    #expect(jobs.finish(2, Self.reply, at: 5_000_000) == nil)
    #expect(jobs.finish(1, Self.reply, at: 8_000_000) == nil)
    #expect(jobs.answersDue == 15_000_000)
    #expect(jobs.takeAnswers(at: 14_999_999).isEmpty)
    #expect(jobs.takeAnswers(at: 15_000_000).map(\.key) == [1, 2].map(Self.key))
    #expect(jobs.finish(0, Self.reply, at: 99_000_000) == nil)
    #expect(jobs.takeAnswers(at: 99_000_000).map(\.key) == [Self.key(0)])
  }

  @Test func `a question that is open, or answered and not used yet, is not asked twice`() {
    var jobs = Self.jobs(1)
    jobs.add(.tool("cc --version", environment: []), for: Self.key(0))
    #expect(jobs.takeNext()?.slot == 0)
    #expect(jobs.finish(0, Self.reply, at: 0) == nil)
    jobs.add(.tool("cc --version", environment: []), for: Self.key(0))
    #expect(jobs.takeNext() == nil)
    #expect(jobs.takeAnswers(at: 0).count == 1)
    jobs.add(.tool("cc --version", environment: []), for: Self.key(0))
    #expect(jobs.takeNext()?.slot == 10)
  }

  private static let restoration = CacheJob.restore(
    RestoreJob(directory: "", patterns: [], files: [], known: []))

  @Test func `what restores outputs is dropped if it was not begun, and nobody waits for it`() {
    var jobs = Self.jobs(2, width: 1)
    jobs.add(Self.restoration, for: Self.key(2))
    jobs.add(Self.restoration, for: Self.key(3))
    #expect(jobs.takeNext()?.slot == 0)
    #expect(jobs.withdraw(Self.key(2)) == .dropped)
    #expect(jobs.withdraw(Self.key(2)) == .none)
    #expect(jobs.finish(0, Self.reply, at: 0) == nil)
    #expect(jobs.takeNext()?.slot == 0)
    #expect(jobs.finish(0, Self.reply, at: 0) == nil)
    #expect(jobs.takeNext()?.slot == 0)
    #expect(jobs.withdraw(Self.key(3)) == .running(slot: 0))
    #expect(jobs.takeAnswers(at: 0).map(\.key) == [0, 1].map(Self.key))
    #expect(!jobs.isWaiting)
    #expect(jobs.finish(0, Self.reply, at: 0) == Self.key(3))
    #expect(jobs.answersDue == nil)
  }

  @Test func `other questions go on, and their answers are used`() {
    var jobs = Self.jobs(1)
    #expect(jobs.withdraw(Self.key(0)) == .dropped)
    jobs.add(.inspect(directory: "", patterns: [], known: []), for: Self.key(0))
    #expect(jobs.takeNext()?.slot == 0)
    #expect(jobs.withdraw(Self.key(0)) == .none)
    #expect(jobs.finish(0, Self.reply, at: 0) == nil)
    #expect(jobs.takeAnswers(at: 0).count == 1)
  }

  @Test func `transfers and tools have own processes, and nobody waits for what is stored`() {
    var jobs = Self.jobs(0, width: 1)
    let digest = CacheDigest(of: "x")
    for number in 0..<9 {
      jobs.add(.store(digest, outputs: [], replacing: false), for: .sharing(OperationID(number)))
    }
    for number in 0..<9 { jobs.add(.fetch(digest, outputs: []), for: Self.key(number)) }
    jobs.add(.tool("true", environment: []), for: .tool(ToolQuestion("true")))
    var slots: [Int] = []
    while let next = jobs.takeNext() { slots.append(next.slot) }
    #expect(slots == [1, 2, 3, 4, 5, 6, 7])
    #expect(jobs.isStoring)
    #expect(
      jobs.finish(5, .transferred(.done), at: 0) == RunCache.Key.sharing(OperationID(0)))
    #expect(jobs.answersDue == nil)
    #expect(jobs.takeNext()?.slot == 5)
  }
}
