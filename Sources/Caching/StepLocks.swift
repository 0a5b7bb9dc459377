// The locks by which several runs that share a cache do not do the same step at the same time.

import Glibc

/// The steps that one run has locked. Each locks a byte of one file, which the kernel frees when oprun has ended, and all of
/// its own processes that have the file.
///
/// The kernel goes through all locks of a file whenever one is taken or given back, and whenever a command that is started
/// closes the file. So a run locks only steps that run, or whose outputs it restores.
struct StepLocks {
  /// -1 if it is not open, -2 if it cannot be opened.
  private var file: Int32 = -1

  /// False if another run has the lock. Without a file to lock, nobody has to wait.
  mutating func take(_ step: CacheDigest, in folder: Int32) -> Bool {
    !open(in: folder) || set(step, Int16(F_WRLCK))
  }

  /// Opens the file, unless it is open; false if it cannot be opened.
  mutating func open(in folder: Int32) -> Bool {
    if file == -1 {
      file = openat(folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if file < 0 { file = -2 }
    }
    return file >= 0
  }

  var descriptor: Int32 { file }

  /// Gives back a lock that was taken.
  func giveBack(_ step: CacheDigest) {
    if file >= 0 { _ = set(step, Int16(F_UNLCK)) }
  }

  func close() { if file >= 0 { Glibc.close(file) } }

  /// Uses a lock of the open file, which no child that closes it has; `F_OFD_SETLK` of <fcntl.h>.
  private func set(_ step: CacheDigest, _ kind: Int16) -> Bool {
    var range = flock()
    range.l_type = kind
    range.l_whence = Int16(SEEK_SET)
    range.l_start = off_t(step.words.0 >> 2)
    range.l_len = 1
    if fcntl(file, 37, &range) == 0 { return true }
    return errno != EAGAIN && errno != EACCES
  }
}
