// A lock, and a signal that one thread waits for. They know nothing of operations.
//
// Synchronization.Mutex hands over to the next thread through the kernel when it is contended
// (FUTEX_LOCK_PI); for the engine's lock, held for some 100 ns, spinning first is several times
// faster.

import Glibc

/// A lock that spins for a moment before it sleeps.
final class Lock: @unchecked Sendable {  // pthread locks are made to be shared
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init() {
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }

  func locked<Value>(_ body: () throws -> Value) rethrows -> Value {
    lock()
    defer { unlock() }
    return try body()
  }
}

/// Counts up by `send`, down by `wait`, which sleeps at 0.
final class Signal: @unchecked Sendable {  // semaphores are made to be shared
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(semaphore, 0, 0) }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func send() { sem_post(semaphore) }

  func wait() {
    while sem_wait(semaphore) != 0 {}
  }

  /// False if nothing was sent in about that time: the clock may be set meanwhile, since Swift's
  /// Glibc module does not show sem_clockwait.
  func wait(seconds: Int) -> Bool {
    var end = timespec()
    clock_gettime(CLOCK_REALTIME, &end)
    end.tv_sec += seconds
    while sem_timedwait(semaphore, &end) != 0 {
      if errno == ETIMEDOUT { return false }
    }
    return true
  }
}
