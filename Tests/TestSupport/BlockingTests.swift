// Threads for tests that block theirs.

import Foundation
import Synchronization
package import Testing

/// Runs the tests of a suite on threads of their own. Swift has one thread per processor for all tests: one that waits
/// there for a process keeps it from the others, and the processors have nothing to do.
package struct BlockingTests: SuiteTrait, TestScoping {
  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(BlockingThreads.shared) { try await function() }
  }
}

extension Trait where Self == BlockingTests {
  /// Its tests wait for processes, servers or locks.
  package static var blocking: Self { Self() }
}

/// A fixed number of threads, which may block. They never end, because the kernel tells some children when the thread
/// that has started them ends.
private final class BlockingThreads: TaskExecutor {
  static let shared = BlockingThreads()

  private let jobs = Mutex<[UnownedJob]>([])
  private let added = DispatchSemaphore(value: 0)

  /// Few enough that each test still has a good part of a processor.
  private init() {
    for _ in 0..<(3 * ProcessInfo.processInfo.activeProcessorCount) {
      Thread.detachNewThread { [self] in
        while true { runNext() }
      }
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    added.signal()
  }

  private func runNext() {
    added.wait()
    let job = jobs.withLock { $0.removeFirst() }
    job.runSynchronously(on: asUnownedTaskExecutor())
  }
}
