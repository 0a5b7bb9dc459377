// Finds processes as they are started, without reading the list of all: the kernel numbers them one
// after the other, and shows the last number. It does not know their owners.

import Diagnostics
import Processors
import Scheduling

struct NewestProcesses {
  /// The last number that was looked at; nil before the first look.
  private var last: Int32?

  /// The time for which one watch looks, and the longest pause between two looks that counts: a
  /// process may have come and gone while nobody could look.
  private static let watchedTime: Nanoseconds = 3_000_000
  private static let glance: Nanoseconds = 100_000
  /// The largest number of looks of a watch for which there is hardly a processor.
  private static let mostLooks = 5000
  /// The largest number of processes that one look covers. If more were started since the look
  /// before, all but the last have ended, or are in the list of all.
  private static let longestGap: Int32 = 512

  /// Calls `found` with the numbers of processes that start in the next milliseconds, as soon as
  /// they do. Returns at once if the kernel does not show the last number.
  mutating func watch(_ found: ([Int32]) -> Void) {
    var watched: Nanoseconds = 0
    var before = monotonicTime()
    for _ in 0..<Self.mostLooks where watched < Self.watchedTime {
      guard let newest = Self.lastNumber else { return }
      if let last, newest != last {
        // After the largest number follow small ones.
        found(Array((newest > last ? max(last + 1, newest - Self.longestGap) : newest)...newest))
      }
      last = newest
      let time = monotonicTime()
      if time - before <= Self.glance { watched += time - before }
      before = time
    }
  }

  /// The last field of /proc/loadavg: the number that was last given to a process or thread.
  private static var lastNumber: Int32? {
    readSmallFile("/proc/loadavg").flatMap { ProcessStatus.numbers(in: $0).last }
  }
}
