// A download as operations, one for each attempt. Operations that wait for the first attempt wait
// for all of them.

import Diagnostics
import OperationKit

/// One source, from the first attempt to the end.
final class DownloadTask: Sendable {
  struct End: Sendable {
    let result: Result<Acquired, ItemFailure>
    let attemptCount: Int
    /// The number of bytes received in all attempts.
    let receivedByteCount: Int
    let nanoseconds: Int64
    /// When the download ended, by the monotonic clock.
    let time: Int64
  }

  let policy: RetryPolicy
  private let feed: SourceFeed
  private let source: Int
  private let body: @Sendable () throws(ItemFailure) -> Acquired
  private let whenOver: @Sendable (End) -> Void
  private let started = Guarded<Int64?>(nil)
  private let received = Guarded(0)
  private let outcome = Guarded<End?>(nil)

  /// `source` is its number in the feed, where it currently has a slot.
  init(
    _ policy: RetryPolicy, _ source: Int, of feed: SourceFeed,
    _ body: @escaping @Sendable () throws(ItemFailure) -> Acquired,
    whenOver: @escaping @Sendable (End) -> Void
  ) {
    self.policy = policy
    self.feed = feed
    self.source = source
    self.body = body
    self.whenOver = whenOver
  }

  /// The end; nil while there may be another attempt.
  var end: End? { outcome.withLock { $0 } }

  /// Makes an attempt; returns nil if it was the last one, otherwise the delay before the next.
  func attempt(_ number: Int) -> Int64? {
    let start = started.withLock { start in
      start = start ?? monotonicTime()
      return start ?? 0
    }
    let result = Result { () throws(ItemFailure) in try body() }
    let receivedByteCount = received.withLock { count in
      switch result {
      case .success(let acquired): count += acquired.receivedByteCount
      case .failure(let failure): count += failure.receivedByteCount
      }
      return count
    }
    if case .failure(let failure) = result,
      let delay = policy.delay(after: failure, attempt: number, chance: .random(in: 0...1))
    {
      feed.paused(source)
      return delay
    }
    let now = monotonicTime()
    let end = End(
      result: result, attemptCount: number, receivedByteCount: receivedByteCount,
      nanoseconds: now - start, time: now)
    outcome.withLock { $0 = end }
    whenOver(end)
    return nil
  }
}

extension DownloadTask {
  /// Called when everything that wanted the content has processed it.
  func release() {
    if case .success(let acquired)? = end?.result { acquired.removePassing?() }
  }

  /// True if there is a slot for another attempt now; if not, `goOn` is called when there is.
  func mayResume(whenFree goOn: @escaping @Sendable () -> Void) -> Bool {
    feed.resume(source, whenFree: goOn)
  }
}

final class DownloadOperation: Operation, @unchecked Sendable {  // it has no mutable state
  private let task: DownloadTask
  private let number: Int
  private let hasPlace: Bool

  init(_ task: DownloadTask, attempt number: Int = 1, hasPlace: Bool = true) {
    self.task = task
    self.number = number
    self.hasPlace = hasPlace
  }

  override func main() {
    if !hasPlace {
      let gate = BlockOperation()
      guard task.mayResume(whenFree: { gate.start() }) else {
        let next = DownloadOperation(task, attempt: number)
        next.addDependency(gate)
        return produce(next)
      }
    }
    guard let delay = task.attempt(number) else { return }
    let next = DownloadOperation(task, attempt: number + 1, hasPlace: false)
    let due = monotonicTime() + delay
    // An operation that waits for a condition holds no slot of the queue.
    next.addCondition(.when(every: .nanoseconds(delay)) { monotonicTime() >= due })
    produce(next)
  }
}
