// What the code of users may do when the library calls it, or releases what it has captured: use the
// library, and wait for anything but the operation that it is about. Each test is a process of its
// own, which ends by itself if it hangs.

import Dispatch
import Glibc
@testable import OperationKit
import Testing

private struct Broken: Error {}

/// Calls a closure when it is released.
private final class Farewell: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }
}

@Suite struct ForeignCodeTests {
  @Test func `a queue can be released whose progress keeps the last reference to another`() async {
    await #expect(processExitsWith: .success) {
      alarm(300)
      func makeQueue() -> OperationQueue {
        let (download, resize) = (OperationQueue(), OperationQueue())
        download.progress.cancellationHandler = { resize.cancelAllOperations() }
        return download
      }
      _ = makeQueue().progress
    }
  }

  @Test func `what a part of a progress keeps is released without a lock`() async {
    await #expect(processExitsWith: .success) {
      alarm(300)
      let journal = Journal()
      let whole = Progress(totalUnitCount: 10)
      do {
        let part = Progress(totalUnitCount: 1)
        let farewell = Farewell { journal.note("\(whole.completedUnitCount)") }
        part.cancellationHandler = { _ = farewell }
        whole.addChild(part, withPendingUnitCount: 5)
        part.completedUnitCount = 1
      }
      #expect(whole.fractionCompleted == 0.5)
      #expect(journal.all == ["5"])
    }
  }

  @Test func `what makes the next attempt can wait for what the last one let start`() async {
    await #expect(processExitsWith: .success) {
      alarm(300)
      let (queue, other) = (OperationQueue(), OperationQueue())
      let cleanup = BlockOperation {}
      let retry = RetryOperation(limit: 2) { attempt in
        if attempt == 2 { cleanup.waitUntilFinished() }
        let operation = BlockOperation { if attempt == 1 { throw Broken() } }
        if attempt == 1 {
          cleanup.addDependency(operation)
          other.addOperation(cleanup)
        }
        return operation
      }
      queue.addOperation(retry)
      retry.waitUntilFinished()
    }
  }

  @Test func `a state handler can wait for what became ready with its operation`() async {
    await #expect(processExitsWith: .success) {
      alarm(300)
      let (queue, other, held) = (OperationQueue(), OperationQueue(), OperationQueue())
      held.isSuspended = true
      let (gate, seen) = (Gate(), Gate())
      let first = BlockOperation { gate.pass() }
      let (second, third) = (BlockOperation {}, BlockOperation {})
      second.addDependency(first)
      third.addDependency(first)
      third.observeState { state in
        guard state == .ready else { return }
        second.waitUntilFinished()
        seen.open()
      }
      queue.addOperation(first)
      other.addOperation(second)
      held.addOperation(third)
      gate.open()
      seen.pass()
    }
  }

  // A thread that counts as looking for work leaves in the inbox what is added.
  @Test func `a cycle handler can ask the queue whose width is being set`() async {
    await #expect(processExitsWith: .success) {
      alarm(300)
      let journal = Journal()
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.addOperation {}
      OperationQueue.cycleHandler = { cycle in
        journal.note("\(queue.maxConcurrentOperationCount) \(queue.isSuspended)")
        cycle[0].cancel()
      }
      Engine.shared.enter()
      Engine.shared.crew.startsSearching()
      Engine.shared.unlockAndWake()
      for change in [{ queue.maxConcurrentOperationCount = 3 }, { queue.isSuspended = true }] {
        let (first, second) = (BlockOperation {}, BlockOperation {})
        first.addDependency(second)
        second.addDependency(first)
        queue.addOperation(first)
        queue.addOperation(second)
        let isLeft = !Engine.shared.inbox.isEmpty
        #expect(isLeft)
        change()
      }
      #expect(journal.all == ["3 true", "3 true"])
    }
  }

  @Test func `blocks can be added from several threads`() async {
    await #expect(processExitsWith: .success) {
      alarm(300)
      let operation = BlockOperation()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for _ in 0..<50_000 { operation.addExecutionBlock {} }
      }
      #expect(operation.executionBlocks.count == 200_000)
    }
  }
}
