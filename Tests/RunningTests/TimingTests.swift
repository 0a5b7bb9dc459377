// Retry delays and timers.

import Plans
import Scheduling
import Testing

@testable import Running

struct `Retry delays` {
  @Test func `grow by the factor, end at the longest, and never overflow`() {
    var policy = RetryPolicy()
    policy.delay = 100
    policy.backoff = 1500
    policy.maxDelay = 300
    #expect((1...5).map { policy.delay(afterAttempt: $0) } == [100, 150, 225, 300, 300])
    policy.maxDelay = .max
    policy.backoff = 1_000_000
    #expect(policy.delay(afterAttempt: 1_000_000) == .max)
    policy.delay = 0
    #expect(policy.delay(afterAttempt: 50) == 0)
  }
}

struct `The timers of a run` {
  @Test func `come out by time, equal ones in the order they were set`() {
    var timers = Timers()
    let times: [Nanoseconds] = [5, 3, 9, 3, 1, 5, 7, 1]
    for (index, time) in times.enumerated() {
      timers.set(Timer(at: time, operation: OperationID(index), purpose: .retryDue, phase: 0))
    }
    var order: [Int] = []
    while let timer = timers.earliest {
      order.append(timer.operation.index)
      timers.removeEarliest()
    }
    #expect(order == [4, 7, 1, 3, 0, 5, 6, 2])
  }
}
