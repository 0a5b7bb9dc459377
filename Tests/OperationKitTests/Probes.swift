// What the tests observe with: a list that many threads write to, gates, and waiting with a time
// limit.

import Dispatch
import Glibc
import OperationKit
import Synchronization
import Testing

/// A value and its lock. The thread sanitizer does not instrument Synchronization.Mutex.
final class Locked<Value>: @unchecked Sendable {
  private let semaphore = DispatchSemaphore(value: 1)
  private var value: Value
  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    semaphore.wait()
    defer { semaphore.signal() }
    return body(&value)
  }
}

/// What happened, in order.
final class Journal: Sendable {
  private let entries = Locked<[String]>([])

  func note(_ entry: String) { entries.withLock { $0.append(entry) } }
  var all: [String] { entries.withLock { $0 } }
}

/// Counts how many are inside at the same time, and the maximum so far.
final class Crowd: Sendable {
  private let counts = Locked((inside: 0, most: 0))

  func enter() { counts.withLock { $0 = ($0.inside + 1, max($0.most, $0.inside + 1)) } }
  func leave() { counts.withLock { $0.inside -= 1 } }
  var inside: Int { counts.withLock { $0.inside } }
  var most: Int { counts.withLock { $0.most } }
}

/// Closed until it is opened, then open for all.
final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func open() { semaphore.signal() }

  /// Passes the gate; a test that would hang fails instead.
  func pass(sourceLocation: SourceLocation = #_sourceLocation) {
    if semaphore.wait(timeout: .now() + 120) == .timedOut {
      Issue.record("nobody opened the gate", sourceLocation: sourceLocation)
    }
    semaphore.signal()
  }
}

/// An operation that notes its name.
func noting(_ name: String, in journal: Journal) -> BlockOperation {
  let operation = BlockOperation { journal.note(name) }
  operation.name = name
  return operation
}

func serialQueue() -> OperationQueue {
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = 1
  return queue
}

/// Waits for what another thread is about to do, without an order of time.
func eventually(
  _ comment: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
) {
  let end = ContinuousClock.now + .seconds(120)
  while ContinuousClock.now < end {
    if condition() { return }
    var moment = timespec(tv_sec: 0, tv_nsec: 1_000_000)
    nanosleep(&moment, nil)
  }
  if condition() { return }
  Issue.record("never: \(comment)", sourceLocation: sourceLocation)
}
