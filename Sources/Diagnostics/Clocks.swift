// The clocks of the kernel, in nanoseconds.

import Glibc

/// The monotonic clock, which stands still while the machine sleeps.
package func monotonicTime() -> Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

/// The time since 1970 in UTC, provided that the clock of the machine is right.
package func wallTime() -> Int64 { nanoseconds(of: CLOCK_REALTIME) }

/// The time since the machine was started, including the time in which it slept.
package func timeSinceBoot() -> Int64 { nanoseconds(of: CLOCK_BOOTTIME) }

private func nanoseconds(of clock: clockid_t) -> Int64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
