// The locks by which several runs that share a cache do not do the same step at the same time, and nobody removes what a
// run uses.

import Glibc
import RunFiles

/// The steps that one run has locked. Each locks a byte of one file, which the kernel frees when oprun has ended, and all of
/// its own processes that have the file.
///
/// The kernel goes through all locks of a file whenever one is taken or given back, and whenever a command that is started
/// closes the file. So a run locks only steps that run, or whose outputs it restores.
struct StepLocks {
  /// -1 if it is not open, -2 if it cannot be opened.
  private var file: Int32 = -1
  /// Whether the cache is marked as in use.
  private var isShared = false

  /// The byte of the cache as a whole; those of steps are below it.
  private static let whole = 1 << 62

  /// Marks the cache as in use; false while another process has it alone. Without a file to lock, nobody removes anything.
  mutating func share(in folder: Int32) -> Bool {
    if isShared || !open(in: folder) { return true }
    isShared = ByteLock.take(Self.whole, of: file, isShared: true) != .heldByOther
    return isShared
  }

  /// Takes the cache alone; false if another process uses it, or if that cannot be known.
  mutating func takeAll(in folder: Int32) -> Bool {
    open(in: folder) && ByteLock.take(Self.whole, of: file) == .taken
  }

  /// False if another run has the lock. Without a file to lock, nobody has to wait.
  mutating func take(_ step: CacheDigest, in folder: Int32) -> Bool {
    !open(in: folder) || ByteLock.take(Self.byte(of: step), of: file) != .heldByOther
  }

  /// Opens the file, unless it is open; false if it cannot be opened.
  mutating func open(in folder: Int32) -> Bool {
    if file == -1 {
      file = openat(folder, "steps-lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if file < 0 { file = -2 }
    }
    return file >= 0
  }

  var descriptor: Int32 { file }

  /// Gives back a lock that was taken.
  func giveBack(_ step: CacheDigest) {
    if file >= 0 { ByteLock.giveBack(Self.byte(of: step), of: file) }
  }

  func close() { if file >= 0 { Glibc.close(file) } }

  private static func byte(of step: CacheDigest) -> Int { Int(step.words.0 >> 2) }
}
