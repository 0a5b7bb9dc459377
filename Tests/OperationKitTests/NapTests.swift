// The sleep of a thread that lets small operations accumulate: how long, and who ends it.

import OperationKit
import Synchronization
import Testing

@Suite struct NapTests {
  private static let hour = 3_600_000_000_000

  @Test func `a nap ends when nothing comes any more`() {
    let nap = Nap()
    let isUndisturbed = nap.take(limit: NapTests.hour) { 1 }
    let isTaken = nap.isTaken
    #expect(isUndisturbed && !isTaken)
  }

  @Test func `a nap ends at its limit while more comes`() {
    let nap = Nap()
    var mark: UInt = 0
    let isUndisturbed = nap.take(limit: 1_000_000) {
      mark += 1
      return mark
    }
    #expect(isUndisturbed)
    #expect(mark > 1)
  }

  // If the thread were not called back, this would never end.
  @Test(.timeLimit(.minutes(10))) func `whoever cannot wait ends a nap`() {
    final class Shared: Sendable {
      let nap = Nap()
      let isUndisturbed = Atomic<Bool>(true)
      let hasEnded = Signal()
    }
    let shared = Shared()
    let hasStarted = Threads.start {
      var mark: UInt = 0
      let result = shared.nap.take(limit: NapTests.hour) {
        mark += 1
        return mark
      }
      shared.isUndisturbed.store(result, ordering: .relaxed)
      shared.hasEnded.send()
    }
    #expect(hasStarted)
    eventually("the thread sleeps") { shared.nap.isTaken }
    shared.nap.disturb()
    #expect(shared.hasEnded.wait(seconds: 500))
    let isUndisturbed = shared.isUndisturbed.load(ordering: .relaxed)
    #expect(!isUndisturbed)
  }

  @Test func `a call right before a nap prevents it, until work has been looked for`() {
    let nap = Nap()
    nap.disturb()
    var hasBegun = false
    let isUndisturbed = nap.take(limit: NapTests.hour) {
      hasBegun = true
      return 1
    }
    #expect(!isUndisturbed && !hasBegun)
    nap.end()
    let isUndisturbedNow = nap.take(limit: 0) { 1 }
    #expect(isUndisturbedNow)
  }

  @Test func `only a burst allows a nap, which is short beside what the burst has taken`() {
    var burst = Burst()
    burst.streak = 31
    #expect(burst.pause() == nil)
    let start = ContinuousClock.now
    for _ in 0..<3 {
      burst.streak = 32
      guard let limit = burst.pause() else {
        Issue.record("a burst allows no nap")
        continue
      }
      #expect(limit <= 1_000_000)
      #expect(.nanoseconds(limit * 16) <= start.duration(to: .now))
      #expect(burst.streak == 0)
    }
  }
}
