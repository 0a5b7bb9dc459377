// A lock, and a signal that one thread waits for. They know nothing about operations.

internal import CLinux
import Glibc
import Synchronization

/// A lock for short work. A thread that finds it taken twice in a row keeps away for some 50 µs, a
/// few times, before it sleeps on it: so a thread that comes back at once, for the next of many
/// small operations, finds the lock and everything that it guards in its own cache. Alternating
/// takes three times as long.
///
/// It is one word, on which the kernel lets threads sleep (futex(2)): a lock of the C library takes
/// two calls for each operation, which cost 5 to 8 % of the time of operations that do nothing.
final class Lock: @unchecked Sendable {  // the word is atomic
  private static let steps = 2000
  private static let attempts = 10
  private let clock = Atomic<Bool>(false)
  private static let free: UInt32 = 0
  private static let taken: UInt32 = 1
  /// A thread has the lock, and others may sleep on it.
  private static let awaited: UInt32 = 2
  /// The word of the lock has a cache line of its own: others write what lies beside it.
  private let word = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
    .bindMemory(to: Atomic<UInt32>.self, capacity: 1)

  init() { word.initialize(to: Atomic(Lock.free)) }

  deinit {
    word.deinitialize(count: 1)
    word.deallocate()
  }

  /// Takes the lock; returns true if another thread had it.
  @discardableResult
  func lock() -> Bool {
    if tryLock() { return false }
    lockSlowly()
    return true
  }

  /// Takes the lock if no thread has it.
  func tryLock() -> Bool {
    word.pointee.compareExchange(expected: Lock.free, desired: Lock.taken, ordering: .acquiring)
      .exchanged
  }

  private func lockSlowly() {
    for attempt in 0..<Lock.attempts {
      if attempt < 2 {
        for _ in 0..<Lock.steps { _ = clock.load(ordering: .relaxed) }
      } else {
        usleep(1)
      }
      if tryLock() { return }
    }
    while word.pointee.exchange(Lock.awaited, ordering: .acquiring) != Lock.free {
      clinux_sleep_while(word, Lock.awaited)
    }
  }

  func unlock() {
    if word.pointee.exchange(Lock.free, ordering: .releasing) == Lock.awaited {
      clinux_wake_one(word)
    }
  }

  func locked<Value>(_ body: () throws -> Value) rethrows -> Value {
    lock()
    defer { unlock() }
    return try body()
  }
}

/// A value and its lock. Work that is done while it is held should be short.
///
/// It does not use Synchronization.Mutex, whose slow path is in a library that the thread sanitizer
/// does not instrument, so every contended use would be reported as a race.
package final class Guarded<Value>: @unchecked Sendable {  // the value is under the lock
  private let lock = Lock()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.locked { try body(&value) }
  }
}

/// A lock of one byte, for a few instructions that hardly ever collide: each operation has one.
struct ByteLock: ~Copyable {
  private let isTaken = Atomic<Bool>(false)

  func locked<Value>(_ body: () -> Value) -> Value {
    while isTaken.exchange(true, ordering: .acquiring) { sched_yield() }
    defer { isTaken.store(false, ordering: .releasing) }
    return body()
  }
}

/// Counts up by `send`, down by `wait`, which sleeps at 0.
package final class Signal: @unchecked Sendable {  // semaphores are made to be shared
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  package init() { sem_init(semaphore, 0, 0) }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  package func send() { sem_post(semaphore) }

  package func wait() {
    while sem_wait(semaphore) != 0 {}
  }

  /// Waits for a signal. False if none was sent in about that time; it is inexact if the clock is
  /// set meanwhile, since Swift's Glibc module does not expose sem_clockwait.
  package func wait(seconds: Int) -> Bool { wait(milliseconds: seconds * 1000) }

  /// Like `wait(seconds:)`.
  package func wait(milliseconds: Int) -> Bool {
    var end = timespec()
    clock_gettime(CLOCK_REALTIME, &end)
    let nanoseconds = end.tv_nsec + milliseconds % 1000 * 1_000_000
    end.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
    end.tv_nsec = nanoseconds % 1_000_000_000
    while sem_timedwait(semaphore, &end) != 0 {
      if errno == ETIMEDOUT { return false }
    }
    return true
  }
}
