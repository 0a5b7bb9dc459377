// Operations that wait for their own readiness or for a condition, without a slot.

import Glibc
import OperationKit
import Testing

/// An operation that is ready when its owner says so.
private final class Own: Operation, @unchecked Sendable {
  private let mayRun = Locked(false)
  override var isReady: Bool { super.isReady && mayRun.withLock { $0 } }

  func allow() {
    mayRun.withLock { $0 = true }
    didChangeValue(forKey: "isReady")
  }
}

/// A predicate that counts how often it is asked.
private final class Predicate: Sendable {
  private let state = Locked((isTrue: false, count: 0))
  var count: Int { state.withLock { $0.count } }
  func becomeTrue() { state.withLock { $0.isTrue = true } }

  func callAsFunction() -> Bool {
    state.withLock {
      $0.count += 1
      return $0.isTrue
    }
  }
}

/// Waits as long as a predicate is asked this often in turns of a millisecond.
private func wait(turns: Int) {
  let left = Locked(turns)
  let clock = BlockOperation {}
  clock.addCondition(
    .when(every: .milliseconds(1)) {
      left.withLock {
        $0 -= 1
        return $0 < 0
      }
    })
  OperationQueue().addOperations([clock], waitUntilFinished: true)
}

@Suite struct ParkingTests {
  @Test func `one that ends while its condition is false is asked no more`() async {
    await #expect(processExitsWith: .success) {
      alarm(300)
      let predicate = Predicate()
      let queue = OperationQueue()
      let operation = AsyncOperation()
      operation.addCondition(.when(every: .milliseconds(1)) { predicate() })
      queue.addOperation(operation)
      eventually("the predicate is asked") { predicate.count > 2 }
      operation.finish()
      queue.waitUntilAllOperationsAreFinished()
      let count = predicate.count
      wait(turns: 20)
      #expect(predicate.count - count <= 1)
      predicate.becomeTrue()
      wait(turns: 20)
    }
  }

  @Test func `a dependency that is added while a condition is false is waited for`() {
    let predicate = Predicate()
    let journal = Journal()
    let queue = OperationQueue()
    let (operation, dependency) = (noting("operation", in: journal), noting("first", in: journal))
    operation.addCondition(.when(every: .milliseconds(1)) { predicate() })
    queue.addOperation(operation)
    eventually("the predicate is asked") { predicate.count > 2 }
    operation.addDependency(dependency)
    #expect(!operation.isReady)
    predicate.becomeTrue()
    wait(turns: 20)
    queue.addOperation(dependency)
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.all == ["first", "operation"])
  }

  @Test func `a dependency of one that is not ready by itself is waited for`() {
    let queue = OperationQueue()
    let operation = Own()
    queue.addOperation(operation)
    wait(turns: 5)
    let dependency = BlockOperation {}
    operation.addDependency(dependency)
    operation.allow()
    wait(turns: 20)
    #expect(!operation.isFinished)
    queue.addOperations([dependency], waitUntilFinished: false)
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished)
  }

  @Test func `notifications do not make a condition be asked more often`() {
    let predicate = Predicate()
    let queue = OperationQueue()
    let operation = AsyncOperation()
    operation.addCondition(.when(every: .milliseconds(20)) { predicate() })
    queue.addOperation(operation)
    eventually("the predicate is asked") { predicate.count > 1 }
    for _ in 0..<100 {
      let count = predicate.count
      operation.didChangeValue(forKey: "isReady")
      eventually("the predicate is asked again") { predicate.count > count }
    }
    wait(turns: 20)
    // One that got no notification is the measure: a machine that is slow is so for both.
    let measure = Predicate()
    let other = AsyncOperation()
    other.addCondition(.when(every: .milliseconds(20)) { measure() })
    queue.addOperation(other)
    let count = predicate.count
    eventually("the measure is asked") { measure.count > 20 }
    #expect(predicate.count - count < 20 * 20, "not a hundred times as often")
    operation.finish()
    other.finish()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func `a cancelled one whose condition is false ends`() {
    let predicate = Predicate()
    let queue = OperationQueue()
    let operation = BlockOperation {}
    operation.addCondition(.when(every: .seconds(3600)) { predicate() })
    queue.addOperation(operation)
    eventually("the predicate is asked") { predicate.count > 0 }
    operation.cancel()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished)
  }
}
