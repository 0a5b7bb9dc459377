// Who calls back the thread that runs operations from a nap. A thread of the test takes its place
// and naps for an hour instead of a millisecond, so nothing here depends on time. Each test is a
// process of its own, because the tests share the engine.

import Glibc
@testable import OperationKit
import Synchronization
import Testing

/// A thread that naps as the one that looks for work does in a burst that does not end.
private final class Napper: Sendable {
  private static let hour = 3_600_000_000_000
  private let isUndisturbed = Atomic<Bool>(true)
  private let hasEnded = Signal()

  /// Returns when the thread sleeps.
  init() {
    let engine = Engine.shared
    engine.nap.end()
    engine.enter()
    engine.crew.startsSearching()
    engine.unlockAndWake()
    let hasStarted = Threads.start { self.nap() }
    #expect(hasStarted)
    eventually("the thread sleeps") { engine.nap.isTaken }
  }

  private func nap() {
    let engine = Engine.shared
    var mark: UInt = 0
    let result = engine.nap.take(limit: Napper.hour) {
      mark += 1
      return mark
    }
    isUndisturbed.store(result, ordering: .relaxed)
    engine.nap.end()
    engine.enter()
    engine.crew.stopsSearching()
    engine.unlockAndWake()
    hasEnded.send()
  }

  /// Waits until the thread is called back. False if nobody does so.
  func isCalledBack() -> Bool {
    if hasEnded.wait(seconds: 120) { return !isUndisturbed.load(ordering: .relaxed) }
    Engine.shared.nap.disturb()
    hasEnded.wait()
    return false
  }
}

/// Checks that a call ends a nap. The queue is suspended and has an operation, this one: so what is
/// added to it goes through the inbox, and there is nothing to run.
private func expectCall(_ caller: String, _ call: (OperationQueue, Operation) -> Void) {
  let queue = OperationQueue()
  queue.isSuspended = true
  let operation = BlockOperation {}
  queue.addOperation(operation)
  let napper = Napper()
  queue.addOperation {}
  let isAsleep = Engine.shared.nap.isTaken
  #expect(isAsleep, "an ordinary operation does not end a nap")
  call(queue, operation)
  let isCalledBack = napper.isCalledBack()
  #expect(isCalledBack, "\(caller)")
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
}

@Suite struct CallingBackTests {
  @Test func `a nap ends when a thread or a task begins to wait`() async {
    await #expect(processExitsWith: .success) {
      expectCall("a thread waits for the queue") { queue, _ in
        _ = Threads.start { queue.waitUntilAllOperationsAreFinished() }
      }
      expectCall("a thread waits for an operation") { _, operation in
        _ = Threads.start { operation.waitUntilFinished() }
      }
      expectCall("a task waits for an operation") { _, operation in
        Task { await operation.finished() }
      }
    }
  }

  @Test func `a nap ends when an urgent operation is added, and when there is work`()
    async
  {
    await #expect(processExitsWith: .success) {
      expectCall("an urgent operation is added") { queue, _ in
        let urgent = BlockOperation {}
        urgent.queuePriority = .veryHigh
        queue.addOperation(urgent)
      }
      let other = OperationQueue()
      expectCall("operations are added at once") { _, _ in
        other.addOperations([Operation(), Operation()], waitUntilFinished: false)
      }
      // What is still to be started there would end the next nap.
      other.waitUntilAllOperationsAreFinished()
      expectCall("a suspended queue is resumed") { queue, _ in queue.isSuspended = false }
    }
  }

  @Test func `the thread that has run a burst of operations naps`() async {
    await #expect(processExitsWith: .success) {
      eventually("a nap is seen") { showsNapAfterBurst() }
    }
  }
}

/// Runs a burst, and looks for the nap that follows. A nap is short, so one may be missed.
private func showsNapAfterBurst() -> Bool {
  let queue = serialQueue()
  queue.isSuspended = true
  for _ in 0..<200 { queue.addOperation {} }
  queue.isSuspended = false
  while queue.operationCount > 0 { sched_yield() }
  return (0..<1000).contains { _ in
    sched_yield()
    return Engine.shared.nap.isTaken
  }
}
