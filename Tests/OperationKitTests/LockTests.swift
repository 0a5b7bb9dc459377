// The lock under everything: threads that find it taken for long sleep, and are woken.

import Glibc
import OperationKit
import Testing

@Suite struct LockTests {
  // A thread tries for less than a millisecond before it sleeps. If it were not woken, this would
  // never end.
  @Test(.timeLimit(.minutes(10)))
  func `threads that sleep on a lock are woken, and have it one at a time`() {
    let count = Guarded(0)
    let ended = Signal()
    for _ in 0..<8 {
      let hasStarted = Threads.start {
        for _ in 0..<5 {
          count.withLock {
            let old = $0
            usleep(2000)
            $0 = old + 1
          }
        }
        ended.send()
      }
      #expect(hasStarted)
    }
    for _ in 0..<8 { #expect(ended.wait(seconds: 500)) }
    #expect(count.withLock { $0 } == 40)
  }
}
