// Detects whether a directory may have got a file since a certain moment, at a lower cost than
// looking for the file: 0.3 µs instead of 6 on ext4.

import CLinux
import Glibc
import RunFiles

struct FolderChanges: ~Copyable {
  private let folder: RunDirectory
  /// The number of changes that were noticed. If it is the same at two moments, with a call of
  /// `look` at the second one, nothing was created, renamed or removed in the directory between
  /// them.
  private(set) var count = 0
  /// True if the directory was removed.
  private(set) var isFolderGone = false
  private var lastStamp = FileTime(seconds: 0, nanoseconds: 0)
  private var lastLook = FileTime(seconds: 0, nanoseconds: 0)

  init(of folder: RunDirectory) { self.folder = folder }

  /// Counts changes that may have happened since the last call.
  ///
  /// The kernel stamps a directory with its coarse clock, the one that is read here. So a change
  /// after a call has a later stamp than the one seen by it, if that one was already in the past.
  mutating func look() {
    // The clock is read first, so that a change between the two calls is noticed now.
    var clock = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &clock)
    guard let change = folder.change else { return count += 1 }
    let stamp = FileTime(seconds: change.at.tv_sec, nanoseconds: change.at.tv_nsec)
    if stamp != lastStamp || !stamp.isPast(at: lastLook) { count += 1 }
    isFolderGone = change.isRemoved
    lastStamp = stamp
    lastLook = FileTime(seconds: clock.tv_sec, nanoseconds: clock.tv_nsec)
  }
}

private struct FileTime: Hashable {
  let seconds: Int
  let nanoseconds: Int

  /// True if a stamp is in the past by more than a tick of the clock, or by more than two seconds,
  /// the coarsest stamps there are (FAT), if it may be rounded.
  func isPast(at now: FileTime) -> Bool {
    let needed = nanoseconds == 0 ? 3_000_000_000 : 20_000_000
    let (distance, overflow) = (now.seconds - seconds).multipliedReportingOverflow(
      by: 1_000_000_000)
    return !overflow && distance + now.nanoseconds - nanoseconds >= needed
  }
}
