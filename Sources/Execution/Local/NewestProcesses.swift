// Finds processes as they are started, without reading the list of all: the kernel numbers them one after the
// other, and says which number was the last. It does not know whose they are.

import Diagnostics
import Processors
import Scheduling

struct NewestProcesses {
  /// The last number that was looked at; nil before the first look.
  private var last: Int32?

  /// The time for which one watch looks, and between two looks no more than which counts: a process may have come
  /// and gone while nobody could look.
  private static let watchedTime: Nanoseconds = 3_000_000
  private static let glance: Nanoseconds = 100_000
  /// The looks of a watch for which there is hardly a processor.
  private static let mostLooks = 5000
  /// The most numbers that are looked at after one look. When more processes were started since the one before,
  /// all but the last have ended, or are in the list of all.
  private static let longestGap: Int32 = 512

  /// Calls `found` with the numbers of the processes that are started in the next milliseconds, as soon as they
  /// are. Returns at once if the kernel does not say.
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

  /// The last field of /proc/loadavg: the number that a process or a thread was given last.
  private static var lastNumber: Int32? {
    readSmallFile("/proc/loadavg").flatMap { ProcessStatus.numbers(in: $0).last }
  }
}
